import type { Table } from '../../tables/queries.ts'
import type { Row } from '../keys.ts'

/** Returns the field whose values name the records of a table for people. */
export const labelFieldOf = ({ fields, labelField }: Table) => fields.find(({ name }) => name === labelField)

/** Returns the label of a record; undefined if it has none. */
export const labelOf = (table: Table, record: Row): string | undefined => {
  const value = record[labelFieldOf(table)?.name ?? '']
  return value === undefined || value === null || value === '' ? undefined : String(value)
}
