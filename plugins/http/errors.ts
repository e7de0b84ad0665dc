import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { BACKUP_TYPE } from '../../schemas/backup.ts'
import { type ErrorBody, type ErrorCode, statusOf } from '../../schemas/error.ts'
import { otherPaths } from '../../schemas/other-names.ts'
import { DomainError, excerpt } from '../../services/model/errors.ts'
import { createFailureLog, type Failure, type FailureLog } from './failure-log.ts'
import { arrivingFiles, hasEarlyResponse, latestPendingResponse } from './pending-requests.ts'
import { createRequestIds, REQUEST_ID_HEADER } from './request-id.ts'
import { SECURITY_HEADERS, setCommonHeaders } from './security-headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Precedes the message of a 5xx in the log. */
    failurePrefix?: string
  }
  interface FastifyInstance {
    failures: FailureLog
    /** Error responses since the start, and responses that ended because the client disconnected. */
    errorCounts: { refused: number; failed: number; aborted: number }
  }
  interface FastifyRequest {
    [ERROR_CODE]: ErrorCode | null
  }
}

/** The code of the error that was sent. */
export const ERROR_CODE: unique symbol = Symbol('error code')

export const notJson = () =>
  new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json.', {
    hint: 'Send the header Content-Type: application/json.'
  })

export const notAFile = () =>
  new DomainError(
    'UNSUPPORTED_MEDIA_TYPE',
    'The body must be text/csv, application/x-ndjson or application/json, in UTF-8.',
    {
      hint: 'Send the header Content-Type: text/csv, or another of these types. For a gzip file, also send Content-Encoding: gzip.'
    }
  )

export const notABackup = () =>
  new DomainError('UNSUPPORTED_MEDIA_TYPE', `The body must be ${BACKUP_TYPE}.`, {
    hint: `Send the header Content-Type: ${BACKUP_TYPE}. For a gzip file, also send Content-Encoding: gzip.`
  })

export const bodyTooLarge = () => new DomainError('BODY_TOO_LARGE', 'The body is larger than this route allows.')

/** Errors that Fastify and Node throw before a handler runs, by their codes. */
const frameworkErrors: Record<string, () => DomainError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: bodyTooLarge,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: notJson,
  FST_ERR_BAD_URL: () => new DomainError('MALFORMED_REQUEST', 'The path is not valid percent-encoded UTF-8.'),
  ECONNRESET: () => new DomainError('MALFORMED_REQUEST', 'The connection closed before the body was complete.'),
  FST_ERR_MAX_PARAM_LENGTH: () => new DomainError('PATH_TOO_LONG', 'A segment of the path is too long.')
}

/** Returns the path without the query, which may contain secrets. */
export const pathOf = ({ url }: FastifyRequest) => url.split('?', 1)[0] as string

/** Returns the route that does what a similar path suggests. It follows from the path alone, so it reveals no table. */
export const hintOfPath = (request: FastifyRequest, others: typeof otherPaths): string | undefined => {
  const { method } = request
  const path = pathOf(request)
  const other = others.find(({ methods, sent }) => methods.includes(method) && sent.test(path))
  if (!other) return undefined
  const { sent, path: otherPath, note = '' } = other
  return `Use ${method} ${excerpt(path.replace(sent, otherPath))}. ${note}`.trimEnd()
}

export const routeNotFound = (request: FastifyRequest) =>
  new DomainError('ROUTE_NOT_FOUND', `There is no route ${request.method} ${excerpt(pathOf(request))}.`, {
    hint: hintOfPath(request, otherPaths) ?? 'GET /openapi.json lists all routes; /docs shows them.'
  })

const rangeNotSatisfiable = () =>
  new DomainError('RANGE_NOT_SATISFIABLE', 'The file has none of the bytes that Range names.', {
    hint: 'Send a Range within the file, or none.'
  })

const internalError = () =>
  new DomainError('INTERNAL_ERROR', 'The service failed to handle the request.', {
    hint: 'Search the log of the service for this requestId.'
  })

/** `expose` is the flag of http-errors, which @fastify/static throws, for errors that the client may see. */
export type Thrown = FastifyError & { readonly expose?: boolean }

/** Covers the codes of Fastify that are not listed above, and those of future versions. */
const isClientError = ({ code, expose = false, statusCode = 500 }: Thrown) =>
  (expose || String(code).startsWith('FST_')) && statusCode >= 400 && statusCode < 500

const toDomainError = (error: Thrown | DomainError): DomainError => {
  if (error instanceof DomainError) return error
  const frameworkError = frameworkErrors[error.code]
  if (frameworkError) return frameworkError()
  if (error.statusCode === 416) return rangeNotSatisfiable()
  return isClientError(error) ? new DomainError('MALFORMED_REQUEST', 'The request cannot be read.') : internalError()
}

const toBody = ({ code, message, details, total, hint }: DomainError, requestId: string): ErrorBody => ({
  success: false,
  error: {
    code,
    message,
    ...(details && { details: [...details] }),
    ...(total !== undefined && { total }),
    ...(hint !== undefined && { hint }),
    requestId
  }
})

export interface ErrorsOptions {
  /** Returns the id of a request that Fastify does not receive. */
  readonly createRequestId?: ReturnType<typeof createRequestIds>
}

/** Characters of the cause of a 500 that distinguish it from other causes. */
const MAX_CAUSE = 200

