import { hasWideInteger } from '../api/exact-json.ts'
import { keyFields, type Table } from '../tables/queries.ts'
import { kindOf } from './fields/kind.ts'

export type Row = Readonly<Record<string, unknown>>

/** Returns the JSON field with an integer that the service does not take: the record cannot be created again. */
export const wideField = ({ fields }: Pick<Table, 'fields'>, row: Row) =>
  fields.find((field) => kindOf(field) === 'json' && hasWideInteger(row[field.name]))

type Keyed = Pick<Table, 'fields' | 'primaryKey'>

/** Returns the key of a record as the service takes it: in a path (encoded once more), in a batch, and in `?record=`. */
export const keyOf = (table: Keyed, row: Row): string => {
  const values = keyFields(table).map((name) => String(row[name]))
  return values.length === 1 ? String(values[0]) : values.map(encodeURIComponent).join(',')
}
