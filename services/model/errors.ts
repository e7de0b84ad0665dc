import { type ErrorCode, type ErrorDetail, type ErrorKind, errorCatalogue } from '../../schemas/error.ts'

interface Explanation {
  readonly details?: readonly ErrorDetail[] | undefined
  /** What to do about it, where the message does not say so already. */
  readonly hint?: string | undefined
  /** Seconds after which another try makes sense. */
  readonly retryAfter?: number | undefined
  /** Position of the statement that failed in its unit, from 0. */
  readonly statement?: number | undefined
}

/** A failure that the caller caused or can do something about. Anything else that is thrown is a fault of ours. */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: ErrorCode
  readonly kind: ErrorKind
  readonly details: readonly ErrorDetail[] | undefined
  readonly hint: string | undefined
  readonly retryAfter: number | undefined
  /** Position of the statement that failed in its unit of writes, from 0; undefined for any other failure. */
  readonly statement: number | undefined

  constructor(code: ErrorCode, message: string, { details, hint, retryAfter, statement }: Explanation = {}) {
    super(message)
    this.code = code
    this.kind = errorCatalogue[code].kind
    this.details = details && details.length > 0 ? details : undefined
    this.hint = hint
    this.retryAfter = retryAfter
    this.statement = statement
  }
}

export const hasCode = (error: unknown, code: ErrorCode) => error instanceof DomainError && error.code === code

/** Characters of a caller's text that a message repeats. */
const MAX_EXCERPT = 200

/** A name that the caller made up, as a message repeats it: not the whole of a long one. */
export const excerpt = (name: string) =>
  name.length > MAX_EXCERPT ? `${name.slice(0, MAX_EXCERPT).toWellFormed()}…` : name

/** A name as a part of a JSON Pointer (RFC 6901). */
export const pointer = (name: string) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** What is wrong with a value, to be completed with the place where it stands. */
export interface Fault extends Omit<ErrorDetail, 'path'> {
  /** The part of the value that is wrong, as a JSON Pointer; absent for the whole of it. */
  readonly below?: string
}

/** Faults that one answer tells; whoever sent more of them starts with these. */
export const MAX_DETAILS = 20

export const invalid = (faults: readonly ErrorDetail[], hint?: string) => {
  const details = faults.slice(0, MAX_DETAILS)
  const message = details.map((detail) => detail.message).join(' ')
  return new DomainError('VALIDATION_FAILED', message, { details, hint })
}

/** More work than is taken at once. `retryAfter`: seconds. */
export const overloaded = (message: string, retryAfter: number) =>
  new DomainError('OVERLOADED', message, { retryAfter })

/** Ends work whose client has disconnected. */
export const disconnected = () => overloaded('The client has disconnected.', 1)

export const responseTooLarge = () =>
  new DomainError('VALIDATION_FAILED', 'The response would be too large.', {
    hint: 'Request fewer records at a time, with a smaller `size`.'
  })

export const tableNotFound = (ref: string | number) =>
  new DomainError(
    'TABLE_NOT_FOUND',
    `There is no table ${typeof ref === 'number' ? `with id ${ref}` : `'${excerpt(ref)}'`}.`
  )
