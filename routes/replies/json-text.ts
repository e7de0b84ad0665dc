import type { Server } from 'node:http'
import type { FastifyReply } from 'fastify'
import { overloaded } from '../../services/model/errors.ts'

/** Characters from which a response counts as large. */
const LARGE = 64 * 1024
/** Characters of large responses that clients have not read yet. They are in memory until then. */
const MAX_UNREAD = 256 * 1024 * 1024
/** The limit for creations is higher: clients that only read must not keep others from creating. */
const MAX_UNREAD_FOR_CREATION = 2 * MAX_UNREAD
const RETRY_AFTER_SECONDS = 5

const unreadByServer = new WeakMap<Server, number>()

const unreadOf = ({ server: { server } }: FastifyReply) => unreadByServer.get(server) ?? 0

const tooMuchUnread = () =>
  overloaded('Clients have not read the large responses that they requested. Try again.', RETRY_AFTER_SECONDS)

/** Counts a response until it was sent or its connection has closed, which may have happened already. */
const countUnread = (reply: FastifyReply, length: number) => {
  if (reply.raw.destroyed) return
  const { server } = reply.server
  unreadByServer.set(server, unreadOf(reply) + length)
  reply.raw.once('close', () => unreadByServer.set(server, unreadOf(reply) - length))
}

/**
 * Checks that clients read their large responses, before a record is created: its size is known only when it is stored.
 * @throws OVERLOADED
 */
export const assertRoomForResponse = (reply: FastifyReply) => {
  if (unreadOf(reply) > MAX_UNREAD_FOR_CREATION) throw tooMuchUnread()
}

/**
 * Returns the JSON text of a created record in the success envelope, for a handler to return. It never fails: the
 * record is stored.
 */
export const okCreated = (reply: FastifyReply, json: string): never => {
  if (json.length > LARGE) countUnread(reply, json.length)
  reply.type('application/json; charset=utf-8')
  // The boundary to handler types, which expect an object: a text is sent as it is. Parsing it would round 64-bit
  // integers, and a response schema would drop the fields of the table.
  return `{"success":true,"data":${json}}` as never
}

/**
 * Returns JSON text made by SQLite in the success envelope, for a handler to return.
 * @throws OVERLOADED if it is large and too much waits to be read already
 */
export const okText = (reply: FastifyReply, json: string): never => {
  if (json.length > LARGE && unreadOf(reply) + json.length > MAX_UNREAD) throw tooMuchUnread()
  return okCreated(reply, json)
}
