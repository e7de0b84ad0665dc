import { parseInteger } from '../literals.ts'
import { anyCell } from './csv-cells.ts'
import { exactInteger, mostlyNumberJson } from './json-values.ts'
import type { Checked, Kind } from './kind.ts'
import { parseNumericKey } from './number-keys.ts'
import { faulty, typed, valid } from './typed.ts'

const WIDE_INTEGER =
  'must be an integer, without quotes. Only beyond ±(2^53−1), send it as decimal text, such as "9007199254740993"'

/** Accepts a JSON number if it is exact, and decimal text of 64 bits if a JSON number would be rounded. */
export const checkInteger = (value: unknown): Checked => {
  if (typeof value === 'number' && Number.isInteger(value)) {
    return Number.isSafeInteger(value) ? valid(BigInt(value)) : faulty('range', WIDE_INTEGER)
  }
  if (typeof value !== 'string') return faulty('type', WIDE_INTEGER)
  const integer = parseInteger(value)
  const isWide = integer !== undefined && !Number.isSafeInteger(Number(integer))
  return isWide ? valid(integer) : faulty('type', WIDE_INTEGER)
}

export const integer: Kind = {
  ...typed,
  name: 'integer',
  isNumeric: true,
  check: checkInteger,
  parseKey: parseNumericKey,
  json: (value, context) => (context.isStrict ? exactInteger(value) : mostlyNumberJson(value, context)),
  csv: (value, context) => (context.isStrict ? value : anyCell(value, context))
}
