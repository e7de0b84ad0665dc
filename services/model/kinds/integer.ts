import type { IntegerFormat } from '../../../schemas/token.ts'
import { parseInteger } from '../literals.ts'
import { anyCell } from './csv-cells.ts'
import { anyJson, integerJson } from './json-values.ts'
import type { Checked, JsonContext, Kind } from './kind.ts'
import { parseNumericKey } from './number-keys.ts'
import { faulty, typed, valid } from './typed.ts'

const WIDE_INTEGER =
  'must be an integer, without quotes. Only beyond ±(2^53−1), send it as decimal text, such as "9007199254740993"'

/**
 * Accepts a JSON number if it is exact, and decimal text of 64 bits if a JSON number would be rounded. A token with the
 * integer format `string` may send any integer as text.
 */
export const checkInteger = (value: unknown, integers: IntegerFormat): Checked => {
  if (typeof value === 'bigint') return valid(value)
  if (typeof value === 'number' && Number.isInteger(value)) {
    return Number.isSafeInteger(value) ? valid(BigInt(value)) : faulty('range', WIDE_INTEGER)
  }
  if (typeof value !== 'string') return faulty('type', WIDE_INTEGER)
  const integer = parseInteger(value)
  if (integer === undefined) return faulty('type', WIDE_INTEGER)
  const isText = integers === 'string' || !Number.isSafeInteger(Number(integer))
  return isText ? valid(integer) : faulty('type', WIDE_INTEGER)
}

const formatInteger = (value: string, context: JsonContext) =>
  context.integers === 'string' ? `CAST(${value} AS TEXT)` : integerJson(value, context)

export const integer: Kind = {
  ...typed,
  name: 'integer',
  isNumeric: true,
  check: (value, _column, integers) => checkInteger(value, integers),
  parseKey: parseNumericKey,
  json: (value, context) => {
    const formatted = formatInteger(value, context)
    return context.isStrict ? formatted : anyJson(value, context, formatted)
  },
  csv: (value, context) => (context.isStrict ? value : anyCell(value, context))
}
