import { type Static, Type } from '@sinclair/typebox'
import { strict } from './envelope.ts'

/** Why a call failed, in the domain's terms. `statusOf` gives each kind its HTTP status. */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'timeout'
  | 'conflict'
  | 'too-large'
  | 'too-long'
  | 'unsupported'
  | 'throttled'
  | 'headers-too-large'
  | 'internal'
  | 'unavailable'
  | 'disk-full'

/** The HTTP status of each kind. */
export const statusOf: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  timeout: 408,
  conflict: 409,
  'too-large': 413,
  'too-long': 414,
  unsupported: 415,
  throttled: 429,
  'headers-too-large': 431,
  internal: 500,
  unavailable: 503,
  'disk-full': 507
}

/** Every error code that Rowhouse answers with. Codes are API: renaming one is a breaking change. */
export const errorCatalogue = {
  VALIDATION_FAILED: {
    kind: 'invalid',
    meaning: 'The request does not have the documented form, or its answer would be too large; details name the faults.'
  },
  MALFORMED_JSON: { kind: 'invalid', meaning: 'The body is not valid JSON in UTF-8.' },
  MALFORMED_REQUEST: {
    kind: 'invalid',
    meaning: 'The request line, a header, the path, the query or the way in which the body is sent cannot be taken.'
  },
  BODY_NOT_ALLOWED: { kind: 'invalid', meaning: 'The route takes no body.' },
  CONFIRMATION_REQUIRED: { kind: 'invalid', meaning: 'The call needs confirm=true.' },
  TABLE_NOT_IMPORTABLE: { kind: 'invalid', meaning: 'What the name stands for is not an ordinary table.' },
  CONSTRAINT_VIOLATION: { kind: 'invalid', meaning: 'A NOT NULL, CHECK or type rule of the table refuses the value.' },
  NOT_INCREMENTABLE: { kind: 'invalid', meaning: 'The field is not numeric, is a key, or is read-only.' },

  AUTHENTICATION_REQUIRED: { kind: 'unauthenticated', meaning: 'There is no valid administrator session.' },
  INVALID_CREDENTIALS: { kind: 'unauthenticated', meaning: 'The name or the password is wrong.' },
  INVALID_TOKEN: {
    kind: 'unauthenticated',
    meaning: 'The bearer token is missing, malformed, unknown, inactive or expired.'
  },

  CROSS_SITE_REQUEST: { kind: 'forbidden', meaning: 'A page of another site may not send this request.' },
  ACTION_NOT_ALLOWED: { kind: 'forbidden', meaning: 'The token lacks the action, or the table is outside its scope.' },
  TABLE_READ_ONLY: { kind: 'forbidden', meaning: 'The table is not editable through tokens.' },
  PASSWORD_CHANGE_REQUIRED: { kind: 'forbidden', meaning: 'The administrator must change the password first.' },
  WRONG_PASSWORD: { kind: 'forbidden', meaning: 'The old password is wrong.' },
  OWN_PASSWORD: { kind: 'forbidden', meaning: 'One’s own password is changed through PUT /auth/password.' },

  ROUTE_NOT_FOUND: { kind: 'not-found', meaning: 'There is no such route.' },
  TABLE_NOT_FOUND: { kind: 'not-found', meaning: 'There is no such table.' },
  RECORD_NOT_FOUND: { kind: 'not-found', meaning: 'There is no record with this primary key.' },
  TOKEN_NOT_FOUND: { kind: 'not-found', meaning: 'There is no such token.' },
  ADMIN_NOT_FOUND: { kind: 'not-found', meaning: 'There is no such administrator.' },

  METHOD_NOT_ALLOWED: { kind: 'method-not-allowed', meaning: 'The route exists, but not for this method; see Allow.' },
  REQUEST_TIMEOUT: { kind: 'timeout', meaning: 'The request did not arrive in time.' },

  TABLE_EXISTS: { kind: 'conflict', meaning: 'The name is taken in the database.' },
  TABLE_REGISTERED: { kind: 'conflict', meaning: 'The table is registered already.' },
  TABLE_CHANGED: { kind: 'conflict', meaning: 'The table was changed by somebody else meanwhile.' },
  STRUCTURE_CHANGED: {
    kind: 'conflict',
    meaning: 'SQLite cannot use the stored table as it is registered, or not without another program.'
  },
  TABLE_UNUSABLE: {
    kind: 'conflict',
    meaning: 'The registry cannot read the settings of the table. Unregister it, then import it again.'
  },
  FIELD_EXISTS: { kind: 'conflict', meaning: 'The table has a field of this name already.' },
  ADMIN_EXISTS: { kind: 'conflict', meaning: 'An administrator of this name exists already.' },
  LAST_ADMIN: { kind: 'conflict', meaning: 'The last administrator cannot be deleted.' },
  UNIQUE_VIOLATION: { kind: 'conflict', meaning: 'A value that must be unique is taken.' },
  FOREIGN_KEY_VIOLATION: { kind: 'conflict', meaning: 'A foreign key would point to nothing.' },
  INCREMENT_OVERFLOW: {
    kind: 'conflict',
    meaning: 'The field holds no number, or the sum does not fit it; the value stays.'
  },
  REFUSED_BY_TRIGGER: { kind: 'conflict', meaning: 'A trigger of the database refused the change.' },

  BODY_TOO_LARGE: { kind: 'too-large', meaning: 'The body is larger than BODY_LIMIT, or than a login can be.' },
  PATH_TOO_LONG: {
    kind: 'too-long',
    meaning: 'A key in the path is longer than 8,192 characters, or the URL, beside it, than 16,384.'
  },
  UNSUPPORTED_MEDIA_TYPE: { kind: 'unsupported', meaning: 'Bodies are application/json, without content encoding.' },
  TOO_MANY_ATTEMPTS: { kind: 'throttled', meaning: 'Too many failed logins; see Retry-After.' },
  HEADERS_TOO_LARGE: { kind: 'headers-too-large', meaning: 'The request headers are too large.' },

  INTERNAL_ERROR: { kind: 'internal', meaning: 'A fault of ours. The log has the cause under the request id.' },
  DATABASE_BUSY: { kind: 'unavailable', meaning: 'Another program holds the database; see Retry-After.' },
  STORAGE_UNAVAILABLE: { kind: 'unavailable', meaning: 'The disk refuses to read or write; see Retry-After.' },
  OVERLOADED: { kind: 'unavailable', meaning: 'More work than the service takes at once; see Retry-After.' },
  OUTCOME_UNKNOWN: {
    kind: 'unavailable',
    meaning: 'The service failed with the change under way: it may have been carried out. Look before trying again.'
  },
  SCAN_TIMEOUT: { kind: 'unavailable', meaning: 'The search took longer than 30 s and was stopped.' },
  DISK_FULL: { kind: 'disk-full', meaning: 'The disk is full; nothing was changed.' }
} as const satisfies Record<string, { kind: ErrorKind; meaning: string }>

export type ErrorCode = keyof typeof errorCatalogue

const codes = Object.keys(errorCatalogue) as ErrorCode[]

const ErrorDetailSchema = Type.Object(
  {
    path: Type.String({ description: 'JSON Pointer into the body, or the name of the parameter behind a slash.' }),
    code: Type.String({ description: 'What is wrong there: type, required, unknown, format, range, readonly, …' }),
    message: Type.String()
  },
  strict
)
export type ErrorDetail = Static<typeof ErrorDetailSchema>

export const ErrorSchema = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Object(
      {
        code: Type.Unsafe<ErrorCode>({
          type: 'string',
          enum: codes,
          description: codes.map((code) => `- \`${code}\`: ${errorCatalogue[code].meaning}`).join('\n')
        }),
        message: Type.String(),
        details: Type.Optional(Type.Array(ErrorDetailSchema)),
        hint: Type.Optional(Type.String()),
        requestId: Type.String()
      },
      strict
    )
  },
  { $id: 'Error', title: 'Error', ...strict, description: 'The one shape of every failure.' }
)
export type ErrorBody = Static<typeof ErrorSchema>
