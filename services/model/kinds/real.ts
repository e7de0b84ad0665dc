import { parseReal } from '../literals.ts'
import { anyCell } from './csv-cells.ts'
import { finite, mostlyNumberJson } from './json-values.ts'
import type { Checked, Kind } from './kind.ts'
import { parseRealKey } from './number-keys.ts'
import { typed, valid, violation } from './typed.ts'

export const checkReal = (value: unknown): Checked => {
  if (typeof value === 'bigint') return valid(Number(value))
  return typeof value === 'number' ? valid(value) : violation('type', 'must be a number')
}

/** `value`: undefined for a cell that is not a number. */
export const checkNumberCell = (value: bigint | number | undefined): Checked => {
  if (value === undefined) return violation('type', 'must be a number, such as 12.5')
  return value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY
    ? violation('range', 'is outside the range of a 64-bit floating-point number')
    : valid(value)
}

export const real: Kind = {
  ...typed,
  name: 'real',
  isNumeric: true,
  check: checkReal,
  parseCell: ({ text }) => checkNumberCell(parseReal(text)),
  parseKey: parseRealKey,
  schema: () => ({ type: 'number', format: 'double' }),
  json: (value, context) => (context.isStrict ? finite(value) : mostlyNumberJson(value, context)),
  csv: (value, context) => (context.isStrict ? finite(value) : anyCell(value, context))
}
