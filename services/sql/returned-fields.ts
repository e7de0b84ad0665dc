import type { SqlValue } from '../model/sql-value.ts'
import { columnRef } from './identifiers.ts'

/** An expression that a statement returns, and the name of its column. */
export interface Returned {
  readonly sql: string
  readonly alias: string
}

/** Returns the name of the column with the value of a field that a unit returns beside the record. */
export const returnedField = (position: number) => `field_${position}`

/**
 * Returns the expressions for fields that a unit returns beside the record. Texts and integers are texts with a prefix,
 * which `exactValue` reads: SQLite's integers have more bits than numbers of JavaScript.
 */
export const returnedFields = (table: string, fields: readonly string[]): readonly Returned[] =>
  fields.map((field, position) => {
    const value = columnRef(table, field)
    const sql = `CASE typeof(${value}) WHEN 'integer' THEN 'i' || ${value} WHEN 'text' THEN 't' || ${value} ELSE ${value} END`
    return { sql, alias: returnedField(position) }
  })

/** Returns the stored value of a field that `returnedFields` has returned. */
export const exactValue = (returned: SqlValue): SqlValue => {
  if (typeof returned !== 'string') return returned
  const text = returned.slice(1)
  return returned.startsWith('i') ? BigInt(text) : text
}
