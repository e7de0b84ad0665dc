import { readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

/** The part of JSON Schema that the document uses for requests. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
}

interface Parameter {
  readonly in: 'path' | 'query'
  readonly name: string
  readonly schema: Schema
}

interface Response {
  readonly $ref?: string
  readonly description?: string
  readonly headers?: Readonly<Record<string, object>>
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

interface DocumentedOperation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, Response>>
  readonly security: readonly Readonly<Record<string, unknown>>[]
}

interface Document {
  readonly info: { readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>
  readonly components: Readonly<
    Record<'schemas', Record<string, Schema>> & Record<'responses', Record<string, Response>>
  >
}

export interface Operation extends DocumentedOperation {
  readonly method: string
  /** Parameters are in braces: `/data/{table}`. */
  readonly path: string
}

/** The document in the repository. Tests run at its root. */
const document: Document = JSON.parse(readFileSync('openapi.json', 'utf8'))
const ROOT = 'https://rowhouse.test/openapi.json'

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(document, ROOT)

export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path }))
)

export const resolve = (schema: Schema): Schema => {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (document.components.schemas[name] as Schema)
}

export const bodyOf = ({ requestBody }: Operation) => requestBody?.content['application/json']?.schema

interface Exchange {
  readonly method: string
  /** The path and the query, as sent. */
  readonly target: string
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

const pathOf = (target: string) => target.split(/[?#]/, 1)[0] as string

const decoded = (segment: string) => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Returns a test for operations whose path matches. A parameter matches any single segment, also an empty one. */
const matchesPath = (path: string) => {
  const segments = pathOf(path).split('/').map(decoded)
  return ({ path: template }: Operation) => {
    const parts = template.split('/')
    return parts.length === segments.length && parts.every((part, i) => part.startsWith('{') || part === segments[i])
  }
}

const sharedResponse = (status: number): Response | undefined =>
  document.components.responses[String(STATUS_CODES[status]).replaceAll(/\W/g, '')]

/** Returns the statuses that the description of the document lists for any request. */
const readGeneralStatuses = () => {
  const [, sentence = ''] = /any request can (?:also )?get (.*?)\.$/is.exec(document.info.description) ?? []
  return new Set((sentence.match(/\b\d{3}\b/g) ?? []).map(Number))
}

const GENERAL_STATUSES = readGeneralStatuses()

const follow = (response: Response): Response =>
  response.$ref === undefined
    ? response
    : (document.components.responses[response.$ref.split('/').at(-1) as string] as Response)

/** Returns the documented response, or undefined where the document has none for this exchange. */
const documentedResponse = ({ method, target, status }: Exchange): Response | undefined => {
  const candidates = operations.filter(matchesPath(target))
  const called = candidates.filter((operation) => operation.method === (method === 'HEAD' ? 'GET' : method))
  const listed = called.map(({ responses }) => responses[status]).find((response) => response !== undefined)
  if (listed) return follow(listed)
  // In general, only a path outside the document may respond 404.
  return GENERAL_STATUSES.has(status) && (status !== 404 || candidates.length === 0)
    ? sharedResponse(status)
    : undefined
}

const validators = new WeakMap<object, ValidateFunction>()

const validatorOf = (schema: Schema) => {
  const cached = validators.get(schema)
  if (cached) return cached
  const text = JSON.stringify(schema).replaceAll('"#/components/', `"${ROOT}#/components/`)
  const validate = ajv.compile(JSON.parse(text))
  validators.set(schema, validate)
  return validate
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const codeFault = (code: unknown, { description = '' }: Response) =>
  typeof code === 'string' && !description.includes(`\`${code}\``)
    ? `the code ${code} is not documented for this status`
    : undefined

const bodyFault = (exchange: Exchange, { content = {}, ...response }: Response): string | undefined => {
  if (exchange.status === 304) return exchange.body === '' ? undefined : 'the 304 has a body'
  const type = String(exchange.headers['content-type']).split(';', 1)[0] as string
  const schema = content[type]?.schema
  if (!schema) return `the content type ${type} is not documented`
  if (type !== 'application/json') return undefined
  const body = parse(exchange.body)
  const validate = validatorOf(schema)
  if (!validate(body)) return `the body does not match its schema: ${ajv.errorsText(validate.errors)}`
  return exchange.status === 200 ? undefined : codeFault((body as { error: { code: unknown } }).error.code, response)
}

/**
 * Whether a documented header is always sent. WWW-Authenticate is documented for every 401, but sent under /data only.
 * Generated requests are not repeated. The tag of a change depends on its parameters, and `Location` on the key.
 */
const isRequired = (name: string, { method, target }: Exchange) => {
  if (name === 'WWW-Authenticate') return target.startsWith('/data')
  if (name === 'ETag') return method === 'GET' || method === 'HEAD'
  return name !== 'Idempotency-Replayed' && name !== 'Location'
}

const headerFault = (exchange: Exchange, response: Response) => {
  const documented = Object.keys(response.headers ?? {}).filter((name) => isRequired(name, exchange))
  const missing = documented.find((name) => exchange.headers[name.toLowerCase()] === undefined)
  return missing && `the header ${missing} is missing`
}

/** Pages are not described in the document: `/`, the console and the documentation. */
const isPage = (target: string) => /^\/(?:[?#]|$)|^\/(?:console|docs)(?:[/?#]|$)/.test(target)

/** Returns how a response differs from the document, or undefined. Any 5xx is a fault. */
export const faultOf = (exchange: Exchange): string | undefined => {
  if (exchange.status >= 500) return `the status is ${exchange.status}`
  if (isPage(exchange.target)) return undefined
  const response = documentedResponse(exchange)
  if (!response) return `the status ${exchange.status} is not documented`
  const fault = headerFault(exchange, response)
  return fault ?? (exchange.method === 'HEAD' ? undefined : bodyFault(exchange, response))
}
