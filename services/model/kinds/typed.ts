import type { SqlValue } from '../sql-value.ts'
import type { Checked } from './kind.ts'

export const valid = (value: SqlValue): Checked => ({ value })
export const violation = (code: string, message: string): Checked => ({ violation: { code, message } })

/** The text of a key as JSON shows it, without quotes. */
export const keyText = (value: SqlValue) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : String(value)

/** What most kinds have in common: an affinity decides the type of each stored value. */
export const typed = {
  isTextual: false,
  isNumeric: false,
  isUntyped: false,
  keyText,
  sameInJson: (value: SqlValue): readonly SqlValue[] => [value]
}
