import { hash } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { AdminScope } from '../../schemas/admin-key.ts'
import { DOCUMENTED_KEY } from '../../schemas/documented.ts'
import { type ErrorCode, ErrorSchema, errorCatalogue, listOfCodes, statusOf } from '../../schemas/error.ts'
import type { Credential } from '../../schemas/operation-errors.ts'
import { withExamples } from './examples.ts'
import { isObject, type Json } from './json.ts'

interface Operation {
  readonly operationId?: string
  readonly security?: readonly Json[]
  readonly requestBody?: Json
  readonly responses: Json
  readonly [CREDENTIAL_KEY]: Credential
  readonly [CODES_KEY]: readonly ErrorCode[]
  readonly [SCOPE_KEY]?: AdminScope
}

/** The parts of @fastify/swagger's document that `completeDocument` reads. */
export interface OpenapiDocument {
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas?: Json } & Json
}

const statusOfCode = (code: ErrorCode) => statusOf[errorCatalogue[code].kind]

const codesOf = (status: number) =>
  (Object.keys(errorCatalogue) as ErrorCode[]).filter((code) => statusOfCode(code) === status)

const retryAfter = {
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', format: 'int32' }, example: 2 }
}

const headerOf: Record<number, Json> = {
  401: {
    'WWW-Authenticate': {
      description: '`Bearer`, for routes under /data, for /metrics and for an invalid admin key.',
      schema: { type: 'string' },
      example: 'Bearer'
    }
  },
  405: {
    Allow: {
      description: 'The methods of this path, separated by commas.',
      schema: { type: 'string' },
      example: 'GET, HEAD, POST'
    }
  },
  412: {
    ETag: {
      description: 'The tag that the record has now. Only for callers that can read it.',
      schema: { type: 'string' },
      example: '"sMPYLLsQHLbLbZGfPGUWwA"'
    }
  },
  429: retryAfter,
  503: retryAfter
}

/** `Not Found` becomes `NotFound`. */
const responseName = (status: number) => String(STATUS_CODES[status]).replaceAll(/\W/g, '')

/** The most frequent code of a status, for its example. Of the others, the first of the catalogue. */
const frequentCodes: Readonly<Record<number, ErrorCode>> = {
  401: 'INVALID_TOKEN',
  403: 'ACTION_NOT_ALLOWED',
  404: 'RECORD_NOT_FOUND',
  409: 'UNIQUE_VIOLATION'
}

const REQUEST_ID = '5b0c7f0e-9c1d-4a55-8a3e-2f6d1f0c9b77'
const details = [{ path: '/price', code: 'type', message: "'price' must be a number." }]

const errorExample = (code: ErrorCode) => ({
  success: false,
  error: {
    code,
    message: errorCatalogue[code].meaning,
    ...(code === 'VALIDATION_FAILED' && { details }),
    requestId: REQUEST_ID
  }
})

const errorContent = (code: ErrorCode) => ({
  'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' }, example: errorExample(code) }
})

const errorResponse = (status: number) => {
  const codes = codesOf(status)
  return {
    description: `${STATUS_CODES[status]}.\n\n${listOfCodes(codes)}`,
    ...(headerOf[status] && { headers: headerOf[status] }),
    content: errorContent(frequentCodes[status] ?? (codes[0] as ErrorCode))
  }
}

/** For failures that an operation does not list: see the description of the document. */
const OTHER = 'OtherFailure'
const otherFailure = {
  description: 'Any other failure. The description of the document lists those of every request.',
  content: errorContent('REQUEST_TIMEOUT')
}

const errorStatuses = [...new Set(Object.values(statusOf))].sort((a, b) => a - b)
const errorResponses = {
  ...Object.fromEntries(errorStatuses.map((status) => [responseName(status), errorResponse(status)])),
  [OTHER]: otherFailure
}

