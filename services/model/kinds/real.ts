import { anyCell } from './csv-cells.ts'
import { finite, mostlyNumberJson } from './json-values.ts'
import type { Checked, Kind } from './kind.ts'
import { parseRealKey } from './number-keys.ts'
import { faulty, typed, valid } from './typed.ts'

export const checkReal = (value: unknown): Checked => {
  if (typeof value === 'bigint') return valid(Number(value))
  return typeof value === 'number' ? valid(value) : faulty('type', 'must be a number')
}

export const real: Kind = {
  ...typed,
  name: 'real',
  isNumeric: true,
  check: checkReal,
  parseKey: parseRealKey,
  schema: () => ({ type: 'number', format: 'double' }),
  json: (value, context) => (context.isStrict ? finite(value) : mostlyNumberJson(value, context)),
  csv: (value, context) => (context.isStrict ? finite(value) : anyCell(value, context))
}
