import { parseInteger, parseNumber } from '../literals.ts'
import { anyCell } from './csv-cells.ts'
import { checkInteger } from './integer.ts'
import { mostlyNumberJson } from './json-values.ts'
import type { Kind } from './kind.ts'
import { parseNumericKey } from './number-keys.ts'
import { checkNumberCell, checkReal } from './real.ts'
import { typed } from './typed.ts'

/** Numbers of any type. Numeric affinity keeps integers of 64 bits exact; beyond 2^53 JSON has them as text. */
export const numeric: Kind = {
  ...typed,
  name: 'numeric',
  isNumeric: true,
  check: (value, _column, integers) => {
    const isInteger = typeof value === 'bigint' || (typeof value === 'string' && parseInteger(value) !== undefined)
    return isInteger ? checkInteger(value, integers, 'a number') : checkReal(value)
  },
  parseCell: ({ text }) => checkNumberCell(parseNumber(text)),
  parseKey: parseNumericKey,
  schema: () => ({ type: 'number', format: 'double' }),
  json: mostlyNumberJson,
  csv: anyCell
}
