import { STATUS_CODES } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { type ErrorCode, ErrorSchema, errorCatalogue, statusOf } from '../../schemas/error.ts'

type Json = Readonly<Record<string, unknown>>

interface Operation {
  readonly operationId?: string
  readonly security?: readonly Json[]
  readonly requestBody?: Json
  readonly responses: Json
}

/** What @fastify/swagger makes of the routes, as far as it is completed here. */
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

/** Failures that follow from what an operation does rather than from its form. */
const extraStatuses: Record<string, readonly number[]> = {
  logIn: [401, 403, 429],
  changeMyPassword: [429],
  importTable: [404],
  // A sort that does not fit in memory needs room on the disk.
  listRecords: [507],
  listTableRecords: [507],
  exportRecords: [507]
}

const isSecured = ({ security = [] }: Operation) => security.length > 0

/** What changes something can collide; what reads a stored table can find it of another structure than registered. */
const canConflict = (path: string, changes: boolean) =>
  changes
    ? /^\/(admin\/(tables|admins)|data)/.test(path)
    : /^\/data\/\{table\}(?!\/schema)|^\/admin\/tables\/\{id\}\//.test(path)

const statusesOf = (path: string, method: string, operation: Operation): readonly number[] => {
  const changes = method !== 'get'
  const answers: readonly (readonly [boolean, readonly number[]])[] = [
    [true, [400, 500, 503]],
    [isSecured(operation), [401, 403]],
    [path.includes('{'), [404, 414]],
    [canConflict(path, changes), [409]],
    // A body may come along even where none is taken.
    [changes, [408, 413, 415, 507]],
    [true, extraStatuses[operation.operationId ?? ''] ?? []]
  ]
  return answers.flatMap(([applies, statuses]) => (applies ? statuses : []))
}

/** Which credential an area takes. There is one kind for each, and none opens another. */
const securityOf = (path: string): readonly Json[] => {
  if (path.startsWith('/data')) return [{ token: [] }]
  if (path === '/auth/login' || !/^\/(admin|auth)/.test(path)) return []
  return [{ session: [] }]
}

/** @fastify/swagger describes a response that says nothing of itself in words that say nothing either. */
const describe = (responses: Json) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      isObject(response) && response.description === 'Default Response'
        ? { ...response, description: 'Done.' }
        : response
    ])
  )

const completeOperation = (path: string, method: string, operation: Operation): Operation => {
  const secured = { ...operation, security: operation.security ?? securityOf(path) }
  const errors = statusesOf(path, method, secured).map(
    (status) => [status, { $ref: `#/components/responses/${responseName(status)}` }] as const
  )
  return { ...secured, responses: { ...describe(operation.responses), ...Object.fromEntries(errors) } }
}

/** A schema has a type; a property that happens to be called `title` has none beside it. */
const isNamedSchema = (value: Json): value is Json & { readonly title: string } =>
  typeof value.title === 'string' && 'type' in value

/** Puts each schema with a title among the components and a reference in its place. */
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

/** What the routes do not say themselves: the failures and the credentials of each operation, and names for shapes. */
export const completeDocument = <T extends OpenapiDocument>(document: T): T => {
  const schemas: Record<string, unknown> = {}
  nameSchemas([ErrorSchema, document.components.schemas], schemas)
  const paths = Object.entries(document.paths).map(([path, operations]) => {
    const completed = Object.entries(operations).map(([method, operation]) => [
      method,
      completeOperation(path, method, operation)
    ])
    return [path, nameSchemas(Object.fromEntries(completed), schemas)]
  })
  return {
    ...document,
    paths: sorted(Object.fromEntries(paths)),
    components: { ...document.components, responses: errorResponses, schemas: sorted(schemas) }
  }
}
