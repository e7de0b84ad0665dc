import { foldName } from '../model/names.ts'
import type { Row } from '../model/sql-value.ts'
import type { Column } from '../model/table.ts'
import type { UniqueKey } from '../model/unique-key.ts'
import { type Dialect, tableGuard } from './dialect.ts'
import { columnRef, identifier } from './identifiers.ts'
import type { Statement } from './statement.ts'

/** An index of a stored table. */
export interface StoredIndex {
  readonly name: string
  readonly isUnique: boolean
  /** Whether the index has only the rows that meet a condition. */
  readonly isPartial: boolean
  /** Whether every column is sorted as it is by default: ascending, by its bytes. */
  readonly isPlain: boolean
  /** https://sqlite.org/pragma.html#pragma_index_list: `pk` for the index of the primary key. */
  readonly origin: string
  /** The names of its columns, in its order. null for an expression. */
  readonly columns: readonly (string | null)[]
  readonly collations: readonly string[]
}

/**
 * Returns SQL for the indexes of the stored table that `table` names, as JSON for `toIndexes`. `json((…))`: in SQLite 3.54,
 * a subquery with an ordered aggregate returns its JSON as text.
 */
export const indexesJson = (table: string) => `(
  SELECT json_group_array(json_object('name', i.name, 'unique', i."unique", 'partial', i.partial, 'origin', i.origin,
    'columns', json((
      SELECT json_group_array(json_array(c.name, c."desc" = 0 AND c.coll = 'BINARY', c.coll) ORDER BY c.seqno)
      FROM temp.pragma_index_xinfo(i.name) AS c WHERE c.key)))
    ORDER BY i.name)
  FROM temp.pragma_index_list(${table}) AS i)`

export const selectIndexes = (table: string): Statement => ({
  sql: `SELECT ${indexesJson('?')} AS stored_indexes`,
  params: [table]
})

interface IndexRow {
  readonly name: string
  readonly unique: number
  readonly partial: number
  readonly origin: string
  readonly columns: readonly (readonly [name: string | null, isPlain: number, collation: string])[]
}

/** The boundary where the JSON of `indexesJson` gets its type. */
export const toIndexes = (row: Row | undefined): readonly StoredIndex[] =>
  (JSON.parse(String(row?.stored_indexes)) as readonly IndexRow[]).map(
    ({ name, unique, partial, origin, columns }) => ({
      name,
      isUnique: unique === 1,
      isPartial: partial === 1,
      isPlain: columns.every(([, isPlain]) => isPlain === 1),
      origin,
      columns: columns.map(([column]) => column),
      collations: columns.map(([, , collation]) => collation)
    })
  )

/** Returns the key of a unique index without expressions. */
export const toUniqueKey = ({ columns, collations }: StoredIndex): UniqueKey => ({
  fields: collations.map((collation, position) => ({ name: String(columns[position]), collation }))
})

/** Whether SQLite made an index for the primary key. A key that is the rowid itself has none. */
export const hasKeyIndex = (indexes: readonly StoredIndex[]) => indexes.some(({ origin }) => origin === 'pk')

const namesIn = (columns: readonly (string | null | undefined)[]) =>
  new Set(columns.flatMap((name) => (name == null ? [] : [foldName(name)])))

/** Returns the columns with the facts that follow from the indexes of all rows, and from the key. */
export const withIndexFacts = (
  columns: readonly Column[],
  indexes: readonly Pick<StoredIndex, 'columns' | 'isUnique' | 'isPartial'>[],
  key: readonly string[]
): readonly Column[] => {
  const full = indexes.filter(({ isPartial }) => !isPartial)
  const uniques = [key, ...full.filter(({ isUnique }) => isUnique).map((index) => index.columns)]
  const indexed = namesIn([key[0], ...full.map((index) => index.columns[0])])
  const unique = namesIn(uniques.filter(({ length }) => length === 1).flat())
  return columns.map((column) => {
    const name = foldName(column.name)
    return { ...column, isIndexed: indexed.has(name), isUnique: unique.has(name) }
  })
}

/** A column name cannot be qualified here. SQLite reports one that does not exist, because it is compiled with DQS=0. */
export const createIndex = (
  name: string,
  table: string,
  { fields, isUnique }: { readonly fields: readonly string[]; readonly isUnique: boolean }
): Statement => ({
  sql: `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX ${identifier(name)} ON ${identifier(table)} (${fields.map(identifier).join(', ')})`,
  params: []
})

export const dropIndex = (name: string): Statement => ({ sql: `DROP INDEX IF EXISTS ${identifier(name)}`, params: [] })

/** Maximum number of characters, or of bytes of a BLOB, of a value in a message. */
const MAX_SHOWN = 100

/**
 * Selects one group of rows that have the same values in the columns: their number as `count`, and the values as SQL
 * literals of text, `v0`, `v1`, … A unique index allows several nulls.
 */
export const findDuplicates = (
  table: string,
  fields: readonly string[],
  rowid: string | null,
  dialect: Dialect
): Statement => {
  const columns = fields.map((name) => columnRef(table, name))
  const values = columns.map((column, index) => `quote(substr(${column}, 1, ${MAX_SHOWN})) AS v${index}`)
  const conditions = [tableGuard(table, rowid, dialect), ...columns.map((column) => `${column} IS NOT NULL`)]
  return {
    sql: `SELECT count(*) AS count, ${values.join(', ')} FROM ${identifier(table)} WHERE ${conditions.join(' AND ')}
      GROUP BY ${columns.join(', ')} HAVING count(*) > 1 LIMIT 1`,
    params: []
  }
}
