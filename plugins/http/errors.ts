import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type ErrorBody, statusOf } from '../../schemas/error.ts'
import { DomainError, excerpt } from '../../services/model/errors.ts'
import { answerDue, wasAnsweredEarly } from './exchanges.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

export const notJson = () =>
  new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Bodies must be application/json.', {
    hint: 'Send the header Content-Type: application/json.'
  })

/** Failures that Fastify and Node find before a handler runs, by their own codes. */
const frameworkErrors: Record<string, () => DomainError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new DomainError('BODY_TOO_LARGE', 'The body is larger than this route takes.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: notJson,
  FST_ERR_BAD_URL: () => new DomainError('MALFORMED_REQUEST', 'The path is not valid percent-encoded UTF-8.'),
  ECONNRESET: () => new DomainError('MALFORMED_REQUEST', 'The connection ended before the body did.'),
  FST_ERR_MAX_PARAM_LENGTH: () => new DomainError('PATH_TOO_LONG', 'A part of the path is too long.')
}

export const routeNotFound = ({ method, url }: FastifyRequest) => {
  const [path = ''] = url.split('?')
  return new DomainError('ROUTE_NOT_FOUND', `There is no route ${method} ${excerpt(path)}.`, {
    hint: 'GET /openapi.json lists every route; /docs shows it.'
  })
}

const internal = () =>
  new DomainError('INTERNAL_ERROR', 'Something went wrong on our side.', {
    hint: 'The log of the service has the cause under this requestId.'
  })

/** `expose` is the word of http-errors, in which static files refuse a path, for what the caller may be told. */
type Thrown = FastifyError & { readonly expose?: boolean }

/** Fastify has more codes than are listed above, and new versions bring others. */
const isCallersFault = ({ code, expose = false, statusCode = 500 }: Thrown) =>
  (expose || String(code).startsWith('FST_')) && statusCode >= 400 && statusCode < 500

const toDomainError = (error: Thrown | DomainError): DomainError => {
  if (error instanceof DomainError) return error
  const known = frameworkErrors[error.code]
  if (known) return known()
  return isCallersFault(error) ? new DomainError('MALFORMED_REQUEST', 'The request cannot be read.') : internal()
}

const toBody = ({ code, message, details, hint }: DomainError, requestId: string): ErrorBody => ({
  success: false,
  error: { code, message, ...(details && { details: [...details] }), ...(hint !== undefined && { hint }), requestId }
})

const sendError = (thrown: Thrown | DomainError, request: FastifyRequest, reply: FastifyReply) => {
  const error = toDomainError(thrown)
  if (error.code === 'INTERNAL_ERROR') request.log.error({ err: thrown }, 'A request failed.')
  // RFC 6750, 3: a 401 names the kind of credential.
  if (error.code === 'INVALID_TOKEN') reply.header('www-authenticate', 'Bearer')
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter))
  return reply
    .code(statusOf[error.kind])
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(toBody(error, request.id)))
}

/** For failures before routing, where no hook or error handler runs. A Fastify constructor option. */
export const onFrameworkError = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
  // Node reads the rest of a packet, also where the connection has been ended amid it.
  if (request.raw.socket.destroyed) return void reply.hijack()
  sendError(error, request, reply.headers(SECURITY_HEADERS))
}

/** What goes out where there is no reply: on a bare response, or on a socket. */
const bareAnswer = (failure: DomainError) => {
  const body = JSON.stringify(toBody(failure, 'none'))
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close'
  }
  return { status: statusOf[failure.kind], headers, body }
}

/** An `Expect` that is not 100-continue; Node's own answer would be bare. */
const onExpectation = (_request: IncomingMessage, response: ServerResponse) => {
  const failure = new DomainError('MALFORMED_REQUEST', 'The only expectation that can be met is 100-continue.')
  const { status, headers, body } = bareAnswer(failure)
  response.writeHead(status, headers).end(body)
}

const clientError = (code: string | undefined) => {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new DomainError('REQUEST_TIMEOUT', 'The request did not arrive in time.')
  if (code === 'HPE_HEADER_OVERFLOW') return new DomainError('HEADERS_TOO_LARGE', 'The request headers are too large.')
  return new DomainError('MALFORMED_REQUEST', 'This is not a valid HTTP request.')
}

/** Connections on which bytes have come that are no request. */
const broken = new WeakSet<Socket>()

/**
 * For bytes that never became a request: the parser's errors, answered on the socket. A Fastify constructor option.
 * Answers to whole requests before them go out first, and then speak for themselves. The socket is closed on both
 * sides: the rest of a request that was refused as late must not be carried out.
 */
export const onClientError = (error: NodeJS.ErrnoException, socket: Socket) => {
  if (error.code === 'ECONNRESET' || !socket.writable || wasAnsweredEarly(socket)) return socket.destroy()
  // Node tells of the same error with all that comes behind it.
  if (broken.has(socket)) return
  broken.add(socket)
  const due = answerDue(socket)
  if (due) return due.once('close', () => socket.destroy())
  const { status, headers, body } = bareAnswer(clientError(error.code))
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.write([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'))
  socket.destroySoon()
}

export default fp(
  async (fastify) => {
    fastify.server.on('checkExpectation', onExpectation)
    fastify.setErrorHandler(sendError)
    fastify.setNotFoundHandler(async (request) => {
      throw routeNotFound(request)
    })
  },
  { name: 'errors' }
)
