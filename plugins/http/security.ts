import type { IncomingMessage } from 'node:http'
import cors, { type FastifyCorsOptions } from '@fastify/cors'
import underPressure from '@fastify/under-pressure'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError, excerpt, overloaded } from '../../services/model/errors.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers although the service is overloaded. */
    evenUnderPressure?: boolean
  }
}

export interface SecurityOptions {
  /** Milliseconds that a turn of the event loop may be late on average before requests are refused. */
  readonly maxEventLoopDelay?: number
}

const MAX_EVENT_LOOP_DELAY_MS = 1000
const PREFLIGHT_LIFE_S = 600

const setHeaders = (_request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => {
  reply.headers(SECURITY_HEADERS)
  done()
}

/** Characters that a URL may have beside a key: a query takes fewer, and so does an imported table's name, encoded. */
const LONGEST_URL = 16 * 1024

/** A key has a limit of its own. The router, too, takes either of these characters for the end of the path. */
const withoutKey = (url: string, route: string | undefined) =>
  route?.endsWith('/:pk') ? url.replace(/^[^?#]*/, '') : url

/** Before anything looks into it: what takes a path apart may take far longer than the path is long. */
const refuseLongUrl = (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) => {
  const { url } = request
  if (url.length > LONGEST_URL && withoutKey(url, request.routeOptions.url).length > LONGEST_URL) {
    throw new DomainError('PATH_TOO_LONG', `The URL has more than ${LONGEST_URL} characters, beside a key.`)
  }
  done()
}

/** A name or an address, and perhaps a port (RFC 3986, 3.2.2). */
const HOST = /^(?:\[[\w:.%~-]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d*)?$/

const isHost = (name: string) => name.length === 4 && name.toLowerCase() === 'host'

/** Every Host header: Node keeps the first one only. */
const hostsOf = ({ rawHeaders }: IncomingMessage) =>
  rawHeaders.filter((_, index) => index % 2 === 1 && isHost(rawHeaders[index - 1] as string))

/** RFC 9112, 3.2. Programs that speak HTTP/1.0 need none. */
const refuseWithoutHost = ({ raw }: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) => {
  // Two of them make none.
  const host = hostsOf(raw).join(' ')
  const isNeeded = host !== '' || raw.httpVersion !== '1.0'
  if (isNeeded && !HOST.test(host)) {
    throw new DomainError('MALFORMED_REQUEST', 'The request has no Host header, more than one, or one that is no host.')
  }
  done()
}

/** We inflate nothing, so that no small body becomes a large one. Node passes over codings that it does not know. */
const refuseEncodedBody = ({ headers }: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) => {
  const transfer = headers['transfer-encoding']
  if (transfer && transfer.toLowerCase() !== 'chunked') {
    throw new DomainError('MALFORMED_REQUEST', `The transfer coding '${excerpt(transfer)}' is not known; 'chunked' is.`)
  }
  const encoding = headers['content-encoding']
  if (encoding && encoding.toLowerCase() !== 'identity') {
    throw new DomainError(
      'UNSUPPORTED_MEDIA_TYPE',
      `Bodies are taken as they are, not encoded as '${excerpt(encoding)}'.`,
      {
        hint: 'Leave Content-Encoding out.'
      }
    )
  }
  done()
}

const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined

/** Any other OPTIONS request is answered as without CORS: 405, with the methods that there are. */
const corsFor = (origins: readonly string[]) => {
  const options: FastifyCorsOptions = {
    origin: [...origins],
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type'],
    exposedHeaders: ['Allow', 'Content-Disposition', 'Retry-After', 'WWW-Authenticate'],
    maxAge: PREFLIGHT_LIFE_S
  }
  const withoutPreflight = { ...options, preflight: false }
  return {
    delegator: (request: FastifyRequest, use: (error: null, chosen: FastifyCorsOptions) => void) =>
      use(null, isPreflight(request) ? options : withoutPreflight)
  }
}

const refuseUnlessVital = ({ routeOptions }: FastifyRequest) => {
  if (routeOptions.config.evenUnderPressure) return
  throw overloaded('More work is under way than the service can take. Try again.', 1)
}

/** Registered before anything that adds routes or hooks: what it sets and refuses holds for all of them. */
export default fp<SecurityOptions>(
  async (fastify, { maxEventLoopDelay = MAX_EVENT_LOOP_DELAY_MS }) => {
    const { CORS_ORIGIN } = fastify.config

    fastify.addHook('onRequest', setHeaders)
    fastify.addHook('onRequest', refuseLongUrl)
    fastify.addHook('onRequest', refuseWithoutHost)
    if (CORS_ORIGIN.length > 0) await fastify.register(cors, corsFor(CORS_ORIGIN))
    await fastify.register(underPressure, { maxEventLoopDelay, pressureHandler: refuseUnlessVital })
    fastify.addHook('onRequest', refuseEncodedBody)
  },
  { name: 'security' }
)
