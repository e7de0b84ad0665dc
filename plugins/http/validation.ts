import type { TSchema } from '@sinclair/typebox'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import fastJson from 'fast-json-stringify'
import type { FastifyReply, FastifyRequest, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import fp from 'fastify-plugin'
import type { ErrorDetail } from '../../schemas/error.ts'
import { phraseOf } from '../../schemas/phrases.ts'
import { DomainError, excerpt, invalid, pointer } from '../../services/model/errors.ts'
import { parserOf } from './body.ts'
import { notJson } from './errors.ts'
import { findFault, parseJson, refuse } from './json-body.ts'

const detailCodes: Record<string, string> = {
  type: 'type',
  enum: 'enum',
  required: 'required',
  additionalProperties: 'unknown',
  pattern: 'format',
  minimum: 'range',
  maximum: 'range',
  minLength: 'length',
  maxLength: 'length',
  minItems: 'length',
  maxItems: 'length',
  minProperties: 'required'
}

/** Ajv names the object that lacks or has too many keys; a caller wants the key itself. */
const keyOf = ({ keyword, params }: ErrorObject): string | undefined => {
  if (keyword === 'required') return params.missingProperty
  if (keyword === 'additionalProperties') return params.additionalProperty
  return undefined
}

const says = (error: ErrorObject, path: string) => {
  if (error.keyword === 'minProperties') return 'There is nothing to change.'
  const name = path === '' ? 'The body' : `'${path.slice(1)}'`
  return `${name} ${phraseOf(error)}.`
}

const toDetail = (error: ErrorObject): ErrorDetail => {
  const key = keyOf(error)
  const path = error.instancePath + (key === undefined ? '' : pointer(excerpt(key)))
  return { path, code: detailCodes[error.keyword] ?? 'invalid', message: says(error, path) }
}

/**
 * What path, query and header text may stand for, by the type that its schema declares; how large it may be is the
 * schema's to say. Anything else stays text.
 */
const convert = (type: unknown, text: unknown) => {
  if (typeof text !== 'string') return text
  if (type === 'integer' && /^(?:0|-?[1-9]\d{0,14})$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

const validateText = (schema: TSchema) => {
  const types = Object.entries<{ type?: string }>(schema.properties).map(([name, { type }]) => [name, type] as const)
  return (value: Record<string, unknown>) => {
    for (const [name, type] of types) {
      const text = value[name]
      if (text === undefined) continue
      const fault = findFault(text)
      if (fault) throw refuse({ ...fault, below: pointer(name) })
      value[name] = convert(type, text)
    }
  }
}

/**
 * Bodies are checked as they were sent, text parts after a strict conversion: Fastify's stock coercion turns null into
 * "" or 0 and drops unknown keys silently. Compiled by the first request that needs it: see `serializerCompiler`.
 */
const validatorCompiler = (ajv: Ajv): FastifySchemaCompiler<TSchema> => {
  return ({ schema, httpPart }) => {
    let validate: ValidateFunction | undefined
    const prepare = httpPart === 'body' ? () => {} : validateText(schema)
    return (value: unknown) => {
      try {
        prepare(value as Record<string, unknown>)
        validate ??= ajv.compile(schema)
        return validate(value) ? { value } : { error: invalid((validate.errors as ErrorObject[]).map(toDetail)) }
      } catch (error) {
        return { error: error as Error }
      }
    }
  }
}

/** What Fastify does, but for a route's first answer rather than at start: that is a fifth of a cold start. */
const serializerCompiler: FastifySerializerCompiler<Parameters<typeof fastJson>[0]> = ({ schema }) => {
  let serialize: ReturnType<typeof fastJson> | undefined
  return (answer) => {
    serialize ??= fastJson(schema)
    return serialize(answer)
  }
}

/** Schemas are made by TypeBox: checking them against their meta-schema costs more than all else that Ajv does. */
const AJV_OPTIONS = { strict: false, meta: false, validateSchema: false } as const

/** A Fastify constructor option (`schemaController`): without it, Fastify loads compilers of its own at start. */
export const compilers = {
  compilersFactory: {
    // The boundary to types that allow for Fastify's own compilers only.
    buildValidator: () => validatorCompiler(new Ajv(AJV_OPTIONS)) as never,
    buildSerializer: () => serializerCompiler as never
  }
}

const isEmptyObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0

const bodyNotAllowed = () => new DomainError('BODY_NOT_ALLOWED', 'This route takes no body.')

/** Routes that take no body accept none, an empty one, or {}. */
const refuseBody = (body: unknown) => {
  if (body === undefined || isEmptyObject(body)) return
  throw bodyNotAllowed()
}

/** Of another type than JSON. */
const refuseContent = ({ length }: Buffer) => {
  if (length > 0) throw notJson()
}

/**
 * The body of a GET or HEAD is never read. What is announced as no longer than {} may be just that; more is refused.
 */
const refuseUnreadBody = ({ method, headers }: FastifyRequest, reply: FastifyReply) => {
  if (!['GET', 'HEAD'].includes(method)) return
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= '{}'.length) return
  reply.header('connection', 'close')
  throw bodyNotAllowed()
}

/** Routes that take no query parameters have no schema that could refuse them. */
const refuseQuery = (query: unknown) => {
  const names = Object.keys(query as object)
  if (names.length === 0) return
  throw invalid(
    names
      .map(excerpt)
      .map((name) => ({ path: pointer(name), code: 'unknown', message: `'${name}' is not known here.` }))
  )
}

/** The router decodes the path; the query parser would leave what it cannot decode as it is. */
const refuseUndecodable = (url: string) => {
  try {
    decodeURIComponent(url.slice(url.indexOf('?') + 1))
  } catch {
    throw new DomainError('MALFORMED_REQUEST', 'The query is not valid percent-encoded UTF-8.')
  }
}

export default fp(
  async (fastify) => {
    fastify.removeAllContentTypeParsers()
    fastify.addContentTypeParser('application/json', parserOf(parseJson))
    fastify.addContentTypeParser('*', parserOf(refuseContent))

    fastify.addHook('preValidation', (request, reply, done) => {
      const { url, body, query, routeOptions } = request
      const { schema } = routeOptions
      if (url.includes('%')) refuseUndecodable(url)
      if (schema?.operationId !== undefined) {
        if (schema.body === undefined) refuseBody(body)
        refuseUnreadBody(request, reply)
        if (schema.querystring === undefined) refuseQuery(query)
      }
      done()
    })
  },
  { name: 'validation' }
)
