import { type Static, Type } from '@sinclair/typebox'
import { strict } from './envelope.ts'
import { Int32, Int64 } from './numbers.ts'

/** The class of a failure. It decides the HTTP status. */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'timeout'
  | 'conflict'
  | 'precondition'
  | 'too-large'
  | 'too-long'
  | 'unsupported'
  | 'range'
  | 'unprocessable'
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
  precondition: 412,
  'too-large': 413,
  'too-long': 414,
  unsupported: 415,
  range: 416,
  unprocessable: 422,
  throttled: 429,
  'headers-too-large': 431,
  internal: 500,
  unavailable: 503,
  'disk-full': 507
}

/** Every error code of a response. Codes are API: renaming one is a breaking change. */
export const errorCatalogue = {
  VALIDATION_FAILED: {
    kind: 'invalid',
    meaning: 'A value is missing, unknown or invalid; `details` lists each.'
  },
  MALFORMED_JSON: { kind: 'invalid', meaning: 'The body is not valid JSON in UTF-8.' },
  MALFORMED_REQUEST: {
    kind: 'invalid',
    meaning:
      'The request is not valid HTTP, its path or query is not valid percent-encoded UTF-8, or its body has an unsupported transfer.'
  },
  TOO_MANY_PIPELINED: {
    kind: 'invalid',
    meaning: 'The connection has too many pending requests. It is closed after this response.'
  },
  RESPONSE_TOO_LARGE: {
    kind: 'invalid',
    meaning: 'The page or the record is too large for one response. For a page, send a smaller `size`.'
  },
  INVALID_CURSOR: { kind: 'invalid', meaning: 'The cursor was not returned by this service, or was changed.' },
  CURSOR_OF_OTHER_QUERY: {
    kind: 'invalid',
    meaning: 'The cursor belongs to another table, order, filter or search.'
  },
  BODY_NOT_ALLOWED: { kind: 'invalid', meaning: 'The route takes no body.' },
  CONFIRMATION_REQUIRED: { kind: 'invalid', meaning: 'The request needs `confirm=true`.' },
  TABLE_NOT_IMPORTABLE: {
    kind: 'invalid',
    meaning:
      'The name is reserved, or belongs to a virtual table, a table without a usable key or a view that SQLite cannot prepare.'
  },
  CONSTRAINT_VIOLATION: {
    kind: 'invalid',
    meaning: 'The record violates a NOT NULL, CHECK or type rule of the table.'
  },
  IMPORT_FAILED: {
    kind: 'invalid',
    meaning:
      'Records of the file are wrong; `details` lists the first 100, and `total` counts all. Nothing was imported.'
  },
  BACKUP_INVALID: {
    kind: 'invalid',
    meaning: 'The uploaded file is not an intact backup of this or an older Rowhouse. It was not kept.'
  },
  TWO_CREDENTIALS: {
    kind: 'invalid',
    meaning: 'The request has an admin key and a session cookie. Send one of them.'
  },
  NOT_INCREMENTABLE: { kind: 'invalid', meaning: 'The field is not numeric, is the key, or is read-only.' },

  AUTHENTICATION_REQUIRED: {
    kind: 'unauthenticated',
    meaning: 'The session cookie is missing or invalid, or the session has ended.'
  },
  INVALID_CREDENTIALS: { kind: 'unauthenticated', meaning: 'The name or the password is wrong.' },
  INVALID_TOKEN: {
    kind: 'unauthenticated',
    meaning: 'The bearer token is missing, malformed, unknown, inactive, expired, or not accepted from this address.'
  },
  INVALID_ADMIN_KEY: {
    kind: 'unauthenticated',
    meaning: 'The admin key is malformed, unknown or expired.'
  },

  CROSS_SITE_REQUEST: {
    kind: 'forbidden',
    meaning: 'A page of another origin sent the request, and CORS_ORIGIN does not list this origin.'
  },
  ACTION_NOT_ALLOWED: {
    kind: 'forbidden',
    meaning: 'The permissions of the token do not include the action or the table.'
  },
  ADMIN_KEY_NOT_ALLOWED: {
    kind: 'forbidden',
    meaning: 'The scopes of the admin key do not include the call, or no admin key can make it.'
  },
  ROW_NOT_ALLOWED: {
    kind: 'forbidden',
    meaning: 'The record would have values that the role of the key does not permit. Nothing was changed.'
  },
  TABLE_READ_ONLY: {
    kind: 'forbidden',
    meaning: 'The table is a view, or tokens can only read it: `isEditable` is false.'
  },
  PASSWORD_CHANGE_REQUIRED: {
    kind: 'forbidden',
    meaning: 'The administrator must change the password first: PUT /auth/password.'
  },
  WRONG_PASSWORD: { kind: 'forbidden', meaning: 'The old password is wrong.' },
  OWN_PASSWORD: { kind: 'forbidden', meaning: 'Administrators change their own password with PUT /auth/password.' },

  ROUTE_NOT_FOUND: { kind: 'not-found', meaning: 'There is no route with this path.' },
  TABLE_NOT_FOUND: {
    kind: 'not-found',
    meaning: 'There is no table with this name or id, or a token requested a table that is not published.'
  },
  RECORD_NOT_FOUND: { kind: 'not-found', meaning: 'There is no record with this primary key.' },
  FIELD_NOT_FOUND: { kind: 'not-found', meaning: 'The table has no field with this name.' },
  INDEX_NOT_FOUND: { kind: 'not-found', meaning: 'The table has no index with this name.' },
  ROLE_NOT_FOUND: { kind: 'not-found', meaning: 'There is no role with this id or name.' },
  ROLE_EXISTS: { kind: 'conflict', meaning: 'Another role has this name.' },
  ROLE_IN_USE: { kind: 'conflict', meaning: 'Tokens have this role, so it cannot be deleted.' },
  TOKEN_NOT_FOUND: { kind: 'not-found', meaning: 'There is no token with this id.' },
  ADMIN_KEY_NOT_FOUND: { kind: 'not-found', meaning: 'There is no admin key with this id.' },
  SESSION_NOT_FOUND: { kind: 'not-found', meaning: 'You have no session with this id.' },
  ADMIN_NOT_FOUND: { kind: 'not-found', meaning: 'There is no administrator with this id.' },
  BACKUP_NOT_FOUND: { kind: 'not-found', meaning: 'There is no backup with this name.' },

  METHOD_NOT_ALLOWED: {
    kind: 'method-not-allowed',
    meaning: 'The path does not have this method. The header Allow lists its methods.'
  },
  REQUEST_TIMEOUT: { kind: 'timeout', meaning: 'The request did not arrive in time.' },

  TABLE_EXISTS: { kind: 'conflict', meaning: 'The name is already used in the database.' },
  TABLE_REGISTERED: { kind: 'conflict', meaning: 'The table is already registered.' },
  TABLE_CHANGED: { kind: 'conflict', meaning: 'The table was changed concurrently. Try again.' },
  STRUCTURE_CHANGED: {
    kind: 'conflict',
    meaning:
      'Rowhouse cannot use the stored table as it is registered: another program has changed it, the table depends on another program, or SQLite cannot compute a view.'
  },
  TABLE_UNUSABLE: {
    kind: 'conflict',
    meaning: 'The registration of the table cannot be read. Unregister the table, then import it again.'
  },
  NOT_REPLICABLE: {
    kind: 'conflict',
    meaning:
      'The nodes of the cluster would store different values, because of a default, a trigger or the key of the table. It can only be read.'
  },
  FIELD_EXISTS: {
    kind: 'conflict',
    meaning: 'The table already has a field with this name. For a token: the name is taken or reserved.'
  },
  NOT_ON_CLUSTER: {
    kind: 'conflict',
    meaning: 'The service serves a cluster, for which another program does this. Nothing was changed.'
  },
  RIGHTS_CONFLICT: {
    kind: 'conflict',
    meaning:
      'Grants or permissions that were set for another table or field use the new name already, or two grants of a role name the same table and action. Nothing was changed.'
  },
  STRUCTURE_IN_USE: {
    kind: 'conflict',
    meaning:
      'A key, a foreign key, an index, a CHECK, a trigger or a view depends on the table or field, so it cannot change this way.'
  },
  VALUES_DO_NOT_FIT: { kind: 'conflict', meaning: 'Stored values do not fit the new definition of the field.' },
  TABLE_TOO_LARGE: {
    kind: 'conflict',
    meaning: 'The change would rewrite more rows than other writes can wait for.'
  },
  INDEX_EXISTS: { kind: 'conflict', meaning: 'The table already has an index with these fields.' },
  INDEX_NOT_OURS: { kind: 'conflict', meaning: 'Only an index that was created through the API can be deleted.' },
  ADMIN_EXISTS: { kind: 'conflict', meaning: 'There is already an administrator with this name.' },
  LAST_ADMIN: { kind: 'conflict', meaning: 'The last administrator cannot be deleted.' },
  UNIQUE_VIOLATION: { kind: 'conflict', meaning: 'A value that must be unique is taken.' },
  FOREIGN_KEY_VIOLATION: {
    kind: 'conflict',
    meaning: 'A foreign key would refer to a record that does not exist.'
  },
  IMPORT_STOPPED: {
    kind: 'conflict',
    meaning: 'The import ended after some of its records were stored. The message has their number and the reason.'
  },
  INCREMENT_OVERFLOW: {
    kind: 'conflict',
    meaning: 'The field holds no number, or the sum does not fit the field. Nothing was changed.'
  },
  AGGREGATE_OVERFLOW: {
    kind: 'conflict',
    meaning: 'A sum of integers exceeds 64 bits. Send a filter that matches fewer records, or compute `avg`.'
  },
  TOO_MANY_AFFECTED: { kind: 'conflict', meaning: 'The filter matches more records than `maxAffected`.' },
  FILTER_NOT_INDEXED: {
    kind: 'conflict',
    meaning: 'No index serves the filter of an update or delete, and the table is too large to be scanned.'
  },
  REFERENCE_NOT_INDEXED: {
    kind: 'conflict',
    meaning:
      'Other records may refer to the ones to change, and no index finds them. The hint has the index that an administrator can create.'
  },
  IDEMPOTENCY_KEY_IN_FLIGHT: {
    kind: 'conflict',
    meaning: 'An earlier request with this Idempotency-Key is still running. See Retry-After.'
  },
  SETTING_FIXED: {
    kind: 'conflict',
    meaning: 'A variable or an option of the command line sets the setting. Change it there, and restart the service.'
  },
  BACKUP_RUNNING: {
    kind: 'conflict',
    meaning: 'Another backup is being made or restored. Wait until GET /admin/backups shows no progress.'
  },
  IMPORT_RUNNING: {
    kind: 'conflict',
    meaning: 'A file is being imported. Wait until it is done, then restore the backup.'
  },
  REFUSED_BY_TRIGGER: { kind: 'conflict', meaning: 'A trigger of the database refused or ignored the change.' },

  PRECONDITION_FAILED: {
    kind: 'precondition',
    meaning:
      'The record is not in the state that `If-Match` or `If-None-Match` requires. Nothing was changed. Read it again.'
  },
  TOO_MUCH_WORK: {
    kind: 'too-large',
    meaning:
      'The changes of the request would hold up other writes for too long. Nothing was changed. Send less in each request.'
  },
  TOO_MANY_OPERATIONS: { kind: 'too-large', meaning: 'The batch has more than 1,000 operations.' },
  RESULTS_TOO_LARGE: {
    kind: 'too-large',
    meaning: 'The records that the batch returns have more than 8 MiB together. Nothing was changed.'
  },
  BODY_TOO_LARGE: {
    kind: 'too-large',
    meaning: 'The body is larger than BODY_LIMIT. The body of a login is limited to 32 KiB.'
  },
  PATH_TOO_LONG: {
    kind: 'too-long',
    meaning: 'The key in the path has more than 8,192 characters, or the URL without the key more than 16,384.'
  },
  UNSUPPORTED_MEDIA_TYPE: {
    kind: 'unsupported',
    meaning:
      'The body does not have the content type of the route, application/json for most, or it has a content encoding.'
  },
  IDEMPOTENCY_KEY_REUSED: {
    kind: 'unprocessable',
    meaning:
      'The Idempotency-Key belongs to a request with another method, URL or body, or the fields that the caller can see have changed since.'
  },
  RANGE_NOT_SATISFIABLE: { kind: 'range', meaning: 'The file has none of the bytes that `Range` names.' },
  TOO_MANY_ATTEMPTS: { kind: 'throttled', meaning: 'Too many logins have failed. See Retry-After.' },
  TOO_MANY_REQUESTS: {
    kind: 'throttled',
    meaning: 'The token, or the network without a credential, has sent more requests than its limit. See Retry-After.'
  },
  HEADERS_TOO_LARGE: { kind: 'headers-too-large', meaning: 'The request headers are too large.' },

  INTERNAL_ERROR: {
    kind: 'internal',
    meaning: 'The service failed to handle the request. Its log has the cause under `requestId`.'
  },
  DATABASE_BUSY: { kind: 'unavailable', meaning: 'Another program has locked the database. See Retry-After.' },
  STORAGE_UNAVAILABLE: {
    kind: 'unavailable',
    meaning: 'The disk failed during a read or a write, or the cluster cannot be reached. See Retry-After.'
  },
  OVERLOADED: { kind: 'unavailable', meaning: 'The service has too much work, or is stopping. See Retry-After.' },
  KEYS_UNAVAILABLE: {
    kind: 'unavailable',
    meaning: 'The bearer is a JWT, and the keys of its issuer cannot be fetched. See Retry-After.'
  },
  RESTORE_RUNNING: {
    kind: 'unavailable',
    meaning: 'A backup is being restored. Nothing can be changed until this is done. See Retry-After.'
  },
  OUTCOME_UNKNOWN: {
    kind: 'unavailable',
    meaning:
      'The service or the cluster failed while the change was in flight: the change may have been stored. Send the request again only with its Idempotency-Key, or read the stored data first.'
  },
  SCAN_TIMEOUT: {
    kind: 'unavailable',
    meaning:
      'The search or the view took longer than 30 s and was stopped. A retry would take as long: narrow the search.'
  },
  DISK_FULL: { kind: 'disk-full', meaning: 'The disk is full. Nothing was changed.' }
} as const satisfies Record<string, { kind: ErrorKind; meaning: string }>

