import type { IntegerFormat } from '../../../schemas/token.ts'
import { parseInteger } from '../literals.ts'
import { anyCell } from './csv-cells.ts'
import { anyJson, integerJson, mostlyNumberJson } from './json-values.ts'
import type { Checked, JsonContext, Kind, KindSchema } from './kind.ts'
import { parseNumericKey } from './number-keys.ts'
import { typed, valid, violation } from './typed.ts'

const AS_NUMBER = ', without quotes. Only beyond ±(2^53−1), send an integer as decimal text, such as "9007199254740993"'
const AS_TEXT = ', such as "42"'

const isWide = (value: unknown) =>
  typeof value === 'string' && /^-?[1-9]\d{18,}$/.test(value) && parseInteger(value) === undefined

const refuse = (value: unknown, what: string, integers: IntegerFormat): Checked => {
  if (isWide(value)) return violation('range', `must be ${what} of at most 64 bits`)
  const form = integers === 'string' ? AS_TEXT : AS_NUMBER
  return violation(typeof value === 'number' && Number.isInteger(value) ? 'range' : 'type', `must be ${what}${form}`)
}

/**
 * Accepts a JSON number if it is exact, and decimal text of 64 bits if a JSON number would be rounded. A token with the
 * integer format `string` may send any integer as text. `what`: names the values in the message.
 */
export const checkInteger = (value: unknown, integers: IntegerFormat, what = 'an integer'): Checked => {
  if (typeof value === 'bigint') return valid(value)
  if (typeof value === 'number' && Number.isSafeInteger(value)) return valid(BigInt(value))
  const integer = typeof value === 'string' ? parseInteger(value) : undefined
  const isText = integer !== undefined && (integers === 'string' || !Number.isSafeInteger(Number(integer)))
  return isText ? valid(integer) : refuse(value, what, integers)
}

export const integerSchema = (integers: IntegerFormat): KindSchema =>
  integers === 'string' ? { type: 'string', pattern: '^(0|-?[1-9][0-9]{0,18})$' } : { type: 'integer', format: 'int64' }

const integerNumber = (value: string, context: JsonContext) =>
  context.isStrict ? integerJson(value, context) : mostlyNumberJson(value, context)

const integerText = (value: string, context: JsonContext) =>
  context.isStrict
    ? `CAST(${value} AS TEXT)`
    : `CASE WHEN typeof(${value}) = 'integer' THEN CAST(${value} AS TEXT) ELSE ${anyJson(value, context)} END`

export const integer: Kind = {
  ...typed,
  name: 'integer',
  isNumeric: true,
  check: (value, _column, integers) => checkInteger(value, integers),
  parseCell: ({ text }) => {
    const value = parseInteger(text)
    return value === undefined ? violation('type', 'must be an integer of 64 bits, such as 42') : valid(value)
  },
  parseKey: parseNumericKey,
  schema: (_column, integers) => integerSchema(integers),
  json: (value, context) => (context.integers === 'string' ? integerText : integerNumber)(value, context),
  csv: (value, context) => (context.isStrict ? value : anyCell(value, context))
}
