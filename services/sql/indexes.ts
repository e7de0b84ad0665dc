import { foldName } from '../model/names.ts'
import type { Row } from '../model/sql-value.ts'
import type { Column } from '../model/table.ts'

/** An index of a stored table. */
export interface StoredIndex {
  readonly name: string
  readonly isUnique: boolean
  /** Whether the index has only the rows that meet a condition. */
  readonly isPartial: boolean
  /** https://sqlite.org/pragma.html#pragma_index_list: `pk` for the index of the primary key. */
  readonly origin: string
  /** The names of its columns, in its order. null for an expression. */
  readonly columns: readonly (string | null)[]
}

/** Returns SQL for the indexes of the stored table that `table` names, as JSON for `toIndexes`. */
export const indexesJson = (table: string) => `(
  SELECT json_group_array(json_object('name', i.name, 'unique', i."unique", 'partial', i.partial, 'origin', i.origin,
    'columns', (SELECT json_group_array(c.name ORDER BY c.seqno) FROM temp.pragma_index_info(i.name) AS c))
    ORDER BY i.seq)
  FROM temp.pragma_index_list(${table}) AS i)`

type IndexRow = Pick<StoredIndex, 'name' | 'origin' | 'columns'> & { readonly unique: number; readonly partial: number }

/** The boundary where the JSON of `indexesJson` gets its type. */
export const toIndexes = ({ stored_indexes }: Row): readonly StoredIndex[] =>
  (JSON.parse(String(stored_indexes)) as readonly IndexRow[]).map(({ unique, partial, ...index }) => ({
    ...index,
    isUnique: unique === 1,
    isPartial: partial === 1
  }))

/** Whether SQLite made an index for the primary key. A key that is the rowid itself has none. */
export const hasKeyIndex = (indexes: readonly StoredIndex[]) => indexes.some(({ origin }) => origin === 'pk')

const namesIn = (columns: readonly (string | null | undefined)[]) =>
  new Set(columns.flatMap((name) => (name == null ? [] : [foldName(name)])))

/** Returns the columns with the facts that follow from the indexes of all rows, and from the key. */
export const withIndexFacts = (
  columns: readonly Column[],
  indexes: readonly StoredIndex[],
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
