import type { Database, WriteResult } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { countRows, countUpTo } from '../../sql/selections.ts'
import type { Param, Unit } from '../../sql/statement.ts'

interface Entry {
  /** undefined: not counted yet. */
  total: number | undefined
  writesInFlight: number
  /** Grows with every write that may change the number of rows. */
  version: number
}

/** A part of a unit. */
interface CountedWrite {
  /** null: a table of this service. */
  readonly table: RegisteredTable | null
  readonly unit: Unit<Param>
  /** Returns by how much the number of rows has changed. null: it never changes. */
  readonly countChange: ((results: readonly WriteResult[]) => number) | null
}

/** Returns the results of each part of a unit, from those of the whole unit. */
const splitResults = (parts: readonly CountedWrite[], results: readonly WriteResult[]) => {
  if (parts.length === 1) return [results]
  let end = 0
  return parts.map(({ unit }) => {
    end += unit.length
    return results.slice(end - unit.length, end)
  })
}

/** Rows that may be counted on the event loop. */
const SMALL_TABLE = 1000

interface TotalsOptions {
  readonly db: Database
  /** Whether only our own inserts and deletes can change the number of rows of the table. */
  readonly isCountable: (table: RegisteredTable) => boolean
}

/**
 * Caches the number of rows of each table: it halves the cost of a list. Our own writes add their changes
 * to it. A count that ran concurrently with a write may or may not include it, so it is returned but not cached.
 */
export const createTotals = ({ db, isCountable }: TotalsOptions) => {
  const entries = new Map<number, Entry>()

  /** By the id of the table, which a rename keeps, and which no later table gets. */
  const entryOf = ({ id }: RegisteredTable): Entry => {
    const cached = entries.get(id)
    if (cached) return cached
    const entry = { total: undefined, writesInFlight: 0, version: 0 }
    entries.set(id, entry)
    return entry
  }

  /** Small tables are counted on the event loop: their lists do not wait for scans of large tables. */
  const countNow = async (caller: Caller, table: RegisteredTable) => {
    const [few] = await db.read(countUpTo(table, SMALL_TABLE + 1))
    if (Number(few?.total) <= SMALL_TABLE) return Number(few?.total)
    const [row] = await db.scan(countRows({ table, dialect: db.dialect, rows: null, filter: null, joins: [] }), caller)
    return Number(row?.total)
  }

  const count = async (caller: Caller, table: RegisteredTable, entry: Entry) => {
    const { version, writesInFlight } = entry
    const total = await countNow(caller, table)
    const isExact = writesInFlight === 0 && entry.writesInFlight === 0 && entry.version === version
    if (isExact && isCountable(table)) entry.total = total
    return total
  }

  /** Returns the number of rows if it has been counted; otherwise null. */
  const cached = (table: RegisteredTable): number | null =>
    (isCountable(table) ? entryOf(table).total : undefined) ?? null

  const get = async (caller: Caller, table: RegisteredTable): Promise<number> => {
    const entry = entryOf(table)
    return cached(table) ?? count(caller, table, entry)
  }

  const begin = ({ table, countChange }: CountedWrite) => {
    if (table && countChange) entryOf(table).writesInFlight += 1
  }

  /** `results`: undefined if the unit failed. */
  const end = ({ table, countChange }: CountedWrite, results: readonly WriteResult[] | undefined) => {
    if (!table || !countChange) return
    const entry = entryOf(table)
    entry.writesInFlight -= 1
    entry.version += 1
    if (results && entry.total !== undefined) entry.total += countChange(results)
  }

  /**
   * Adds the changes of the parts to the totals when the unit is committed, and counts them as in flight until then.
   * Returns the results of each part.
   */
  const track = async (parts: readonly CountedWrite[], committed: Promise<readonly WriteResult[]>) => {
    let results: readonly (readonly WriteResult[])[] = []
    for (const part of parts) begin(part)
    try {
      results = splitResults(parts, await committed)
      return results
    } finally {
      for (const [index, part] of parts.entries()) end(part, results[index])
    }
  }

  /** Another program has committed: every table is counted again. */
  const clear = () => {
    for (const entry of entries.values()) {
      entry.total = undefined
      entry.version += 1
    }
  }

  return { get, cached, track, clear }
}

export type Totals = ReturnType<typeof createTotals>
