import { excerpt, pointer } from '../errors.ts'
import { hasMoreParts, MAX_PARTS, tooManyParts } from '../json-parts.ts'
import { anyCell, textCell } from './csv-cells.ts'
import { anyJson } from './json-values.ts'
import type { Kind } from './kind.ts'
import { typed, valid, violation } from './typed.ts'

/** Returns the JSON Pointer of an integer that JSON.parse has rounded, or may have; undefined if there is none. */
const findRounded = (value: unknown): string | undefined => {
  if (typeof value === 'bigint') return ''
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? '' : undefined
  if (typeof value !== 'object' || value === null) return undefined
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  for (let index = 0; index < members.length; index += 1) {
    const subPath = findRounded(members[index])
    if (subPath !== undefined) return pointer(excerpt(String(Object.keys(value)[index]))) + subPath
  }
  return undefined
}

const ROUNDED = 'is beyond the integers that a JSON number holds exactly, ±(2^53−1); send it as a string'

const parseOrUndefined = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Objects or arrays, stored as JSON text. */
export const json: Kind = {
  ...typed,
  name: 'json',
  check: (value, { jsonType }) => {
    const matches = typeof value === 'object' && value !== null && Array.isArray(value) === (jsonType === 'array')
    if (!matches) return violation('type', `must be an ${jsonType}`)
    const subPath = findRounded(value)
    return subPath === undefined
      ? valid(JSON.stringify(value))
      : { violation: { code: 'range', message: ROUNDED, subPath } }
  },
  /** Keeps the text: an export has it unchanged. */
  parseCell: ({ text }, { jsonType }) => {
    if (hasMoreParts(Buffer.from(text), MAX_PARTS)) return { violation: tooManyParts(MAX_PARTS) }
    const value = parseOrUndefined(text)
    const matches = typeof value === 'object' && value !== null && Array.isArray(value) === (jsonType === 'array')
    return matches ? valid(text) : violation('type', `must be JSON text of an ${jsonType}`)
  },
  parseKey: (text) => [text],
  schema: ({ jsonType }) =>
    jsonType === 'array' ? { type: 'array', items: {} } : { type: 'object', additionalProperties: true },
  json: (value, context) =>
    `CASE WHEN typeof(${value}) = 'text' AND json_valid(${value}) THEN json(${value}) ELSE ${anyJson(value, context)} END`,
  csv: (value, context) => (context.isStrict ? textCell(value, context) : anyCell(value, context))
}
