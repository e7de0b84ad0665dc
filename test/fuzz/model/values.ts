import type { Field, JsonType } from '../../../schemas/table.ts'

/** A value as SQLite stores it: integers are bigint, so that 64 bits are exact, and doubles are numbers. */
export type Stored = null | bigint | number | string

const LARGEST = 2n ** 63n - 1n
const SMALLEST = -(2n ** 63n)

const isWide = (integer: bigint) => !Number.isSafeInteger(Number(integer))
export const isInt64 = (integer: bigint) => integer >= SMALLEST && integer <= LARGEST

/** Integers are sent as numbers where these are exact, as text where they are not, and in no other way. */
const storedInteger = (value: unknown): Stored | undefined => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
  if (typeof value !== 'string' || !/^-?[1-9]\d*$/.test(value)) return undefined
  const integer = BigInt(value)
  return isWide(integer) && isInt64(integer) ? integer : undefined
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

const storedAs: Record<JsonType, (value: unknown) => Stored | undefined> = {
  integer: storedInteger,
  // SQLite stores -0 as 0.
  number: (value) => (typeof value === 'number' ? value + 0 : undefined),
  string: (value) => (typeof value === 'string' ? value : undefined),
  boolean: (value) => (typeof value === 'boolean' ? BigInt(value) : undefined),
  object: (value) => (isObject(value) ? JSON.stringify(value) : undefined),
  array: (value) => (Array.isArray(value) ? JSON.stringify(value) : undefined)
}

/** What is stored for a JSON value other than null; undefined where the value does not fit the type. */
export const toStored = (jsonType: JsonType, value: unknown) => storedAs[jsonType](value)

/** The JSON value that a client reads. */
export const toSpoken = (jsonType: JsonType, value: Stored): unknown => {
  if (value === null) return null
  if (jsonType === 'boolean') return value === 1n
  if (jsonType === 'object' || jsonType === 'array') return JSON.parse(String(value))
  if (typeof value !== 'bigint') return value
  return isWide(value) ? String(value) : Number(value)
}

/** JavaScript compares integers with doubles exactly, as SQLite does. */
const compareNumbers = (a: bigint | number, b: bigint | number) => Number(a > b) - Number(a < b)

/** SQLite's order within a column of one type: NULL first, numbers by value, text by its bytes. */
export const compare = (a: Stored, b: Stored) => {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  if (typeof a !== 'string' && typeof b !== 'string') return compareNumbers(a, b)
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
}

/** Case folds for ASCII only. */
export const fold = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

export const isNumeric = ({ jsonType }: Field) => jsonType === 'integer' || jsonType === 'number'

/** Integers in their one spelling are exact; whatever else is written as a number is a double. */
const numberIn = (q: string) => {
  if (/^(?:0|-?[1-9]\d*)$/.test(q) && isInt64(BigInt(q))) return BigInt(q)
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(q) && Number.isFinite(Number(q)) ? Number(q) : undefined
}

/** Whether `q` is found in this value of this field. */
export const isFound = (q: string, field: Field, value: Stored) => {
  if (value === null) return false
  if (field.jsonType === 'string') return fold(String(value)).includes(fold(q))
  const number = numberIn(q)
  return isNumeric(field) && number !== undefined && compare(value, number) === 0
}

const disarmed = (text: string) => (/^\s*[=+\-@\t\r]/.test(text) ? `'${text}` : text)

/** A CSV cell, unquoted, as a parser reads it: NULL and empty text look the same there. */
export const toCell = ({ jsonType }: Field, value: Stored, guard: boolean) => {
  if (value === null) return ''
  if (jsonType === 'boolean') return String(value === 1n)
  return typeof value === 'string' && guard ? disarmed(value) : String(value)
}

/** A cell that can be compared: doubles have several spellings. */
export const normalCell = ({ jsonType }: Field, cell: string) =>
  jsonType === 'number' && cell !== '' ? String(Number(cell)) : cell
