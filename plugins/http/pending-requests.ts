import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../../services/model/errors.ts'
import { setCommonHeaders } from './security-headers.ts'

/**
 * Maximum number of pending requests of one connection. Node starts each request as soon as it arrives: 2,000 of them
 * when one packet contains as many. It buffers responses that are ready behind one that the client does not read.
 */
const MAX_PENDING = 8
/** With the refused requests, which hold 3 KB each until the connection closes. Beyond it the connection is destroyed. */
const MAX_PENDING_OR_REFUSED = 64

interface PendingRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The request before this one on the connection, if it is still pending. */
  previous: PendingRequest | undefined
}

/** The latest request of each connection. */
const latestRequests = new WeakMap<Socket, PendingRequest>()
/** Connections that have sent a request before the response to an earlier one was sent. */
const pipelining = new WeakSet<Socket>()
/** Connections that close after a response in flight. Later requests do not run: they would get no response. */
const closing = new WeakSet<Socket>()

/** Connections on which the file of an import arrives. `body-chunks.ts` limits its time. */
export const arrivingFiles = new WeakSet<Socket>()

/** Reads Node's own flag for a response after which it closes the connection. */
const closesConnection = ({ response }: PendingRequest) => Reflect.get(response, '_last') === true

const unlessFinished = (pending: PendingRequest | undefined) =>
  pending?.response.writableFinished ? undefined : pending

/** Yields the pending requests of a connection, the latest first. Unlinks the finished ones. */
function* pendingRequests(socket: Socket): Generator<PendingRequest> {
  for (let pending = unlessFinished(latestRequests.get(socket)); pending; pending = pending.previous) {
    pending.previous = unlessFinished(pending.previous)
    yield pending
  }
}

const countPending = (socket: Socket) => {
  let count = 0
  for (const _ of pendingRequests(socket)) count += 1
  return count
}

/**
 * When a connection ends, Node emits `close` on its first pending response only. The queued ones would keep their files
 * and reader threads. Marked as destroyed, they also release data that is written to them later.
 */
const closeQueuedResponses = (socket: Socket) => {
  for (const { response } of pendingRequests(socket)) {
    if (response.socket !== null) continue
    Object.assign(response, { destroyed: true, _closed: true })
    response.emit('close')
  }
}

/** Frees the memory of the last request, which may have a large body, while the connection is idle. */
function releaseLatest(this: ServerResponse) {
  const { socket, complete } = this.req
  const latest = latestRequests.get(socket)
  if (complete && latest?.response === this && !closesConnection(latest)) latestRequests.delete(socket)
}

const trackPipelining = (socket: Socket) => {
  if (!pipelining.has(socket)) {
    pipelining.add(socket)
    socket.once('close', () => closeQueuedResponses(socket))
  }
  if (countPending(socket) > MAX_PENDING_OR_REFUSED) socket.destroy()
}

const track = (request: IncomingMessage, response: ServerResponse) => {
  const { socket } = request
  if (socket.destroyed) return
  const latest = latestRequests.get(socket)
  if (latest && closesConnection(latest)) closing.add(socket)
  latestRequests.set(socket, { request, response, previous: unlessFinished(latest) })
  response.on('close', releaseLatest)
  // Node queues a response by giving it no socket. The queue also counts requests for which Node emits no event.
  if (response.socket === null) trackPipelining(socket)
}

/** Refuses the first request beyond the limit, and closes the connection after that response. */
const limitPending = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => {
  const { socket, headers } = request.raw
  // Node discards everything that follows an upgrade request in the same packet.
  if (headers.upgrade !== undefined) reply.header('connection', 'close')
  if (closing.has(socket) || socket.destroyed) return reply.hijack()
  if (!pipelining.has(socket) || countPending(socket) <= MAX_PENDING) return done()
  closing.add(socket)
  setCommonHeaders(request, reply)
  reply.header('connection', 'close')
  throw new DomainError('TOO_MANY_PIPELINED', `This connection has more than ${MAX_PENDING} pending requests.`, {
    hint: 'Read the responses before you send more requests, or use more connections.'
  })
}

/** Returns the response to a request of a connection while it is pending. */
export const responseOf = (request: IncomingMessage): ServerResponse | undefined => {
  for (const pending of pendingRequests(request.socket)) if (pending.request === request) return pending.response
  return undefined
}

/** Returns whether a response was sent before its request was complete. Bytes that follow belong to that request. */
export const hasEarlyResponse = (socket: Socket) => {
  const latest = latestRequests.get(socket)
  return latest !== undefined && !latest.request.complete && latest.response.writableFinished
}

/** Returns the latest pending response of a connection whose request is complete, or whose headers are sent. */
export const latestPendingResponse = (socket: Socket): ServerResponse | undefined => {
  const latest = latestRequests.get(socket)
  const isDue = latest?.request.complete || latest?.response.headersSent
  return unlessFinished(isDue ? latest : latest?.previous)?.response
}

/** Tracks and limits the pending requests of each connection. Must be registered before all other hooks. */
export default fp(
  async (fastify) => {
    for (const event of ['request', 'checkExpectation']) fastify.server.prependListener(event, track)
    fastify.addHook('onRequest', limitPending)
  },
  { name: 'pending-requests' }
)
