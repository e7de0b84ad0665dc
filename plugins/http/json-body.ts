import { isUtf8 } from 'node:buffer'
import { DomainError, invalid, type Violation } from '../../services/model/errors.ts'
import { hasWideInteger, parseExactJson } from '../../services/model/exact-json.ts'
import { hasMoreParts, MAX_PARTS, tooManyParts } from '../../services/model/json-parts.ts'
import { findViolation } from '../../services/model/json-violations.ts'
import { hasRepeated, repeatedKey } from '../../services/model/repeated-keys.ts'

const malformed = (message: string) => new DomainError('MALFORMED_JSON', message)

/** `subject`: what the message calls the whole JSON text. */
export const toValidationError = ({ code, message, subPath: path = '' }: Violation, subject = 'The body') =>
  invalid([{ path, code, message: `${path === '' ? subject : `'${path.slice(1)}'`} ${message}.` }])

interface JsonOptions {
  /** Integers of 64 bits that a double may round become `bigint`. */
  readonly keepsWideIntegers?: boolean
  readonly maxParts?: number | undefined
  /** What the messages call the JSON text. */
  readonly subject?: string
}

/** Returns the value of a JSON text, or undefined if it is empty. @throws MALFORMED_JSON, VALIDATION_FAILED */
export const parseJson = (bytes: Buffer, options: JsonOptions = {}): unknown => {
  const { keepsWideIntegers = false, maxParts = MAX_PARTS, subject = 'The body' } = options
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
  const repeated = repeatedKey(bytes, text, value)
  if (repeated !== undefined) throw toValidationError(hasRepeated(repeated), subject)
  return keepsWideIntegers && hasWideInteger(text) ? parseExactJson(text) : value
}
