import type { Server } from 'node:http'
import type { FastifyReply } from 'fastify'
import { overloaded } from '../../services/model/errors.ts'

/** Characters above which a response counts as large. */
const LARGE = 64 * 1024
/** Maximum number of characters in large responses that clients have not read yet. They are in memory until then. */
const MAX_UNREAD = 256 * 1024 * 1024
/** The limit for creations is higher: clients that only read must not keep others from creating. */
const MAX_UNREAD_FOR_CREATION = 2 * MAX_UNREAD
const RETRY_AFTER_SECONDS = 5

const unreadByServer = new WeakMap<Server, number>()

const unreadOf = ({ server: { server } }: FastifyReply) => unreadByServer.get(server) ?? 0

const tooMuchUnread = () =>
  overloaded('Clients have not read the large responses that they requested. Try again.', RETRY_AFTER_SECONDS)

/** Counts a response until it is sent or its connection closes. The connection may be closed already. */
const countUnread = (reply: FastifyReply, length: number) => {
  if (reply.raw.destroyed) return
  const { server } = reply.server
  unreadByServer.set(server, unreadOf(reply) + length)
  reply.raw.once('close', () => unreadByServer.set(server, unreadOf(reply) - length))
}

/**
 * Checks, before a record is created, that clients read their large responses: its size is known only after it is stored.
 * @throws OVERLOADED
 */
export const assertRoomForResponse = (reply: FastifyReply) => {
  if (unreadOf(reply) > MAX_UNREAD_FOR_CREATION) throw tooMuchUnread()
}

/**
 * Returns the JSON text of a created record in the success envelope, for a handler to return. Never throws, because the
 * record is stored already.
 */
export const okCreated = (reply: FastifyReply, json: string): never => {
  if (json.length > LARGE) countUnread(reply, json.length)
  reply.type('application/json; charset=utf-8')
  // The boundary to handler types, which expect an object. Parsing the text would round 64-bit integers, and a response
  // schema would drop the fields of the table.
  return `{"success":true,"data":${json}}` as never
}

/**
 * Returns JSON text made by SQLite in the success envelope, for a handler to return.
 * @throws OVERLOADED if the text is large and clients have not read too many earlier responses
 */
export const okText = (reply: FastifyReply, json: string): never => {
  if (json.length > LARGE && unreadOf(reply) + json.length > MAX_UNREAD) throw tooMuchUnread()
  return okCreated(reply, json)
}
