import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import { DomainError, hasCode } from '../../model/errors.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { columnRef } from '../../sql/identifiers.ts'
import { countCandidates, isCandidate } from '../../sql/search-index.ts'
import type { RowSelection } from '../../sql/selections.ts'
import type { Totals } from './totals.ts'

/** With more candidates than this share of the rows, a scan is faster than reading them by their keys. */
const MAX_SHARE = 1 / 8
/** Reading this many rows by their keys takes some milliseconds. */
const MIN_CANDIDATES = 1000

/**
 * Whether a missing or damaged index may have caused the error: it was switched off, or another program has damaged it. If
 * the error has another cause, the scan fails, too.
 */
const mayBeIndexError = (error: unknown) => !(error instanceof DomainError) || hasCode(error, 'STRUCTURE_CHANGED')

/** A table with a search index has a rowid. */
const candidatesOf = ({ id, name, structure }: RegisteredTable, match: string) => ({
  where: isCandidate(id, columnRef(name, String(structure.rowid))),
  params: [match]
})

/**
 * Creates the function that runs a read with the search index of its table, if the index finds few enough rows. The index
 * finds candidates; the filter decides. The result is that of a scan.
 */
export const createSearch = (db: Database, totals: Totals) => {
  /** Whether the index can be used, and finds few candidates. */
  const isWorthwhile = async (caller: Caller, { table }: RowSelection, match: string) => {
    const { declarations, total } = table.searchIndex
    const rows = totals.cached(table) ?? total
    const max = Math.max(MIN_CANDIDATES, Math.floor(rows * MAX_SHARE))
    try {
      const [row] = await db.scan(countCandidates(table.id, match, max + 1, declarations), caller)
      // Another program may have dropped a trigger since the registry was loaded.
      return Number(row?.rows) <= max && Number(row?.declared) === declarations.length
    } catch (error) {
      if (mayBeIndexError(error)) return false
      throw error
    }
  }

  /** `read` may run twice: the index may be switched off before it runs. */
  return async <S extends RowSelection, R>(
    caller: Caller,
    selection: S,
    read: (selection: S) => Promise<R>
  ): Promise<R> => {
    const match = selection.filter?.match ?? null
    const { searchIndex } = selection.table
    if (match === null || searchIndex.state !== 'ready' || !(await isWorthwhile(caller, selection, match)))
      return read(selection)
    try {
      return await read({ ...selection, candidates: candidatesOf(selection.table, match) })
    } catch (error) {
      if (mayBeIndexError(error)) return read(selection)
      throw error
    }
  }
}

export type Search = ReturnType<typeof createSearch>
