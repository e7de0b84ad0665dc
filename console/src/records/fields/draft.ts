import { parseExact } from '../../api/exact-json.ts'
import type { TableField } from '../../tables/queries.ts'
import { texts } from '../../texts/fields.ts'
import { isBase64 } from './bytes.ts'
import { kindOf } from './kind.ts'

/**
 * What an editor holds: the text as it was typed, `null` for NULL, and `undefined` for a field that is left out, so
 * that it gets its default or keeps its value.
 */
export type Draft = string | null | undefined

export type Parsed = { readonly value: unknown } | { readonly error: string }

const MIN_INTEGER = -(2n ** 63n)
const MAX_INTEGER = 2n ** 63n - 1n

const errors = texts.errors

/** The service takes integers beyond 2^53 only as text, and others only as numbers. */
const exact = (integer: bigint) => {
  const number = Number(integer)
  return Number.isSafeInteger(number) ? number : String(integer)
}

const parseInteger = (text: string, isNullable: boolean): Parsed => {
  if (!/^[+-]?\d+$/.test(text)) return { error: isNullable ? errors.integerOrNull : errors.integer }
  const integer = BigInt(text.replace(/^\+/, ''))
  return integer < MIN_INTEGER || integer > MAX_INTEGER ? { error: errors.range } : { value: exact(integer) }
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

const parseNumber = (text: string, field: TableField): Parsed => {
  if (!NUMBER.test(text)) return { error: field.isNullable ? errors.numberOrNull : errors.number }
  // Numeric affinity keeps integers of 64 bits exact.
  if (field.sqliteType === 'NUMERIC' && /^-?\d+$/.test(text)) {
    const integer = BigInt(text)
    if (integer >= MIN_INTEGER && integer <= MAX_INTEGER) return { value: exact(integer) }
  }
  const number = Number(text)
  return Number.isFinite(number) ? { value: number } : { error: errors.numberRange }
}

const parseBoolean = (text: string): Parsed =>
  text === 'true' || text === 'false' ? { value: text === 'true' } : { error: errors.boolean }

const parseJson = (text: string, { jsonType }: TableField): Parsed => {
  try {
    const value = parseExact(text)
    const isObject = typeof value === 'object' && value !== null
    if (!isObject || Array.isArray(value) !== (jsonType === 'array')) {
      return { error: jsonType === 'array' ? errors.array : errors.object }
    }
    return { value }
  } catch (error) {
    return { error: errors.json(error instanceof Error ? error.message : String(error)) }
  }
}

/** Reads a number in a column without a type. An integer that a JSON number rounds could only be sent as text. */
export const parseUntypedNumber = (text: string): Parsed => {
  if (!NUMBER.test(text.trim())) return { error: errors.number }
  const number = Number(text)
  if (!Number.isFinite(number)) return { error: errors.numberRange }
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? { error: errors.wideNumber } : { value: number }
}

/** Returns the value to send for a draft, or its error. `isNumber`: a value of the kind `any` is sent as a number. */
export const parseDraft = (field: TableField, draft: Exclude<Draft, undefined>, isNumber = false): Parsed => {
  if (draft === null) return { value: null }
  switch (kindOf(field)) {
    case 'integer':
      return parseInteger(draft.trim(), field.isNullable)
    case 'number':
      return parseNumber(draft.trim(), field)
    case 'boolean':
      return parseBoolean(draft)
    case 'json':
      return parseJson(draft, field)
    case 'bytes':
      return isBase64(draft) ? { value: draft } : { error: errors.base64 }
    case 'any':
      return isNumber ? parseUntypedNumber(draft) : { value: draft }
    default:
      return { value: draft }
  }
}

/** Returns what an editor shows first for a stored value. A draft that still equals it has not been changed. */
export const toDraft = (value: unknown): Draft => {
  if (value === undefined || value === null) return value
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)
}
