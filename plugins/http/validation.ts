import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { knownName } from '../../schemas/other-names.ts'
import { DomainError, excerpt, invalid, pointer } from '../../services/model/errors.ts'
import { BODY_DIGEST, createBodyParser } from './body-parser.ts'
import { notJson, pathOf } from './errors.ts'
import { parseJson } from './json-body.ts'
import { createLargeBodies } from './large-bodies.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Maximum number of keys, objects and arrays of the body. */
    maxParts?: number
  }
}

const isEmptyObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0

const bodyNotAllowed = () => new DomainError('BODY_NOT_ALLOWED', 'This route takes no body.')

/** Routes without a body schema accept no body, an empty body, or {}. */
const refuseBody = (body: unknown) => {
  if (body === undefined || isEmptyObject(body)) return
  throw bodyNotAllowed()
}

/** Parses a body that is not JSON: only an empty one is accepted. */
const refuseContent = ({ length }: Buffer) => {
  if (length > 0) throw notJson()
}

/** Fastify never reads the body of a GET or HEAD. One that is no longer than {} is ignored; others are refused. */
const refuseUnreadBody = ({ method, headers }: FastifyRequest, reply: FastifyReply) => {
  if (!['GET', 'HEAD'].includes(method)) return
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= '{}'.length) return
  reply.header('connection', 'close')
  throw bodyNotAllowed()
}

const PROJECTION = ['fields', 'expand']

const queryHint = (request: FastifyRequest) => {
  const path = excerpt(pathOf(request).replace(/\/(?:records|data)\/[^/]*$/, '/query'))
  return `A query chooses and expands fields: POST ${path} with {"filter": {"where": {"id": {"eq": 1}}}, "fields": […], "expand": […]}, where \`id\` is the key.`
}

/** Refuses every query parameter, for routes without a query schema. */
const refuseQuery = (request: FastifyRequest) => {
  const names = Object.keys(request.query as object)
  if (names.length === 0) return
  const isForRecord = request.routeOptions.url?.endsWith('/:pk') && names.some((name) => knownName(name, PROJECTION))
  throw invalid(
    names.map(excerpt).map((name) => ({
      path: pointer(name),
      code: 'unknown',
      message: `'${name}' is unknown. This route takes no query.`
    })),
    isForRecord ? queryHint(request) : undefined
  )
}

/** Fastify's query parser keeps invalid percent-encoding as text. The router decodes the path itself. */
const refuseUndecodableQuery = (url: string) => {
  try {
    decodeURIComponent(url.slice(url.indexOf('?') + 1))
  } catch {
    throw new DomainError('MALFORMED_REQUEST', 'The query is not valid percent-encoded UTF-8.')
  }
}

export default fp(
  async (fastify) => {
    fastify.decorateRequest(BODY_DIGEST, null)
    fastify.decorate('largeBodies', createLargeBodies())
    fastify.removeAllContentTypeParsers()
    fastify.addContentTypeParser(
      'application/json',
      createBodyParser((bytes, { routeOptions }) => parseJson(bytes, routeOptions.config))
    )
    fastify.addContentTypeParser('*', createBodyParser(refuseContent))

    fastify.addHook('preValidation', (request, reply, done) => {
      const { url, body, routeOptions } = request
      const { schema } = routeOptions
      if (url.includes('%')) refuseUndecodableQuery(url)
      if (schema?.operationId !== undefined) {
        if (schema.body === undefined) refuseBody(body)
        refuseUnreadBody(request, reply)
        if (schema.querystring === undefined) refuseQuery(request)
      }
      done()
    })
  },
  { name: 'validation' }
)
