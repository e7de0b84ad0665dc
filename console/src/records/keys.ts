import type { Table } from '../tables/queries.ts'

export type Row = Readonly<Record<string, unknown>>

type Keyed = Pick<Table, 'fields' | 'primaryKey'>

/** Returns the names of the key fields, in the order of the key. Names with commas are in the order of the columns. */
export const keyFields = ({ fields, primaryKey }: Keyed): readonly string[] => {
  const primary = fields.filter(({ isPrimary }) => isPrimary).map(({ name }) => name)
  const listed = primaryKey.split(',')
  return listed.length === primary.length && listed.every((name) => primary.includes(name)) ? listed : primary
}

/** Returns the key of a record as the service takes it: in a path (encoded once more), in a batch, and in `?record=`. */
export const keyOf = (table: Keyed, row: Row): string => {
  const values = keyFields(table).map((name) => String(row[name]))
  return values.length === 1 ? String(values[0]) : values.map(encodeURIComponent).join(',')
}

/** Whether nobody can change the records here: a view, or a table whose records have no key. */
export const isReadOnly = ({ kind, primaryKey }: Pick<Table, 'kind' | 'primaryKey'>) =>
  kind === 'view' || primaryKey === ''
