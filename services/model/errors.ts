import { type ErrorCode, type ErrorDetail, type ErrorKind, errorCatalogue } from '../../schemas/error.ts'

interface Explanation {
  readonly details?: readonly ErrorDetail[] | undefined
  /** The number of all errors of an import, of which `details` has the first. */
  readonly total?: number | undefined
  /** How to solve the problem, if the message does not contain it. */
  readonly hint?: string | undefined
  /** Seconds to wait before a retry. */
  readonly retryAfter?: number | undefined
  /** Position of the failed statement in its unit, from 0. */
  readonly statement?: number | undefined
  /** The entity tag that the record has now. */
  readonly etag?: string | undefined
  /** What SQLite names as the cause: a CHECK, an index, or the message of a trigger. Not part of the response. */
  readonly reported?: string | undefined
}

/** An error that the caller caused or can act on. Any other error is reported as INTERNAL_ERROR. */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: ErrorCode
  readonly kind: ErrorKind
  readonly details: readonly ErrorDetail[] | undefined
  readonly total: number | undefined
  readonly hint: string | undefined
  readonly retryAfter: number | undefined
  /** Position of the failed statement in its unit of writes, from 0; undefined if no statement failed. */
  readonly statement: number | undefined
  readonly etag: string | undefined
  readonly reported: string | undefined

  constructor(code: ErrorCode, message: string, explanation: Explanation = {}) {
    const { details, total, hint, retryAfter, statement, etag, reported } = explanation
    super(message)
    this.code = code
    this.kind = errorCatalogue[code].kind
    this.details = details && details.length > 0 ? details : undefined
    this.total = total
    this.hint = hint
    this.retryAfter = retryAfter
    this.statement = statement
    this.etag = etag
    this.reported = reported
  }
}

export const hasCode = (error: unknown, code: ErrorCode) => error instanceof DomainError && error.code === code

/** Maximum number of characters of a name from a request that a message repeats. */
const MAX_EXCERPT = 200

/** Returns a name from a request for use in a message. A long name is cut. */
export const excerpt = (name: string) =>
  name.length > MAX_EXCERPT ? `${name.slice(0, MAX_EXCERPT).toWellFormed()}…` : name

/** Returns the JSON Pointer (RFC 6901) of a member with this name. */
export const pointer = (name: string) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** Why a value is invalid, without the value's own path. The message continues a sentence: "must be an integer". */
export interface Violation extends Omit<ErrorDetail, 'path'> {
  /** The JSON Pointer of the invalid part inside the value; absent for the whole value. */
  readonly subPath?: string
}

/** Maximum number of violations in one response. */
export const MAX_DETAILS = 20

/** Returns VALIDATION_FAILED with the first `MAX_DETAILS` violations. */
export const invalid = (violations: readonly ErrorDetail[], hint?: string) => {
  const details = violations.slice(0, MAX_DETAILS)
  const message = details.map((detail) => detail.message).join(' ')
  return new DomainError('VALIDATION_FAILED', message, { details, hint })
}

/** Returns the error for work beyond a limit of concurrency. `retryAfter`: seconds. */
export const overloaded = (message: string, retryAfter: number) =>
  new DomainError('OVERLOADED', message, { retryAfter })

export const tooMuchUnread = () =>
  overloaded('Clients have not read the large responses that they requested. Try again.', 5)

/** Returns the error that ends the work for a client that has disconnected. */
export const disconnected = () => overloaded('The client has disconnected.', 1)

export const responseTooLarge = () =>
  new DomainError('RESPONSE_TOO_LARGE', 'The response would be too large.', {
    hint: 'For a page, send a smaller `size`, or name the fields that you need: in `fields`, and in `expand`, as in `supplier_id(name)`. For one record, an administrator can hide its large fields.'
  })

export const resultsTooLarge = () =>
  new DomainError(
    'RESULTS_TOO_LARGE',
    'The records that the batch returns have more than 8 MiB. Nothing was changed.',
    {
      hint: 'Send several batches, or update the records: an update in a batch returns no record.'
    }
  )

export const noBackupsOnCluster = () =>
  new DomainError('NOT_ON_CLUSTER', 'Rowhouse makes and restores no backups of a cluster.', {
    hint: 'Use the backups of rqlite: docs/guides/cluster.md.'
  })

export const tableNotFound = (ref: string | number, hint?: string) =>
  new DomainError(
    'TABLE_NOT_FOUND',
    `There is no table ${typeof ref === 'number' ? `with id ${ref}` : `'${excerpt(ref)}'`}.`,
    { hint }
  )

export const tableChanged = (name: string) =>
  new DomainError('TABLE_CHANGED', `The table '${name}' was changed during the request. Retry the request.`)
