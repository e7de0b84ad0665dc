import type { JsonType } from '../../../schemas/table.ts'
import type { PlainField as Field } from '../../../services/model/table.ts'

/** A value as SQLite stores it. Integers are bigint, so that 64 bits are exact. Doubles are numbers. */
export type Stored = null | bigint | number | string

const MAX_INT64 = 2n ** 63n - 1n
const MIN_INT64 = -(2n ** 63n)

const isWide = (integer: bigint) => !Number.isSafeInteger(Number(integer))
export const isInt64 = (integer: bigint) => integer >= MIN_INT64 && integer <= MAX_INT64

/** An integer is sent as a number where that is exact, and otherwise as text. */
const storedInteger = (value: unknown): Stored | undefined => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
  if (typeof value !== 'string' || !/^-?[1-9]\d*$/.test(value)) return undefined
  const integer = BigInt(value)
  return isWide(integer) && isInt64(integer) ? integer : undefined
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON.parse rounds an integer beyond ±(2^53−1): objects and arrays must have it as text. */
const isExact = (value: unknown): boolean => {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isExact)
  return !Number.isInteger(value) || Number.isSafeInteger(value)
}

const storedJson = (value: unknown) => (isExact(value) ? JSON.stringify(value) : undefined)

const storedAs: Record<JsonType, (value: unknown) => Stored | undefined> = {
  integer: storedInteger,
  // SQLite stores -0 as 0.
  number: (value) => (typeof value === 'number' ? value + 0 : undefined),
  string: (value) => (typeof value === 'string' ? value : undefined),
  boolean: (value) => (typeof value === 'boolean' ? BigInt(value) : undefined),
  object: (value) => (isObject(value) ? storedJson(value) : undefined),
  array: (value) => (Array.isArray(value) ? storedJson(value) : undefined)
}

/** Returns the stored form of a JSON value other than null, or undefined if the value does not have the type. */
export const toStored = (jsonType: JsonType, value: unknown) => storedAs[jsonType](value)

/** Returns the JSON value in a response. */
export const toJson = (jsonType: JsonType, value: Stored): unknown => {
  if (value === null) return null
  if (jsonType === 'boolean') return value === 1n
  if (jsonType === 'object' || jsonType === 'array') return JSON.parse(String(value))
  if (typeof value !== 'bigint') return value
  return isWide(value) ? String(value) : Number(value)
}

/** JavaScript compares integers with doubles exactly, as SQLite does. */
const compareNumbers = (a: bigint | number, b: bigint | number) => Number(a > b) - Number(a < b)

/** Compares in SQLite's order for a column of one type: NULL first, numbers by value, text by bytes. */
export const compare = (a: Stored, b: Stored) => {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  if (typeof a !== 'string' && typeof b !== 'string') return compareNumbers(a, b)
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
}

/** Folds case for ASCII only, as SQLite does. */
export const fold = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Folds each character that has one lower and one upper form. */
const foldLetters = (text: string) =>
  Array.from(text, (character) => {
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()]
    const isLetter = lower.toUpperCase() === upper && upper.toLowerCase() === lower && [...upper].length === 1
    return isLetter && (character === lower || character === upper) ? lower : character
  }).join('')

export const isNumeric = ({ jsonType }: Field) => jsonType === 'integer' || jsonType === 'number'

/** Parses a search as a number: a 64-bit integer without leading zeros is exact, any other number is a double. */
const parseNumber = (q: string) => {
  if (/^(?:0|-?[1-9]\d*)$/.test(q) && isInt64(BigInt(q))) return BigInt(q)
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(q) && Number.isFinite(Number(q)) ? Number(q) : undefined
}

/** Returns whether the search `q` goes through this field. */
export const isSearched = (q: string, field: Field) =>
  field.jsonType === 'string' || (isNumeric(field) && parseNumber(q) !== undefined)

/** Returns whether the search `q` matches this value of this field. */
export const isFound = (q: string, field: Field, value: Stored) => {
  if (value === null || !isSearched(q, field)) return false
  if (field.jsonType === 'string') return foldLetters(String(value)).includes(foldLetters(q))
  return compare(value, parseNumber(q) as Stored) === 0
}

const escapeFormula = (text: string) => (/^'*\s*[=+\-@\t\r]/.test(text) ? `'${text}` : text)

/** Returns a CSV cell after parsing. NULL and empty text are the same there. */
export const toCell = ({ jsonType }: Field, value: Stored, isEscaped: boolean) => {
  if (value === null) return ''
  if (jsonType === 'boolean') return String(value === 1n)
  return typeof value === 'string' && isEscaped ? escapeFormula(value) : String(value)
}

/** Returns a cell in a form that can be compared: a double has several formats. */
export const normalizeCell = ({ jsonType }: Field, cell: string) =>
  jsonType === 'number' && cell !== '' ? String(Number(cell)) : cell
