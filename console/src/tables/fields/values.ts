import type { components } from '../../api/schema.d.ts'
import { texts } from '../../texts/table-fields.ts'

/** `bytes`: a BLOB, whose JSON is base64 text. */
export type FieldType = components['schemas']['JsonType'] | 'bytes'

export const FIELD_TYPES: readonly FieldType[] = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'bytes']

/** The texts of the two boolean values. */
export const BOOLEANS: readonly string[] = ['false', 'true']

type Parsed = { readonly value: unknown } | { readonly problem: string }

const parseInteger = (text: string): Parsed => {
  if (!/^[+-]?\d+$/.test(text)) return { problem: texts.notInteger }
  // The service takes a wider integer as decimal text.
  return { value: Number.isSafeInteger(Number(text)) ? Number(text) : text }
}

const parseNumber = (text: string): Parsed => {
  const value = Number(text)
  return text.trim() === '' || !Number.isFinite(value) ? { problem: texts.notNumber } : { value }
}

const parseBoolean = (text: string): Parsed =>
  BOOLEANS.includes(text) ? { value: text === 'true' } : { problem: texts.notBoolean }

const parseJson = (text: string, type: 'object' | 'array'): Parsed => {
  try {
    const value: unknown = JSON.parse(text)
    const isRight = type === 'array' ? Array.isArray(value) : value?.constructor === Object
    return isRight ? { value } : { problem: texts.notJson[type] }
  } catch {
    return { problem: texts.notJson[type] }
  }
}

/** Two quotes stand for empty text: a default that is left empty is none. */
const EMPTY_TEXT = '""'

/** Returns the JSON value of a text that was typed for a field. */
export const parseValue = (type: FieldType, text: string): Parsed => {
  if (type === 'integer') return parseInteger(text)
  if (type === 'number') return parseNumber(text)
  if (type === 'boolean') return parseBoolean(text)
  if (type === 'object' || type === 'array') return parseJson(text, type)
  return { value: text === EMPTY_TEXT ? '' : text }
}

/** Returns the text in which a value is edited. null: no value. */
export const formatValue = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value === '' ? EMPTY_TEXT : value
  return JSON.stringify(value)
}

type StoredType = Pick<components['schemas']['TableField'], 'jsonType' | 'sqliteType'>

export const fieldTypeOf = ({ jsonType, sqliteType }: StoredType): FieldType =>
  sqliteType === 'BLOB' && jsonType === 'string' ? 'bytes' : jsonType
