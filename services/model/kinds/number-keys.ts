import { looksNumeric, parseInteger } from '../literals.ts'
import type { SqlValue } from '../sql-value.ts'

/** The shortest literal of a double, which beyond 2^53 differs from the literal of the same integer. */
const realOf = (text: string): SqlValue | undefined => {
  const number = Number(text)
  if (Number.isFinite(number) && String(number) === text) return number
  return looksNumeric(text) ? undefined : text
}

const listed = (value: SqlValue | undefined) => (value === undefined ? undefined : [value])

export const parseRealKey = (text: string): readonly SqlValue[] | undefined => listed(realOf(text))

/**
 * Accepts only the literal that JSON shows: numeric affinity would match 1 for '01' and '1.0'. Text that numeric
 * affinity leaves as text is a key, too.
 */
export const parseNumericKey = (text: string): readonly SqlValue[] | undefined =>
  listed(parseInteger(text) ?? realOf(text))
