import type { Row } from '../model/sql-value.ts'
import type { RegisteredTable, Structure } from '../model/table.ts'
import type { UniqueKey } from '../model/unique-key.ts'
import { columnRef, identifier } from './identifiers.ts'
import type { Statement } from './statement.ts'

export const namesOfKey = ({ fields }: UniqueKey) => fields.map(({ name }) => name)

/** Returns the primary key if it is the rowid, which has no index. */
export const rowidKeys = ({ isRowidKey, key }: Pick<Structure, 'isRowidKey' | 'key'>): readonly UniqueKey[] =>
  isRowidKey ? [{ fields: key.map((name) => ({ name, collation: 'BINARY' })) }] : []

/** Returns a condition for the record with these values, in the collations of the index. NULL equals nothing. */
export const hasKey = (table: string, { fields }: UniqueKey, toValue: (name: string) => string) =>
  fields
    .map(({ name, collation }) => `${columnRef(table, name)} = ${toValue(name)} COLLATE ${identifier(collation)}`)
    .join(' AND ')

/** An SQL expression: the unique indexes of a table as JSON, by name. `json((…))`: see `indexesJson`. Binds the name of the table. */
export const UNIQUE_INDEXES = `(SELECT json_group_array(json_object('name', i.name, 'sql', s.sql, 'partial', i.partial, 'fields', json((
    SELECT json_group_array(json_object('name', c.name, 'collation', c.coll) ORDER BY c.seqno)
    FROM temp.pragma_index_xinfo(i.name) AS c WHERE c.key))) ORDER BY i.name)
  FROM temp.pragma_index_list(?) AS i
  LEFT JOIN main.sqlite_schema AS s ON s.type = 'index' AND s.name = i.name
  WHERE i."unique")`

interface StoredIndex {
  readonly name: string
  /** null for the index of a constraint. */
  readonly sql: string | null
  readonly partial: number
  /** `name` is null for an expression. */
  readonly fields: readonly { readonly name: string | null; readonly collation: string }[]
}

/** The boundary where the JSON of `UNIQUE_INDEXES` gets its type. */
export const parseUniqueIndexes = (json: unknown) => JSON.parse(String(json)) as readonly StoredIndex[]

/** Whether the values of an index identify each record: it has all records, and no expressions. */
export const isUniqueKey = (index: StoredIndex): index is StoredIndex & UniqueKey =>
  index.partial === 0 && index.fields.every(({ name }) => name !== null)

export const selectUniqueIndexes = (table: string): Statement => ({
  sql: `SELECT ${UNIQUE_INDEXES} AS unique_indexes`,
  params: [table]
})

/**
 * Returns the keys that an upsert can name. A key that is the rowid has no index, and SQLite finds no index for a conflict
 * that names the rowid and other fields.
 */
export const toUniqueKeys = ({ structure }: RegisteredTable, row: Row | undefined): readonly UniqueKey[] => {
  const { isRowidKey, key } = structure
  const isTarget = ({ fields }: UniqueKey) => !isRowidKey || !fields.some(({ name }) => key.includes(name))
  return [...rowidKeys(structure), ...parseUniqueIndexes(row?.unique_indexes).filter(isUniqueKey).filter(isTarget)]
}