const toFailure = (thrown: Thrown | DomainError, error: DomainError, request: FastifyRequest): Failure => {
  const { id: requestId, method } = request
  const { failurePrefix: prefix = '' } = request.routeOptions.config
  const fields = { code: error.code, requestId, method, path: excerpt(pathOf(request)) }
  if (error.code === 'INTERNAL_ERROR') {
    const key = prefix + `${thrown.name}: ${thrown.message}`.slice(0, MAX_CAUSE)
    return { level: 'error', key, message: `${prefix}A request failed.`, fields: { ...fields, err: thrown } }
  }
  const cause = error.cause === undefined ? {} : { cause: error.cause }
  return { level: 'warn', key: prefix + error.code, message: prefix + error.message, fields: { ...fields, ...cause } }
}

/** A client that has disconnected is not an overload. */
const isAborted = ({ code }: DomainError, { raw }: FastifyRequest) => code === 'OVERLOADED' && raw.socket.destroyed

const isFailureOfService = (error: DomainError, request: FastifyRequest) =>
  statusOf[error.kind] >= 500 && !isAborted(error, request)

const outcomeOf = (error: DomainError, request: FastifyRequest) => {
  if (isAborted(error, request)) return 'aborted'
  return statusOf[error.kind] < 500 ? 'refused' : 'failed'
}

/** Returns the error that ended an import with IMPORT_STOPPED; for others the error itself. */
const originOf = (thrown: Thrown | DomainError): Thrown | DomainError =>
  thrown instanceof DomainError && thrown.cause instanceof Error ? (thrown.cause as Thrown) : thrown

/** Returns the error that the client may see. Logs a 5xx, and one that is the cause of another error. */
export const reportFailure = (thrown: Thrown | DomainError, request: FastifyRequest) => {
  const error = toDomainError(thrown)
  request[ERROR_CODE] = error.code
  const origin = originOf(thrown)
  const failure = toDomainError(origin)
  if (isFailureOfService(failure, request)) request.server.failures.record(toFailure(origin, failure, request))
  return error
}

const sendError = (thrown: Thrown | DomainError, request: FastifyRequest, reply: FastifyReply) => {
  const error = reportFailure(thrown, request)
  request.server.errorCounts[outcomeOf(error, request)] += 1
  // RFC 6750, 3: a 401 names the expected kind of credential.
  if (error.code === 'INVALID_TOKEN' || error.code === 'INVALID_ADMIN_KEY') reply.header('www-authenticate', 'Bearer')
  if (error.etag !== undefined) reply.header('etag', error.etag)
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter))
  // The rest of the request may never arrive.
  if (error.code === 'REQUEST_TIMEOUT') reply.header('connection', 'close')
  return reply
    .code(statusOf[error.kind])
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(toBody(error, request.id)))
}

/** Sends errors from before routing, where no hook and no error handler runs. A Fastify constructor option. */
export const onFrameworkError = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
  // Node parses the rest of a packet even after the connection was destroyed.
  if (request.raw.socket.destroyed) return void reply.hijack()
  setCommonHeaders(request, reply)
  sendError(error, request, reply)
}

/**
 * Returns an error response for places without a Fastify reply: a bare `ServerResponse`, or a socket, which has no
 * request id.
 */
const toRawResponse = (error: DomainError, requestId?: string) => {
  const body = JSON.stringify(toBody(error, requestId ?? 'none'))
  const headers = {
    ...SECURITY_HEADERS,
    ...(requestId !== undefined && { [REQUEST_ID_HEADER]: requestId }),
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close'
  }
  return { status: statusOf[error.kind], headers, body }
}

/** Handles an `Expect` header other than 100-continue, to which Node itself responds without a body. */
const refuseExpectation = (response: ServerResponse, requestId: string) => {
  const error = new DomainError('MALFORMED_REQUEST', 'The header Expect must be 100-continue, or absent.')
  const { status, headers, body } = toRawResponse(error, requestId)
  response.writeHead(status, headers).end(body)
}

const parserError = (code: string | undefined) => {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new DomainError('REQUEST_TIMEOUT', 'The request did not arrive in time.')
  if (code === 'HPE_HEADER_OVERFLOW') return new DomainError('HEADERS_TOO_LARGE', 'The request headers are too large.')
  return new DomainError('MALFORMED_REQUEST', 'This is not a valid HTTP request.')
}

/** Connections with a parse error that has been handled. */
const failedConnections = new WeakSet<Socket>()

/**
 * Writes errors of Node's HTTP parser to the socket. A Fastify constructor option.
 * If responses to earlier requests are pending, they are sent instead of the error. The socket is then closed in both
 * directions: the rest of a request that was refused for a timeout must not run.
 */
export const onClientError = (error: NodeJS.ErrnoException, socket: Socket) => {
  if (error.code === 'ECONNRESET' || !socket.writable || hasEarlyResponse(socket)) return socket.destroy()
  // Node reports a request that is late once, and then no longer limits its time.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && arrivingFiles.has(socket)) return
  // Node reports the same error again for each packet that follows.
  if (failedConnections.has(socket)) return
  failedConnections.add(socket)
  const pending = latestPendingResponse(socket)
  if (pending) return pending.once('close', () => socket.destroy())
  const { status, headers, body } = toRawResponse(parserError(error.code))
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.write([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'))
  socket.destroySoon()
}

export default fp<ErrorsOptions>(
  async (fastify, { createRequestId = createRequestIds('') }) => {
    fastify.decorate('errorCounts', { refused: 0, failed: 0, aborted: 0 })
    fastify.decorate('failures', createFailureLog(fastify.log))
    fastify.addHook('onClose', async () => fastify.failures.close())
    fastify.decorateRequest(ERROR_CODE, null)
    fastify.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      refuseExpectation(response, createRequestId(request))
    )
    fastify.setErrorHandler(sendError)
    fastify.setNotFoundHandler(async (request) => {
      throw routeNotFound(request)
    })
  },
  { name: 'errors' }
)
