import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { excerpt } from '../../services/model/errors.ts'
import { CALLER } from './caller.ts'
import { ERROR_CODE, pathOf, reportFailure, type Thrown } from './errors.ts'

/**
 * Returns the id of the token, the administrator or the admin key as a field: `{ token: 3 }`. A token without an id has its name
 * there.
 */
const callerField = (request: FastifyRequest) => {
  const caller = request[CALLER]
  if (!caller || caller.kind === 'anonymous') return {}
  return { [caller.kind]: caller.kind === 'token' ? caller.id || caller.name : caller.id }
}

/** A response that the client did not receive in full is `aborted`. It has a status only if its headers were sent. */
const outcomeFields = ({ headersSent, statusCode, writableFinished }: FastifyReply['raw']) => ({
  ...(headersSent && { status: statusCode }),
  ...(!writableFinished && { aborted: true })
})

/** Writes the line of a request when its response is complete or its connection is closed. */
const logAtEnd = (request: FastifyRequest, { raw: response }: FastifyReply) => {
  const startedAt = performance.now()
  // A closed socket has no address.
  const { ip: address } = request
  response.once('close', () => {
    const code = request[ERROR_CODE]
    request.log.info(
      {
        method: request.method,
        path: excerpt(pathOf(request)),
        ...outcomeFields(response),
        ...(code && { code }),
        ...callerField(request),
        duration: Math.round(1000 * (performance.now() - startedAt)) / 1000,
        address
      },
      'request'
    )
  })
}

/** Fastify reports a client that disconnects during a stream as an error of this code. */
const isDisconnect = (error: Error) => 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'

/**
 * Returns the `logController` option of Fastify, which writes what Fastify itself logs about requests: with `accessLog`
 * one line for each, and always the failures of streams.
 */
export const createLogController = (accessLog: boolean) =>
  Object.assign(new LogController({ disableRequestLogging: !accessLog, requestIdLogLabel: 'requestId' }), {
    incomingRequest: (request: FastifyRequest, reply: FastifyReply) => {
      if (accessLog) logAtEnd(request, reply)
    },
    requestCompleted: () => {},
    streamError: (error: Thrown, request: FastifyRequest) => {
      if (isDisconnect(error)) request.server.errorCounts.aborted += 1
      else reportFailure(error, request)
    }
  })
