import { anyCell, textCell } from './csv-cells.ts'
import { anyJson } from './json-values.ts'
import type { Kind } from './kind.ts'
import { typed, valid, violation } from './typed.ts'

export const text: Kind = {
  ...typed,
  name: 'text',
  isTextual: true,
  check: (value) => (typeof value === 'string' ? valid(value) : violation('type', 'must be a string')),
  parseCell: ({ text: value }) => valid(value),
  parseKey: (key) => [key],
  schema: () => ({ type: 'string' }),
  json: (value, context) => (context.isStrict ? value : anyJson(value, context)),
  csv: (value, context) => (context.isStrict ? textCell(value, context) : anyCell(value, context))
}
