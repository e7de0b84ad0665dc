import type { IncomingMessage } from 'node:http'
import cors, { type FastifyCorsOptions } from '@fastify/cors'
import underPressure from '@fastify/under-pressure'
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { originsOf } from '../../config.ts'
import { DomainError, excerpt, overloaded } from '../../services/model/errors.ts'
import { setCommonHeaders } from './security-headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route responds even if the service is overloaded. */
    evenUnderPressure?: boolean
    /** The route takes a body that is compressed with gzip. */
    takesGzip?: boolean
  }
}

export interface SecurityOptions {
  /** Mean delay of the event loop, in milliseconds, above which requests are refused. */
  readonly maxEventLoopDelay?: number
}

const MAX_EVENT_LOOP_DELAY_MS = 1000
const PREFLIGHT_MAX_AGE_S = 600

const setHeaders = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => {
  setCommonHeaders(request, reply)
  done()
}

/** Characters, without a key. Enough for every query, and for the encoded name of any imported table. */
const MAX_URL_LENGTH = 16 * 1024

/** A key has its own limit. The router also ends the path at the first ? or #. */
const withoutKey = (url: string, route: string | undefined) =>
  route?.includes('/:pk') ? url.replace(/^[^?#]*/, '') : url

/** Runs before any code parses the path, which may take more than linear time. */
const refuseLongUrl = (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) => {
  const { url } = request
  if (url.length > MAX_URL_LENGTH && withoutKey(url, request.routeOptions.url).length > MAX_URL_LENGTH) {
    throw new DomainError('PATH_TOO_LONG', `The URL has more than ${MAX_URL_LENGTH} characters, not counting a key.`)
  }
  done()
}

/** A name or an address, with an optional port (RFC 3986, 3.2.2). */
const HOST = /^(?:\[[\w:.%~-]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d*)?$/

const isHost = (name: string) => name.length === 4 && name.toLowerCase() === 'host'

/** Returns all Host headers: `headers.host` contains the first one only. */
const hostsOf = ({ rawHeaders }: IncomingMessage) =>
  rawHeaders.filter((_, index) => index % 2 === 1 && isHost(rawHeaders[index - 1] as string))

/** Requires exactly one valid Host header (RFC 9112, 3.2). It is optional in HTTP/1.0. */
const refuseInvalidHost = ({ raw }: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) => {
  // Two joined hosts do not match HOST.
  const host = hostsOf(raw).join(' ')
  const isRequired = raw.httpVersion !== '1.0'
  if ((isRequired || host !== '') && !HOST.test(host)) {
    throw new DomainError('MALFORMED_REQUEST', 'The request must have exactly one Host header, with a valid host.')
  }
  done()
}

/** Codings of a body that a route takes. */
const codingsOf = ({ routeOptions }: FastifyRequest) =>
  routeOptions.config.takesGzip ? ['identity', 'gzip'] : ['identity']

/** Only files are decompressed: a small body could become a large one. Node ignores unknown codings. */
const refuseEncodedBody = (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) => {
  const { headers } = request
  const transfer = headers['transfer-encoding']
  if (transfer && transfer.toLowerCase() !== 'chunked') {
    throw new DomainError(
      'MALFORMED_REQUEST',
      `The transfer coding '${excerpt(transfer)}' is not supported. Use 'chunked'.`
    )
  }
  const encoding = headers['content-encoding']
  if (encoding && !codingsOf(request).includes(encoding.toLowerCase())) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', `The content encoding '${excerpt(encoding)}' is not supported.`, {
      hint: 'Send the body without encoding, and without the header Content-Encoding. An import also takes gzip.'
    })
  }
  done()
}

const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined

/** OPTIONS requests that are not preflights get the same response as without CORS: 405 with `Allow`. */
const corsOptions = (origins: string[]) => {
  const options: FastifyCorsOptions = {
    origin: origins,
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'Authorization',
      'Content-Encoding',
      'Content-Type',
      'Idempotency-Key',
      'If-Match',
      'If-None-Match'
    ],
    exposedHeaders: [
      'Allow',
      'Content-Disposition',
      'ETag',
      'Idempotency-Replayed',
      'Location',
      'RateLimit',
      'RateLimit-Policy',
      'Retry-After',
      'WWW-Authenticate',
      'X-Request-Id'
    ],
    maxAge: PREFLIGHT_MAX_AGE_S
  }
  return { options, withoutPreflight: { ...options, preflight: false } }
}

type CorsHook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void

/**
 * Returns the instance for the plugin of CORS. Its hook runs only if `isNeeded` returns true. Its route, which responds to
 * OPTIONS of every path, is not added: hooks run without a route, too.
 */
const instanceForCors = (fastify: FastifyInstance, isNeeded: () => boolean): FastifyInstance =>
  Object.create(fastify, {
    addHook: {
      value: (name: 'onRequest', hook: CorsHook) =>
        fastify.addHook(name, (request, reply, done) => (isNeeded() ? hook(request, reply, done) : done()))
    },
    options: { value: () => {} }
  })

/** Adds CORS for the current origins. Without any, the hook of the library does not run: it costs each request time. */
const addCors = (fastify: FastifyInstance) => {
  const { settings } = fastify
  let chosen = corsOptions(originsOf(settings.get('corsOrigins')))
  settings.onChange('corsOrigins', (list) => {
    chosen = corsOptions(originsOf(list))
  })
  const delegator = (request: FastifyRequest, callback: (error: null, chosen: FastifyCorsOptions) => void) =>
    callback(null, isPreflight(request) ? chosen.options : chosen.withoutPreflight)
  cors(
    instanceForCors(fastify, () => settings.get('corsOrigins') !== ''),
    { delegator },
    () => {}
  )
}

const refuseUnderPressure = ({ routeOptions }: FastifyRequest) => {
  if (routeOptions.config.evenUnderPressure) return
  throw overloaded('The service is overloaded. Try again later.', 1)
}

/** Must be registered before all other plugins with routes, because its hooks must run for every route. */
export default fp<SecurityOptions>(
  async (fastify, { maxEventLoopDelay = MAX_EVENT_LOOP_DELAY_MS }) => {
    fastify.addHook('onRequest', setHeaders)
    fastify.addHook('onRequest', refuseLongUrl)
    fastify.addHook('onRequest', refuseInvalidHost)
    addCors(fastify)
    await fastify.register(underPressure, { maxEventLoopDelay, pressureHandler: refuseUnderPressure })
    fastify.addHook('onRequest', refuseEncodedBody)
  },
  { name: 'security' }
)
