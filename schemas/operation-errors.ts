import type { ErrorCode } from './error.ts'

/**
 * The credential that a route requires.
 * - `token`: an access token. Only routes under /data accept it.
 * - `session`: the session cookie of an administrator.
 * - `metrics`: the METRICS_TOKEN.
 * - `administrator`: the same, or an admin key with the scope of the route. With REQUIRE_PASSWORD_CHANGE, not before a
 *   required change of the password.
 */
export type Credential = 'none' | 'token' | 'session' | 'administrator' | 'metrics'

/** For routes that read the database on the event loop. */
export const READ_ERRORS: readonly ErrorCode[] = ['DATABASE_BUSY', 'STORAGE_UNAVAILABLE']

/** For routes that write to the database. */
export const WRITE_ERRORS: readonly ErrorCode[] = [...READ_ERRORS, 'DISK_FULL', 'OUTCOME_UNKNOWN', 'RESTORE_RUNNING']

/** For routes that may use a reader thread. DISK_FULL: a large sort uses a temporary file. */
const SCAN_ERRORS: readonly ErrorCode[] = [...READ_ERRORS, 'SCAN_TIMEOUT', 'DISK_FULL', 'STRUCTURE_CHANGED']

/** For routes of administrators on a table. */
export const TABLE_ERRORS: readonly ErrorCode[] = ['TABLE_NOT_FOUND', 'TABLE_UNUSABLE']

/** For routes of tokens on a table. */
export const TOKEN_TABLE_ERRORS: readonly ErrorCode[] = ['ACTION_NOT_ALLOWED', ...TABLE_ERRORS]

/**
 * For routes of tokens that read. TABLE_CHANGED: the right of the token is checked again after a wait in the queue of the
 * reader threads, and before a retry.
 */
export const TOKEN_READ_ERRORS: readonly ErrorCode[] = [...TOKEN_TABLE_ERRORS, 'TABLE_CHANGED']

/** For routes of tokens that change records: a role can open some of them. */
export const TOKEN_CHANGE_ERRORS: readonly ErrorCode[] = [...TOKEN_READ_ERRORS, 'ROW_NOT_ALLOWED']

/** For routes that return stored records, except those that a change returns. */
export const RECORD_READ_ERRORS: readonly ErrorCode[] = [...SCAN_ERRORS, 'RESPONSE_TOO_LARGE']

/** For routes that read by a cursor. */
export const QUERY_ERRORS: readonly ErrorCode[] = [...RECORD_READ_ERRORS, 'INVALID_CURSOR', 'CURSOR_OF_OTHER_QUERY']

/** For routes that compute values of records. */
export const AGGREGATE_ERRORS: readonly ErrorCode[] = [...RECORD_READ_ERRORS, 'AGGREGATE_OVERFLOW']

/** For routes that change a table or its records. NOT_REPLICABLE: for a table of a cluster. */
export const READ_ONLY_ERRORS: readonly ErrorCode[] = ['TABLE_READ_ONLY', 'NOT_REPLICABLE']

/** For routes that create a record. TABLE_CHANGED: several services may serve one cluster. */
export const RECORD_CREATE_ERRORS: readonly ErrorCode[] = [
  ...WRITE_ERRORS,
  'TABLE_CHANGED',
  'CONSTRAINT_VIOLATION',
  'UNIQUE_VIOLATION',
  'FOREIGN_KEY_VIOLATION',
  'REFUSED_BY_TRIGGER',
  'STRUCTURE_CHANGED',
  'TOO_MUCH_WORK',
  'IDEMPOTENCY_KEY_IN_FLIGHT',
  'IDEMPOTENCY_KEY_REUSED'
]

/** For routes that import a file. */
export const IMPORT_ERRORS: readonly ErrorCode[] = [
  ...RECORD_CREATE_ERRORS,
  ...READ_ONLY_ERRORS,
  'IMPORT_FAILED',
  'IMPORT_STOPPED'
]

/** For routes that change or delete a record. SCAN_TIMEOUT: the key of an imported table may have no usable index. */
export const RECORD_CHANGE_ERRORS: readonly ErrorCode[] = [
  ...RECORD_CREATE_ERRORS,
  'RECORD_NOT_FOUND',
  'PRECONDITION_FAILED',
  'REFERENCE_NOT_INDEXED',
  'SCAN_TIMEOUT'
]

/** For batches. */
export const BATCH_ERRORS: readonly ErrorCode[] = [
  ...RECORD_CHANGE_ERRORS,
  ...READ_ONLY_ERRORS,
  'NOT_INCREMENTABLE',
  'INCREMENT_OVERFLOW',
  'TOO_MANY_AFFECTED',
  'FILTER_NOT_INDEXED',
  'PRECONDITION_FAILED',
  'TOO_MANY_OPERATIONS',
  'RESULTS_TOO_LARGE'
]

const ANY_OPERATION: readonly ErrorCode[] = [
  'VALIDATION_FAILED',
  'MALFORMED_REQUEST',
  'TOO_MANY_PIPELINED',
  'INTERNAL_ERROR',
  'OVERLOADED'
]

/** Rowhouse reads the body of every POST, PUT and DELETE, also for routes that take none. */
const BODY_ERRORS: readonly ErrorCode[] = [
  'MALFORMED_JSON',
  'REQUEST_TIMEOUT',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE'
]

const SESSION_ERRORS: readonly ErrorCode[] = ['AUTHENTICATION_REQUIRED', 'TWO_CREDENTIALS', ...READ_ERRORS]

const CREDENTIAL_ERRORS: Readonly<Record<Credential, readonly ErrorCode[]>> = {
  none: [],
  token: ['INVALID_TOKEN', 'TOO_MANY_REQUESTS', 'KEYS_UNAVAILABLE'],
  metrics: ['INVALID_TOKEN'],
  session: SESSION_ERRORS,
  administrator: [...SESSION_ERRORS, 'PASSWORD_CHANGE_REQUIRED', 'INVALID_ADMIN_KEY', 'ADMIN_KEY_NOT_ALLOWED']
}

const isSafe = (method: string) => ['GET', 'HEAD'].includes(method)

const usesCookie = (credential: Credential) => credential === 'session' || credential === 'administrator'

interface DeclaredOperation {
  readonly method: string
  readonly credential: Credential
  /** The route has a body schema. */
  readonly takesBody: boolean
  readonly hasParameters: boolean
  /** The errors that the route declares, besides those that follow from the properties above. */
  readonly errors: readonly ErrorCode[]
}

const when = (condition: boolean, codes: readonly ErrorCode[]) => (condition ? codes : [])

/** Returns the codes of all errors that an operation can return, sorted and without duplicates. */
export const errorsOf = (operation: DeclaredOperation): readonly ErrorCode[] => {
  const { method, credential, takesBody, hasParameters, errors } = operation
  const codes = [
    ...ANY_OPERATION,
    ...when(!takesBody, ['BODY_NOT_ALLOWED']),
    ...when(!isSafe(method), BODY_ERRORS),
    ...when(!isSafe(method) && usesCookie(credential), ['CROSS_SITE_REQUEST']),
    ...when(hasParameters, ['PATH_TOO_LONG']),
    ...CREDENTIAL_ERRORS[credential],
    ...errors
  ]
  return [...new Set(codes)].sort()
}