export type ErrorCode = keyof typeof errorCatalogue

const codes = Object.keys(errorCatalogue) as ErrorCode[]

/** Returns the codes with their meanings, as a list in Markdown. */
export const listOfCodes = (listed: readonly ErrorCode[]) =>
  listed.map((code) => `- \`${code}\`: ${errorCatalogue[code].meaning}`).join('\n')

const ErrorDetailSchema = Type.Object(
  {
    path: Type.String({
      description: 'JSON Pointer to the value in the body, or `/` and the name of the parameter.',
      examples: ['/price']
    }),
    code: Type.String({
      description: 'The violated rule: type, required, unknown, format, range, readonly, …',
      examples: ['type']
    }),
    message: Type.String({ description: 'What is wrong with the value.', examples: ["'price' must be a number."] }),
    line: Type.Optional(
      Int32({
        description: 'Only of an import: the line where the record begins. The header is line 1.',
        examples: [3]
      })
    ),
    record: Type.Optional(
      Int32({
        description: 'Only of an import of a JSON array, instead of `line`: the number of the record, from 1.',
        examples: [3]
      })
    ),
    column: Type.Optional(
      Type.String({ description: 'Only of an import: the name of the field in the file.', examples: ['price'] })
    )
  },
  { title: 'ErrorDetail', description: 'A value of the request that is wrong.', ...strict }
)
export type ErrorDetail = Static<typeof ErrorDetailSchema>

