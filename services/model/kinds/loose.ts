import { parseNumber } from '../literals.ts'
import { anyCell } from './csv-cells.ts'
import { anyJson } from './json-values.ts'
import type { Checked, Kind } from './kind.ts'
import { parseNumericKey } from './number-keys.ts'
import { checkNumberCell } from './real.ts'
import { typed, valid, violation } from './typed.ts'

/** Accepts text, or a number: an integer is stored as an integer. */
export const checkLoose = (value: unknown): Checked => {
  if (typeof value === 'string' || typeof value === 'bigint') return valid(value)
  if (typeof value !== 'number') return violation('type', 'must be a string or a number')
  return valid(Number.isSafeInteger(value) ? BigInt(value) : value)
}

/** Text and numbers under numeric affinity, such as dates. */
export const loose: Kind = {
  ...typed,
  name: 'loose',
  isTextual: true,
  check: checkLoose,
  parseCell: ({ text, isQuoted }) => {
    const number = isQuoted ? undefined : parseNumber(text)
    return number === undefined ? valid(text) : checkNumberCell(number)
  },
  parseKey: parseNumericKey,
  schema: () => ({}),
  json: anyJson,
  csv: anyCell
}
