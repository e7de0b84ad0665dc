import { readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

/** As much of JSON Schema as the document uses for what is sent. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
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
  /** With its parameters in braces. */
  readonly path: string
}

/** What the service has committed to: tests run at the root of the repository. */
const document: Document = JSON.parse(readFileSync('openapi.json', 'utf8'))
const ROOT = 'https://rowhouse.test/openapi.json'

const ajv = new Ajv2020({ strict: false })
ajv.addSchema(document, ROOT)

export const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path }))
)

export const resolve = (schema: Schema): Schema => {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (document.components.schemas[name] as Schema)
}

export const bodyOf = ({ requestBody }: Operation) => requestBody?.content['application/json']?.schema

export interface Exchange {
  readonly method: string
  /** As it was sent, the query behind it. */
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

/** A parameter stands for any one segment, an empty one too. */
const leadsTo = (path: string) => {
  const segments = pathOf(path).split('/').map(decoded)
  return ({ path: template }: Operation) => {
    const parts = template.split('/')
    return parts.length === segments.length && parts.every((part, i) => part.startsWith('{') || part === segments[i])
  }
}

const shared = (status: number): Response | undefined =>
  document.components.responses[String(STATUS_CODES[status]).replaceAll(/\W/g, '')]

/** The statuses that any request can get: the document says so in its description. */
const anywhere = () => {
  const [, sentence = ''] = /any request can get (.*?)\.$/s.exec(document.info.description) ?? []
  return new Set((sentence.match(/\b\d{3}\b/g) ?? []).map(Number))
}

const ANYWHERE = anywhere()

const follow = (response: Response): Response =>
  response.$ref === undefined
    ? response
    : (document.components.responses[response.$ref.split('/').at(-1) as string] as Response)

/** The response that the document has for this answer; none where the answer is outside the document. */
const documented = ({ method, target, status }: Exchange): Response | undefined => {
  const path = operations.filter(leadsTo(target))
  const called = path.filter((operation) => operation.method === (method === 'HEAD' ? 'GET' : method))
  const listed = called.map(({ responses }) => responses[status]).find((response) => response !== undefined)
  if (listed) return follow(listed)
  // 404 is for paths that are not listed.
  return ANYWHERE.has(status) && (status !== 404 || path.length === 0) ? shared(status) : undefined
}

const validators = new WeakMap<object, ValidateFunction>()

const validatorOf = (schema: Schema) => {
  const known = validators.get(schema)
  if (known) return known
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
    ? `the code ${code} is none of this status`
    : undefined

const bodyFault = (exchange: Exchange, { content = {}, ...response }: Response): string | undefined => {
  const type = String(exchange.headers['content-type']).split(';', 1)[0] as string
  const schema = content[type]?.schema
  if (!schema) return `the content type ${type} is not documented`
  if (type !== 'application/json') return undefined
  const body = parse(exchange.body)
  const validate = validatorOf(schema)
  if (!validate(body)) return `the body has another form: ${ajv.errorsText(validate.errors)}`
  return exchange.status === 200 ? undefined : codeFault((body as { error: { code: unknown } }).error.code, response)
}

/** Of the headers that a response promises, those that every such answer needs. */
const headerFault = ({ target, headers }: Exchange, response: Response) => {
  const promised = Object.keys(response.headers ?? {}).filter(
    (name) => name !== 'WWW-Authenticate' || target.startsWith('/data')
  )
  const missing = promised.find((name) => headers[name.toLowerCase()] === undefined)
  return missing && `the header ${missing} is missing`
}

/** The pages that show the document are no part of it. */
const isShown = (target: string) => /^\/docs(?:[/?#]|$)/.test(target)

/** How an answer differs from what the document says; undefined where it does not. A 5xx always does. */
export const faultOf = (exchange: Exchange): string | undefined => {
  if (exchange.status >= 500) return `the status is ${exchange.status}`
  if (isShown(exchange.target)) return undefined
  const response = documented(exchange)
  if (!response) return `the status ${exchange.status} is not documented`
  const fault = headerFault(exchange, response)
  return fault ?? (exchange.method === 'HEAD' ? undefined : bodyFault(exchange, response))
}
