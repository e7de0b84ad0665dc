import type { SearchIndex } from '../../../schemas/table.ts'
import type { Row } from '../../model/sql-value.ts'
import type { BuildProgress, RegisteredTable, TableSearchIndex } from '../../model/table.ts'
import { declarationsOf, indexedTable } from '../../sql/search-index.ts'

export const NO_SEARCH_INDEX: SearchIndex = { state: 'off', indexed: 0, total: 0 }

/** The boundary where the JSON of a progress gets its type. Only this service writes it. */
const toProgress = (row: Row) => JSON.parse(String(row.search_progress)) as BuildProgress

/** Returns the declarations that an index of the table needs; none if the table cannot have one. */
export const neededDeclarations = ({ id, name, structure }: Pick<RegisteredTable, 'id' | 'name' | 'structure'>) => {
  const table = indexedTable(id, name, structure)
  return table ? declarationsOf(table) : []
}

/**
 * Returns the state of the search index of a table. `row`: a row of the registry with `searchIndexFacts`. If a declaration
 * is missing or differs, another program has dropped a trigger, or the table has other fields than the index.
 */
export const searchIndexOf = (
  row: Row,
  table: Pick<RegisteredTable, 'id' | 'name' | 'structure' | 'isOutdated'>
): TableSearchIndex => {
  if (row.search_progress === null) return { ...NO_SEARCH_INDEX, progress: null, declarations: [] }
  const progress = toProgress(row)
  const { indexed, total, isComplete } = progress
  const declarations = neededDeclarations(table)
  const stored = new Set(JSON.parse(String(row.search_declarations)) as readonly string[])
  const isWhole = !table.isOutdated && declarations.length > 0 && declarations.every((sql) => stored.has(sql))
  const built = isComplete ? 'ready' : 'building'
  return { state: isWhole ? built : 'outdated', indexed, total, progress, declarations }
}
