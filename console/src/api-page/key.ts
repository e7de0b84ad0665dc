import { keyFields, type Table } from '../tables/queries.ts'
import { exampleOf } from './example-values.ts'

export type StoredRecord = Readonly<Record<string, unknown>>

/** Returns the key of a stored record, or an example if the table is empty. null: there is no key, as in some views. */
export const keyOf = (table: Pick<Table, 'fields' | 'primaryKey'>, record: StoredRecord | undefined) => {
  const fields = keyFields(table).flatMap((name) => table.fields.find((field) => field.name === name) ?? [])
  if (fields.length === 0) return null
  const parts = fields.map((field) => String(record?.[field.name] ?? exampleOf(field)))
  return {
    /** For the path: each part is encoded. */
    path: parts.map(encodeURIComponent).join(','),
    /** For the body of a request: a key of one field is the value itself. */
    body: parts.length === 1 ? (parts[0] as string) : parts.map(encodeURIComponent).join(',')
  }
}

export type Key = NonNullable<ReturnType<typeof keyOf>>
