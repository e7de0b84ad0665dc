import { isUtf8 } from 'node:buffer'
import { DomainError, excerpt, invalid, pointer, type Violation } from '../../services/model/errors.ts'
import { hasWideInteger, parseExactJson } from './exact-json.ts'

/** Maximum nesting of a body. Far below the limit of SQLite (1,000) and of the recursion here. */
const MAX_DEPTH = 100

/** Maximum number of keys, objects and arrays of a body, at any depth. Each takes V8 the memory of many bytes. */
const MAX_PARTS = 20_000
/** The shortest part is `[]`. Smaller bodies need no count. */
const MIN_PART_BYTES = 2

const [QUOTE, BACKSLASH, COLON, BRACKET, BRACE] = [0x22, 0x5c, 0x3a, 0x5b, 0x7b]

/** Counts keys by their colons: outside strings, JSON has no other colons. */
const countParts = (bytes: Buffer) => {
  let parts = 0
  let isString = false
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]
    if (byte === QUOTE) isString = !isString
    else if (byte === BACKSLASH) index += 1
    else if (!isString && (byte === COLON || byte === BRACKET || byte === BRACE)) parts += 1
  }
  return parts
}

const hasTooManyParts = (bytes: Buffer) => bytes.length > MAX_PARTS * MIN_PART_BYTES && countParts(bytes) > MAX_PARTS

const malformed = (message: string) => new DomainError('MALFORMED_JSON', message)

const stringViolation = (text: string): Violation | undefined => {
  if (text.includes('\0')) return { code: 'format', message: 'contains a NUL character' }
  return text.isWellFormed()
    ? undefined
    : { code: 'format', message: 'contains an unpaired surrogate (invalid Unicode)' }
}

const within = (key: string, violation: Violation): Violation => ({
  ...violation,
  subPath: pointer(excerpt(key)) + (violation.subPath ?? '')
})

const itemViolation = (items: readonly unknown[], depth: number): Violation | undefined => {
  for (let index = 0; index < items.length; index += 1) {
    const violation = findViolation(items[index], depth)
    if (violation) return within(String(index), violation)
  }
  return undefined
}

const memberViolation = (value: object, depth: number): Violation | undefined => {
  if (depth === 0) return { code: 'depth', message: `is nested deeper than ${MAX_DEPTH} levels` }
  if (Array.isArray(value)) return itemViolation(value, depth - 1)
  for (const key of Object.keys(value)) {
    const violation = stringViolation(key) ?? findViolation(Reflect.get(value, key), depth - 1)
    if (violation) return within(key, violation)
  }
  return undefined
}

/** Returns the first violation at any depth of a JSON value: NUL, unpaired surrogates, numbers beyond a double. */
export const findViolation = (value: unknown, depth = MAX_DEPTH): Violation | undefined => {
  if (typeof value === 'string') return stringViolation(value)
  if (typeof value === 'object' && value !== null) return memberViolation(value, depth)
  const isInfinite = typeof value === 'number' && !Number.isFinite(value)
  return isInfinite ? { code: 'range', message: 'is outside the range of a 64-bit floating-point number' } : undefined
}

export const toValidationError = ({ code, message, subPath: path = '' }: Violation) =>
  invalid([{ path, code, message: `${path === '' ? 'The body' : `'${path.slice(1)}'`} ${message}.` }])

/**
 * Returns the value of a JSON body, or undefined if it is empty. `keepsWideIntegers`: integers of 64 bits that a double
 * may round become `bigint`. @throws MALFORMED_JSON, VALIDATION_FAILED
 */
export const parseJson = (bytes: Buffer, keepsWideIntegers: boolean): unknown => {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.')
  if (hasTooManyParts(bytes))
    throw toValidationError({ code: 'length', message: `has more than ${MAX_PARTS} keys, objects and arrays` })
  const text = bytes.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('The body is not valid JSON.')
  }
  const violation = findViolation(value)
  if (violation) throw toValidationError(violation)
  return keepsWideIntegers && hasWideInteger(text) ? parseExactJson(text) : value
}
