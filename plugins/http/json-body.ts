import { isUtf8 } from 'node:buffer'
import { DomainError, invalid, type Violation } from '../../services/model/errors.ts'
import { findViolation } from '../../services/model/json-violations.ts'
import { hasWideInteger, parseExactJson } from './exact-json.ts'

/**
 * Maximum number of keys, objects and arrays of a body, at any depth, unless its route sets another. Each takes V8 the
 * memory of many bytes.
 */
const MAX_PARTS = 20_000
/** The shortest part is `[]`. Smaller bodies need no count. */
const MIN_PART_BYTES = 2

const [QUOTE, BACKSLASH, COLON, BRACKET, BRACE] = [0x22, 0x5c, 0x3a, 0x5b, 0x7b]

/** Counts characters of JSON outside strings. */
const countOutsideStrings = (bytes: Buffer, isCounted: (byte: number) => boolean) => {
  let count = 0
  let isString = false
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number
    if (byte === QUOTE) isString = !isString
    else if (byte === BACKSLASH) index += 1
    else if (!isString && isCounted(byte)) count += 1
  }
  return count
}

const isKey = (byte: number) => byte === COLON
const isPart = (byte: number) => isKey(byte) || byte === BRACKET || byte === BRACE

const hasMoreParts = (bytes: Buffer, maxParts: number) =>
  bytes.length > maxParts * MIN_PART_BYTES && countOutsideStrings(bytes, isPart) > maxParts

/** Counts the keys of all objects in a value. */
const countKeys = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  const members: readonly unknown[] = Object.values(value)
  const own = Array.isArray(value) ? 0 : members.length
  return members.reduce<number>((count, member) => count + countKeys(member), own)
}

/** `JSON.parse` keeps the last of several equal keys, so the value has fewer keys than the text. */
const hasEqualKeys = (bytes: Buffer, value: unknown) => countOutsideStrings(bytes, isKey) > countKeys(value)

const malformed = (message: string) => new DomainError('MALFORMED_JSON', message)

/** `subject`: what the message calls the whole JSON text. */
export const toValidationError = ({ code, message, subPath: path = '' }: Violation, subject = 'The body') =>
  invalid([{ path, code, message: `${path === '' ? subject : `'${path.slice(1)}'`} ${message}.` }])

interface JsonOptions {
  /** Integers of 64 bits that a double may round become `bigint`. */
  readonly keepsWideIntegers?: boolean
  /** Refuses an object with two equal keys: of two conditions on a field, one would be lost. */
  readonly needsUniqueKeys?: boolean | undefined
  readonly maxParts?: number | undefined
  /** What the messages call the JSON text. */
  readonly subject?: string
}

/** Returns the value of a JSON text, or undefined if it is empty. @throws MALFORMED_JSON, VALIDATION_FAILED */
export const parseJson = (bytes: Buffer, options: JsonOptions = {}): unknown => {
  const { keepsWideIntegers = false, needsUniqueKeys = false, maxParts = MAX_PARTS, subject = 'The body' } = options
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw malformed(`${subject} is not UTF-8.`)
  if (hasMoreParts(bytes, maxParts))
    throw toValidationError({ code: 'length', message: `has more than ${maxParts} keys, objects and arrays` }, subject)
  const text = bytes.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed(`${subject} is not valid JSON.`)
  }
  const violation = findViolation(value)
  if (violation) throw toValidationError(violation, subject)
  if (needsUniqueKeys && hasEqualKeys(bytes, value)) {
    throw toValidationError({ code: 'duplicate', message: 'has an object with two equal keys' }, subject)
  }
  return keepsWideIntegers && hasWideInteger(text) ? parseExactJson(text) : value
}
