import { isUtf8 } from 'node:buffer'
import { DomainError, invalid, type Violation } from '../../services/model/errors.ts'
import { hasWideInteger, parseExactJson } from '../../services/model/exact-json.ts'
import { countKeysIn, hasMoreParts, MAX_PARTS, tooManyParts } from '../../services/model/json-parts.ts'
import { findViolation } from '../../services/model/json-violations.ts'

/** Counts the keys of all objects in a value. */
const countKeys = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item)
    return count
  }
  for (const name of Object.keys(value)) count += 1 + countKeys(Reflect.get(value, name))
  return count
}

/** `JSON.parse` keeps the last of several equal keys, so the value has fewer keys than the text. */
const hasEqualKeys = (bytes: Buffer, value: unknown) => countKeysIn(bytes) > countKeys(value)

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
  if (hasMoreParts(bytes, maxParts)) throw toValidationError(tooManyParts(maxParts), subject)
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