/** The security requirement of an operation, by its credential. */
const SECURITY: Readonly<Record<Credential, readonly Json[]>> = {
  none: [],
  token: [{ token: [] }],
  metrics: [{ metricsToken: [] }],
  session: [{ session: [] }],
  administrator: [{ session: [] }]
}

/** Keys of an operation that contain the route's declarations. The codes and the scope stay in the document. */
export const CREDENTIAL_KEY = 'x-credential'
export const CODES_KEY = 'x-error-codes'
/** The scope that an admin key needs. An operation without one accepts no admin key. */
export const SCOPE_KEY = 'x-scope'

const statusesOf = (codes: readonly ErrorCode[]) => [
  ...new Set(codes.map(statusOfCode).sort((one, other) => one - other))
]

/** Replaces the description that @fastify/swagger sets where a route has none. */
const describe = (responses: Json) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      isObject(response) && response.description === 'Default Response'
        ? { ...response, description: 'Success.' }
        : response
    ])
  )

const completeOperation = (operation: Operation) => {
  const { [CREDENTIAL_KEY]: credential, ...documented } = operation
  const errors = statusesOf(operation[CODES_KEY]).map(
    (status) => [status, { $ref: `#/components/responses/${responseName(status)}` }] as const
  )
  return {
    ...documented,
    security: [...SECURITY[credential], ...(operation[SCOPE_KEY] === undefined ? [] : [{ adminKey: [] }])],
    responses: {
      ...describe(operation.responses),
      ...Object.fromEntries(errors),
      default: { $ref: `#/components/responses/${OTHER}` }
    }
  }
}

/** Returns false for an object of properties, of which one may be named `title`. */
const isNamedSchema = (value: Json): value is Json & { readonly title: string } =>
  typeof value.title === 'string' && 'type' in value

/** Moves each schema with a title to `schemas` and puts a reference in its place. See `documentedAs` for other ones. */
const nameSchemas = (value: unknown, schemas: Record<string, unknown>): unknown => {
  if (Array.isArray(value)) return value.map((item) => nameSchemas(item, schemas))
  if (!isObject(value)) return value
  if (value[DOCUMENTED_KEY] !== undefined) return nameSchemas(value[DOCUMENTED_KEY], schemas)
  const schema = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, nameSchemas(item, schemas)]))
  if (!isNamedSchema(value)) return schema
  const known = schemas[value.title]
  if (known !== undefined && !isDeepStrictEqual(known, schema)) {
    throw new Error(`Two different schemas have the title '${value.title}'.`)
  }
  schemas[value.title] = schema
  return { $ref: `#/components/schemas/${value.title}` }
}

const sorted = (named: Json) => Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Returns the paths with their completed operations, and adds their schemas to `schemas`. */
const completeOperations = ({ paths }: OpenapiDocument, schemas: Record<string, unknown>) =>
  Object.entries(paths).map(([path, operations]) => {
    const completed = Object.entries(operations).map(([method, operation]) => [method, completeOperation(operation)])
    return [path, nameSchemas(Object.fromEntries(completed), schemas)]
  })

/** Appends a digest of the content to the version, so that a pipeline notices every change. */
const withDigest = <T extends OpenapiDocument>(document: T): T => ({
  ...document,
  info: {
    ...document.info,
    version: `${document.info.version}+${hash('sha256', JSON.stringify(document)).slice(0, 8)}`
  }
})

/**
 * Returns the document with the error responses and the security of each operation, from the routes' declarations, with
 * each titled schema as a component, and with examples of all bodies.
 */
export const completeDocument = <T extends OpenapiDocument>(document: T): T => {
  const schemas: Record<string, unknown> = {}
  nameSchemas([ErrorSchema, document.components.schemas], schemas)
  const paths = sorted(Object.fromEntries(completeOperations(document, schemas)))
  return withDigest({
    ...document,
    paths: withExamples(paths, schemas),
    components: { ...document.components, responses: errorResponses, schemas: sorted(schemas) }
  })
}
