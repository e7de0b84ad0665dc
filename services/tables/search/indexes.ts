import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import { invalid } from '../../model/errors.ts'
import type { RegisteredTable, Structure } from '../../model/table.ts'
import {
  createSearchIndex,
  declarationsOf,
  dropSearchIndex,
  hasStableRowids,
  type IndexedTable,
  indexedTable
} from '../../sql/search-index.ts'
import type { Unit } from '../../sql/statement.ts'
import { tableOutdated } from '../failures.ts'
import { createRowEstimates } from '../registry/row-estimates.ts'

/** Returns why the table cannot have a search index. */
const reasonNotIndexable = ({ name, structure }: RegisteredTable) => {
  if (structure.isView) return { code: 'view', message: `'${name}' is a view, which cannot have a search index.` }
  if (hasStableRowids(structure)) return { code: 'fields', message: `The table '${name}' has no text field to index.` }
  return {
    code: 'key',
    message: `A search index needs an INTEGER PRIMARY KEY, in a column that is not named rowid, oid or _rowid_. The table '${name}' has none.`
  }
}

const notIndexable = (table: RegisteredTable) => invalid([{ path: '/searchIndex', ...reasonNotIndexable(table) }])

/** Creates the functions that return the statements for changes of search indexes. `createSearchBuilds` fills an index. */
export const createSearchIndexes = (db: Database) => {
  const estimateRows = createRowEstimates(db)

  const create = async (caller: Caller, { structure }: RegisteredTable, indexed: IndexedTable): Promise<Unit> => {
    const { id, name } = indexed
    const total = Number(await estimateRows(caller, { name, type: 'table', structure, reason: null }))
    const progress = { build: randomUUID(), after: null, indexed: 0, total, isComplete: false }
    return [...dropSearchIndex(id), ...createSearchIndex(indexed, progress)]
  }

  const switchOn = async (caller: Caller, table: RegisteredTable): Promise<Unit> => {
    const { id, name, structure, isOutdated, searchIndex } = table
    if (isOutdated) throw tableOutdated(name)
    const indexed = indexedTable(id, name, structure)
    if (!indexed) throw notIndexable(table)
    return searchIndex.state === 'ready' || searchIndex.state === 'building' ? [] : create(caller, table, indexed)
  }

  /**
   * Switches the index on or off; an outdated one is built again. `isOn`: undefined changes nothing.
   * @throws VALIDATION_FAILED for a table that cannot have one, STRUCTURE_CHANGED for an outdated table
   */
  const set = async (caller: Caller, table: RegisteredTable, isOn: boolean | undefined): Promise<Unit> => {
    if (isOn) return switchOn(caller, table)
    return isOn === undefined || table.searchIndex.state === 'off' ? [] : dropSearchIndex(table.id)
  }

  /** Rebuilds the index if its declarations differ from those for the new structure. Does nothing without an index. */
  const rebuild = async (caller: Caller, table: RegisteredTable, structure: Structure): Promise<Unit> => {
    const { id, name, searchIndex } = table
    const indexed = indexedTable(id, name, structure)
    if (searchIndex.state === 'off' || !indexed) return []
    const isCurrent =
      searchIndex.state !== 'outdated' && isDeepStrictEqual(declarationsOf(indexed), searchIndex.declarations)
    return isCurrent ? [] : create(caller, table, indexed)
  }

  /** Removes the index if the new structure cannot have one. Otherwise rebuilds it as `rebuild` does. */
  const rebuildOrDrop = async (caller: Caller, table: RegisteredTable, structure: Structure): Promise<Unit> => {
    const isOff = table.searchIndex.state === 'off'
    const isIndexable = indexedTable(table.id, table.name, structure) !== null
    return isOff || isIndexable ? rebuild(caller, table, structure) : dropSearchIndex(table.id)
  }

  return { set, rebuild, rebuildOrDrop }
}

export type SearchIndexes = ReturnType<typeof createSearchIndexes>