const ErrorCodeSchema = Type.Unsafe<ErrorCode>({
  type: 'string',
  title: 'ErrorCode',
  enum: codes,
  description: `Programs can rely on it. A later version can add codes.\n\n${listOfCodes(codes)}`,
  examples: ['RECORD_NOT_FOUND']
})

const ErrorInfoSchema = Type.Object(
  {
    code: ErrorCodeSchema,
    message: Type.String({
      description: 'What went wrong, as a sentence.',
      examples: ["There is no record with the primary key '7'."]
    }),
    details: Type.Optional(
      Type.Array(ErrorDetailSchema, {
        description: 'The values that are wrong, at most 20; of an import, at most 100.'
      })
    ),
    total: Type.Optional(
      Int64({ description: 'Only of an import: the number of all errors that were found.', examples: [3] })
    ),
    hint: Type.Optional(
      Type.String({ description: 'What to do about the failure.', examples: ['Send the request again later.'] })
    ),
    requestId: Type.String({
      description: 'Identifies the request in the log.',
      examples: ['5b0c7f0e-9c1d-4a55-8a3e-2f6d1f0c9b77']
    })
  },
  { title: 'ErrorInfo', description: 'The failure.', ...strict }
)

export const ErrorSchema = Type.Object(
  { success: Type.Boolean({ description: 'false: the request failed.', examples: [false] }), error: ErrorInfoSchema },
  { title: 'ErrorResponse', ...strict, description: 'The body of every failure.' }
)
export type ErrorBody = Static<typeof ErrorSchema>
