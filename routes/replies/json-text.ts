import type { Server } from 'node:http'
import type { FastifyReply } from 'fastify'
import { matchesTag } from '../../plugins/http/etag.ts'
import { done } from '../../schemas/envelope.ts'
import type { ReturnQuery } from '../../schemas/record.ts'
import { overloaded } from '../../services/model/errors.ts'
import { recordTag, strongTags } from '../../services/model/record-tag.ts'
import type { ChangeOptions } from '../../services/records/operations.ts'
import type { Upserted } from '../../services/records/upserts.ts'

/** Characters above which a response counts as large. */
const LARGE = 64 * 1024
/** Maximum number of characters in large responses that clients have not read yet. They are in memory until then. */
const MAX_UNREAD = 256 * 1024 * 1024
/** The limit for changes is higher: clients that only read must not keep others from creating and changing. */
const MAX_UNREAD_FOR_CHANGE = 2 * MAX_UNREAD
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
 * Checks, before a change that returns a record, that clients read their large responses: the size of the record is
 * known only after the change is stored.
 * @throws OVERLOADED
 */
export const assertRoomForResponse = (reply: FastifyReply) => {
  if (unreadOf(reply) > MAX_UNREAD_FOR_CHANGE) throw tooMuchUnread()
}

/**
 * Returns the JSON text of a stored change in the success envelope, for a handler to return. Never throws, because the
 * change is stored already.
 */
export const okStored = (reply: FastifyReply, json: string): never => {
  if (json.length > LARGE) countUnread(reply, json.length)
  reply.type('application/json; charset=utf-8')
  // The boundary to handler types, which expect an object. Parsing the text would round 64-bit integers, and a response
  // schema would drop the fields of the table.
  return `{"success":true,"data":${json}}` as never
}

/** Returns the response to an upsert, for a handler to return. */
export const okUpserted = (reply: FastifyReply, { created, record }: Upserted) =>
  okStored(reply, `{"created":${created},"record":${record}}`)

/** Returns the response to a batch, for a handler to return. */
export const okBatch = (reply: FastifyReply, results: readonly string[]) =>
  okStored(reply, `{"results":[${results.join(',')}]}`)

/**
 * Returns JSON text made by SQLite in the success envelope, for a handler to return.
 * @throws OVERLOADED if the text is large and clients have not read too many earlier responses
 */
export const okText = (reply: FastifyReply, json: string): never => {
  if (json.length > LARGE && unreadOf(reply) + json.length > MAX_UNREAD) throw tooMuchUnread()
  return okStored(reply, json)
}

/**
 * Returns a record with its tag, for a handler to return, or 304 if the client has it.
 * @throws OVERLOADED: see `okText`
 */
export const okRecord = (reply: FastifyReply, json: string): never => {
  const etag = recordTag(json)
  if (matchesTag(reply.request.headers['if-none-match'], etag)) {
    return reply.code(304).header('etag', etag).send() as never
  }
  const text = okText(reply, json)
  reply.header('etag', etag)
  return text
}

/**
 * Returns the options of a change, with the tags of the header `If-Match`.
 * @throws OVERLOADED if it returns a record: see `assertRoomForResponse`
 */
export const changeOptions = (reply: FastifyReply, query: ReturnQuery): ChangeOptions => {
  const returnsRecord = query.return === 'record'
  if (returnsRecord) assertRoomForResponse(reply)
  return { returnsRecord, ifMatch: strongTags(reply.request.headers['if-match']) }
}

/** Returns the response to a stored change, with its record as JSON text if it has one, for a handler to return. */
export const okChanged = (reply: FastifyReply, record: string | undefined) =>
  record === undefined ? done() : okStored(reply, `{"success":true,"record":${record}}`)
