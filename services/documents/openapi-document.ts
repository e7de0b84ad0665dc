import { STATUS_CODES } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { type ErrorCode, ErrorSchema, errorCatalogue, statusOf } from '../../schemas/error.ts'
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

/** The part of @fastify/swagger's document that is completed here. */
export interface OpenapiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas?: Json } & Json
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

const codesOf = (status: number) =>
  Object.entries(errorCatalogue).filter(([, { kind }]) => statusOf[kind] === status) as [
    ErrorCode,
    { meaning: string }
  ][]

const headerOf: Record<number, Json> = {
  401: { 'WWW-Authenticate': { description: '`Bearer`, on /data.', schema: { type: 'string' } } },
  405: { Allow: { description: 'The methods that there are.', schema: { type: 'string' } } },
  429: { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } } },
  503: { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } } }
}

/** `Not Found` becomes `NotFound`. */
const responseName = (status: number) => String(STATUS_CODES[status]).replaceAll(/\W/g, '')

const errorResponse = (status: number) => ({
  description: `${STATUS_CODES[status]}. ${codesOf(status)
    .map(([code, { meaning }]) => `\`${code}\`: ${meaning}`)
    .join(' ')}`,
  ...(headerOf[status] && { headers: headerOf[status] }),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
})

const errorStatuses = [...new Set(Object.values(statusOf))].sort((a, b) => a - b)
const errorResponses = Object.fromEntries(errorStatuses.map((status) => [responseName(status), errorResponse(status)]))

/** The security of an operation with each credential. No credential opens another's operations. */
const SECURITY: Readonly<Record<Credential, readonly Json[]>> = {
  none: [],
  token: [{ token: [] }],
  session: [{ session: [] }],
  administrator: [{ session: [] }]
}

/** Extensions of an operation by which the routes pass their declarations; only the codes stay in the document. */
export const CREDENTIAL_KEY = 'x-credential'
export const CODES_KEY = 'x-error-codes'

const statusesOf = (codes: readonly ErrorCode[]) => [
  ...new Set(codes.map((code) => statusOf[errorCatalogue[code].kind]).sort((one, other) => one - other))
]

/** Replaces the placeholder of @fastify/swagger for responses without a description. */
const describe = (responses: Json) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      isObject(response) && response.description === 'Default Response'
        ? { ...response, description: 'Done.' }
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

/** Tells a schema with a title from an object with a property named `title`. */
const isNamedSchema = (value: Json): value is Json & { readonly title: string } =>
  typeof value.title === 'string' && 'type' in value

/** Moves each schema with a title to the components and leaves a reference. */
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

/** Adds the failures and the security of each operation, from the routes' declarations, and names for schemas. */
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
