import { STATUS_CODES } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { type ErrorCode, ErrorSchema, errorCatalogue, listOfCodes, statusOf } from '../../schemas/error.ts'
import type { Credential } from '../../schemas/operation-errors.ts'

type Json = Readonly<Record<string, unknown>>

interface Operation {
  readonly operationId?: string
  readonly security?: readonly Json[]
  readonly requestBody?: Json
  readonly responses: Json
  readonly [CREDENTIAL_KEY]: Credential
  readonly [CODES_KEY]: readonly ErrorCode[]
}

/** The parts of @fastify/swagger's document that `completeDocument` reads. */
export interface OpenapiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas?: Json } & Json
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

const statusOfCode = (code: ErrorCode) => statusOf[errorCatalogue[code].kind]

const codesOf = (status: number) =>
  (Object.keys(errorCatalogue) as ErrorCode[]).filter((code) => statusOfCode(code) === status)

const retryAfter = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } }

const headerOf: Record<number, Json> = {
  401: { 'WWW-Authenticate': { description: '`Bearer`, for routes under /data.', schema: { type: 'string' } } },
  405: { Allow: { description: 'The methods of this path, separated by commas.', schema: { type: 'string' } } },
  429: retryAfter,
  503: retryAfter
}

/** `Not Found` becomes `NotFound`. */
const responseName = (status: number) => String(STATUS_CODES[status]).replaceAll(/\W/g, '')

const errorResponse = (status: number) => ({
  description: `${STATUS_CODES[status]}.\n\n${listOfCodes(codesOf(status))}`,
  ...(headerOf[status] && { headers: headerOf[status] }),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
})

const errorStatuses = [...new Set(Object.values(statusOf))].sort((a, b) => a - b)
const errorResponses = Object.fromEntries(errorStatuses.map((status) => [responseName(status), errorResponse(status)]))

/** The security requirement of an operation, by its credential. */
const SECURITY: Readonly<Record<Credential, readonly Json[]>> = {
  none: [],
  token: [{ token: [] }],
  session: [{ session: [] }],
  administrator: [{ session: [] }]
}

/** Keys of an operation that contain the route's declarations. Only the codes stay in the document. */
export const CREDENTIAL_KEY = 'x-credential'
export const CODES_KEY = 'x-error-codes'

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
    security: SECURITY[credential],
    responses: { ...describe(operation.responses), ...Object.fromEntries(errors) }
  }
}

/** Returns false for an object of properties, of which one may be named `title`. */
const isNamedSchema = (value: Json): value is Json & { readonly title: string } =>
  typeof value.title === 'string' && 'type' in value

/** Moves each schema with a title to `schemas` and puts a reference in its place. */
const nameSchemas = (value: unknown, schemas: Record<string, unknown>): unknown => {
  if (Array.isArray(value)) return value.map((item) => nameSchemas(item, schemas))
  if (!isObject(value)) return value
  const { $id: _, ...schema } = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, nameSchemas(item, schemas)])
  )
  if (!isNamedSchema(value)) return schema
  const known = schemas[value.title]
  if (known !== undefined && !isDeepStrictEqual(known, schema)) {
    throw new Error(`Two different schemas have the title '${value.title}'.`)
  }
  schemas[value.title] = schema
  return { $ref: `#/components/schemas/${value.title}` }
}

const sorted = (named: Json) => Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)))

/**
 * Returns the document with the error responses and the security of each operation, from the routes' declarations, and
 * with each titled schema as a component.
 */
export const completeDocument = <T extends OpenapiDocument>(document: T): T => {
  const schemas: Record<string, unknown> = {}
  nameSchemas([ErrorSchema, document.components.schemas], schemas)
  const paths = Object.entries(document.paths).map(([path, operations]) => {
    const completed = Object.entries(operations).map(([method, operation]) => [method, completeOperation(operation)])
    return [path, nameSchemas(Object.fromEntries(completed), schemas)]
  })
  return {
    ...document,
    paths: sorted(Object.fromEntries(paths)),
    components: { ...document.components, responses: errorResponses, schemas: sorted(schemas) }
  }
}
