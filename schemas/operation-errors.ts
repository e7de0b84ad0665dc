import type { ErrorCode } from './error.ts'

/**
 * The credential that a route takes. `session`: the cookie of an administrator; `administrator`: the same, and with
 * REQUIRE_PASSWORD_CHANGE a password that nobody else has set. A token opens nothing but /data.
 */
export type Credential = 'none' | 'token' | 'session' | 'administrator'

/** Groups of failures, for the `errors` of a route. */
export const READ_ERRORS: readonly ErrorCode[] = ['DATABASE_BUSY', 'STORAGE_UNAVAILABLE']

export const WRITE_ERRORS: readonly ErrorCode[] = [...READ_ERRORS, 'DISK_FULL', 'OUTCOME_UNKNOWN']

/** Of work in a reader thread. A sort that does not fit in memory needs room on the disk. */
export const SCAN_ERRORS: readonly ErrorCode[] = [...READ_ERRORS, 'SCAN_TIMEOUT', 'DISK_FULL', 'STRUCTURE_CHANGED']

/** Of every change of a record: what the table's own rules refuse. */
export const RECORD_WRITE_ERRORS: readonly ErrorCode[] = [
  ...WRITE_ERRORS,
  'SCAN_TIMEOUT',
  'CONSTRAINT_VIOLATION',
  'UNIQUE_VIOLATION',
  'FOREIGN_KEY_VIOLATION',
  'REFUSED_BY_TRIGGER',
  'STRUCTURE_CHANGED'
]

const ANY_OPERATION: readonly ErrorCode[] = [
  'VALIDATION_FAILED',
  'MALFORMED_REQUEST',
  'BODY_NOT_ALLOWED',
  'INTERNAL_ERROR',
  'OVERLOADED'
]

/** A body may be sent even to an operation that takes none. */
const WITH_BODY: readonly ErrorCode[] = [
  'MALFORMED_JSON',
  'REQUEST_TIMEOUT',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE'
]

const SESSION_ERRORS: readonly ErrorCode[] = ['AUTHENTICATION_REQUIRED', ...READ_ERRORS]

const BY_CREDENTIAL: Readonly<Record<Credential, readonly ErrorCode[]>> = {
  none: [],
  token: ['INVALID_TOKEN'],
  session: SESSION_ERRORS,
  administrator: [...SESSION_ERRORS, 'PASSWORD_CHANGE_REQUIRED']
}

const isSafe = (method: string) => ['GET', 'HEAD'].includes(method)

const usesCookie = (credential: Credential) => credential === 'session' || credential === 'administrator'

interface DeclaredOperation {
  readonly method: string
  readonly credential: Credential
  readonly hasParameters: boolean
  /** The failures that the route names itself. */
  readonly errors: readonly ErrorCode[]
}

/** Returns every code that an operation may fail with, sorted. */
export const errorsOf = ({ method, credential, hasParameters, errors }: DeclaredOperation): readonly ErrorCode[] => {
  const codes = [
    ...ANY_OPERATION,
    ...(isSafe(method) ? [] : WITH_BODY),
    ...(usesCookie(credential) && !isSafe(method) ? (['CROSS_SITE_REQUEST'] as const) : []),
    ...(hasParameters ? (['PATH_TOO_LONG'] as const) : []),
    ...BY_CREDENTIAL[credential],
    ...errors
  ]
  return [...new Set(codes)].sort()
}
