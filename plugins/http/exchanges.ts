import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../../services/model/errors.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

/**
 * Requests of one connection that may wait for their answers. Node begins with each as soon as it has come, 2,000 of
 * them where a single packet holds as many, and keeps what is ready behind an answer that nobody reads.
 */
const MOST_UNANSWERED = 8
/** Further ones are refused, but not without end: each keeps 3 KB for as long as its connection lasts. */
const MOST_SENT_AHEAD = 64

/** A request, its answer, and the exchange before it where that had not been answered by then. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  before: Exchange | undefined
}

/** The last exchange of each connection, until it is over. */
const exchanges = new WeakMap<Socket, Exchange>()
/** Connections on which requests have come before others were answered. */
const pipelining = new WeakSet<Socket>()
/** Connections on which an answer is the last, so that requests behind it are not begun: nothing would answer them. */
const ending = new WeakSet<Socket>()

/** Node's own mark of an answer after which it ends the connection. */
const isLast = ({ response }: Exchange) => Reflect.get(response, '_last') === true

const ifUnanswered = (exchange: Exchange | undefined) => (exchange?.response.writableFinished ? undefined : exchange)

/** Those that wait for their answers, the last first. */
function* unanswered(socket: Socket): Generator<Exchange> {
  for (let one = ifUnanswered(exchanges.get(socket)); one; one = one.before) {
    one.before = ifUnanswered(one.before)
    yield one
  }
}

/**
 * Node tells of the end of a connection the answer at its head alone: those behind would wait, and keep what they hold.
 * They are told as it is, so that whatever is sent to them later is let go as well.
 */
const endAll = (socket: Socket) => {
  for (const { response } of unanswered(socket)) {
    if (response.socket !== null) continue
    Object.assign(response, { destroyed: true, _closed: true })
    response.emit('close')
  }
}

/** An idle connection keeps nothing of its last request, which may have had a large body. */
function forget(this: ServerResponse) {
  const { socket, complete } = this.req
  const last = exchanges.get(socket)
  if (complete && last?.response === this && !isLast(last)) exchanges.delete(socket)
}

const count = (socket: Socket) => {
  let requests = 0
  for (const _ of unanswered(socket)) requests += 1
  return requests
}

/** Behind an answer that Node has not let out: to a request that is remembered, or to one that nobody is told of. */
const rememberAhead = (socket: Socket) => {
  if (!pipelining.has(socket)) {
    pipelining.add(socket)
    socket.once('close', () => endAll(socket))
  }
  if (count(socket) > MOST_SENT_AHEAD) socket.destroy()
}

const remember = (request: IncomingMessage, response: ServerResponse) => {
  const { socket } = request
  if (socket.destroyed) return
  const last = exchanges.get(socket)
  if (last && isLast(last)) ending.add(socket)
  exchanges.set(socket, { request, response, before: ifUnanswered(last) })
  response.on('close', forget)
  if (response.socket === null) rememberAhead(socket)
}

/** The first request too many is the last that is answered, behind those before it: then the connection ends. */
const refusePipelined = ({ raw }: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => {
  const { socket, headers } = raw
  // Node reads none of what comes in one packet behind a request to speak another protocol.
  if (headers.upgrade !== undefined) reply.header('connection', 'close')
  if (ending.has(socket) || socket.destroyed) return reply.hijack()
  if (!pipelining.has(socket) || count(socket) <= MOST_UNANSWERED) return done()
  ending.add(socket)
  reply.headers({ ...SECURITY_HEADERS, connection: 'close' })
  throw new DomainError('MALFORMED_REQUEST', `${MOST_UNANSWERED} requests of this connection wait for their answers.`, {
    hint: 'Read answers before you send more, or use further connections.'
  })
}

/** The last request was answered before it had come whole: nothing that still comes belongs to a request of its own. */
export const wasAnsweredEarly = (socket: Socket) => {
  const last = exchanges.get(socket)
  return last !== undefined && !last.request.complete && last.response.writableFinished
}

/** The last answer that is due on a connection: one that has begun, or whose request has come whole. */
export const answerDue = (socket: Socket): ServerResponse | undefined => {
  const last = exchanges.get(socket)
  const isDue = last?.request.complete || last?.response.headersSent
  return ifUnanswered(isDue ? last : last?.before)?.response
}

/** What is unanswered on each connection. Registered before all other hooks. */
export default fp(
  async (fastify) => {
    for (const event of ['request', 'checkExpectation']) fastify.server.prependListener(event, remember)
    fastify.addHook('onRequest', refusePipelined)
  },
  { name: 'exchanges' }
)
