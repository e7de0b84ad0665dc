import { anyCell } from './csv-cells.ts'
import { mostlyNumberJson } from './json-values.ts'
import type { Kind } from './kind.ts'
import { parseNumericKey } from './number-keys.ts'
import { keyText, typed, valid, violation } from './typed.ts'

const parseBoolean = (text: string) => {
  if (text === 'true') return valid(1n)
  return text === 'false' ? valid(0n) : violation('type', 'must be true or false')
}

/** 0 and 1, which JSON and CSV show as `false` and `true`. Any other stored value is shown as it is. */
export const boolean: Kind = {
  ...typed,
  name: 'boolean',
  check: (value) => (typeof value === 'boolean' ? valid(value ? 1n : 0n) : violation('type', 'must be true or false')),
  parseCell: ({ text }) => parseBoolean(text),
  parseKey: (text) => {
    if (text === 'true') return [1n]
    if (text === 'false') return [0n]
    return text === '0' || text === '1' ? undefined : parseNumericKey(text)
  },
  keyText: (value) => (value === 0n || value === 1n ? String(value === 1n) : keyText(value)),
  schema: () => ({ type: 'boolean' }),
  json: (value, context) =>
    `CASE ${value} WHEN 0 THEN json('false') WHEN 1 THEN json('true') ELSE ${mostlyNumberJson(value, context)} END`,
  csv: (value, context) => `CASE ${value} WHEN 0 THEN 'false' WHEN 1 THEN 'true' ELSE ${anyCell(value, context)} END`
}
