import type { Server } from 'node:http'
import type { FastifyReply } from 'fastify'
import { overloaded } from '../../services/model/errors.ts'

/** Characters from which an answer is counted while its client has not read it. */
const LARGE = 64 * 1024
/** Characters of large answers that may wait for their clients: they stand in memory. */
const MOST_UNREAD = 256 * 1024 * 1024
/** Beyond what reads may take, so that clients who only read can keep nobody from creating. */
const MOST_UNREAD_WITH_CREATED = 2 * MOST_UNREAD
const RETRY_AFTER_SECONDS = 5

const unread = new WeakMap<Server, number>()

const unreadBeside = ({ server: { server } }: FastifyReply) => unread.get(server) ?? 0

const tooMuchUnread = () =>
  overloaded('Clients have not read the large answers that they asked for. Try again.', RETRY_AFTER_SECONDS)

/** Counts an answer until it has gone out, or its connection has, which may have been before it was made. */
const countUnread = (reply: FastifyReply, length: number) => {
  if (reply.raw.destroyed) return
  const { server } = reply.server
  unread.set(server, unreadBeside(reply) + length)
  reply.raw.once('close', () => unread.set(server, unreadBeside(reply) - length))
}

const answer = (reply: FastifyReply, json: string): never => {
  if (json.length > LARGE) countUnread(reply, json.length)
  reply.type('application/json; charset=utf-8')
  return `{"success":true,"data":${json}}` as never
}

/**
 * Gives JSON that SQLite has made, inside the success envelope, for a handler to return. It goes out as it is: parsing
 * it would round wide integers, and a response schema would strip the fields that no schema can know.
 * @throws OVERLOADED where it is large, and too much waits to be read already
 */
export const okText = (reply: FastifyReply, json: string): never => {
  if (json.length > LARGE && unreadBeside(reply) + json.length > MOST_UNREAD) throw tooMuchUnread()
  return answer(reply, json)
}

/**
 * The same for a record that is created: how large it is shows when it is stored, and then it is answered.
 * @throws OVERLOADED before anything is stored
 */
export const okCreated = (reply: FastifyReply, create: () => Promise<string>): Promise<never> => {
  if (unreadBeside(reply) > MOST_UNREAD_WITH_CREATED) throw tooMuchUnread()
  return create().then((json) => answer(reply, json))
}
