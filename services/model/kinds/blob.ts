import { parseBase64 } from '../literals.ts'
import { anyCell } from './csv-cells.ts'
import { anyJson } from './json-values.ts'
import type { Kind } from './kind.ts'
import { typed, valid, violation } from './typed.ts'

const checkBytes = (text: string) => {
  const bytes = parseBase64(text)
  return bytes ? valid(bytes) : violation('format', 'must be base64 text')
}

/** Bytes, which JSON and CSV show as base64. */
export const blob: Kind = {
  ...typed,
  name: 'blob',
  check: (value) => (typeof value === 'string' ? checkBytes(value) : violation('format', 'must be base64 text')),
  parseCell: ({ text }) => checkBytes(text),
  parseKey: (text) => {
    const bytes = parseBase64(text)
    return bytes && [bytes]
  },
  schema: () => ({ type: 'string', contentEncoding: 'base64' }),
  json: anyJson,
  csv: anyCell
}
