import type { Row } from '../model/sql-value.ts'
import type { Structure } from '../model/table.ts'
import type { UniqueKey } from '../model/unique-key.ts'
import type { Statement } from './statement.ts'
import { type ComputedUniqueIndex, uniqueIndexOf } from './unique-indexes.ts'
import { isUniqueKey, parseUniqueIndexes, rowidKeys, UNIQUE_INDEXES } from './unique-keys.ts'

/** What an import needs of the declarations of a table. */
export interface ImportTarget {
  /** The declaration of the table, then those of its unique indexes. */
  readonly declarations: readonly string[]
  /** The unique indexes of all records on columns alone. */
  readonly uniqueKeys: readonly UniqueKey[]
  /** The other unique indexes. */
  readonly uniqueIndexes: readonly ComputedUniqueIndex[]
}

export const selectImportTarget = (table: string): Statement => ({
  sql: `SELECT
    (SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE) AS declaration,
    ${UNIQUE_INDEXES} AS unique_indexes`,
  params: [table, table]
})

/** Returns null if the table does not exist. */
export const toImportTarget = (row: Row | undefined, structure: Structure): ImportTarget | null => {
  if (!row || row.declaration === null) return null
  const indexes = parseUniqueIndexes(row.unique_indexes)
  const others = indexes.filter((index) => !isUniqueKey(index))
  return {
    declarations: [String(row.declaration), ...indexes.flatMap(({ sql }) => sql ?? [])],
    uniqueKeys: [...rowidKeys(structure), ...indexes.filter(isUniqueKey)],
    uniqueIndexes: others.map(({ name, sql }) => uniqueIndexOf(name, String(sql)))
  }
}

/** Expects that the registered table still has this name and this declaration. */
export const expectTable = (id: number, name: string, declaration: string): Statement => ({
  sql: `SELECT 1 FROM _rowhouse_tables AS registered
    JOIN main.sqlite_schema AS stored ON stored.type = 'table' AND stored.name = registered.name COLLATE NOCASE
    WHERE registered.id = ? AND registered.name = ? AND stored.sql = ?`,
  params: [BigInt(id), name, declaration],
  expect: 1
})
