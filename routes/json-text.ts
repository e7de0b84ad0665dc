import type { Server } from 'node:http'
import type { FastifyReply } from 'fastify'
import { overloaded } from '../services/errors.ts'

/** Characters from which an answer is counted while its client has not read it. */
const LARGE = 64 * 1024
/** Characters of large answers that may wait for their clients: they stand in memory. */
const MOST_UNREAD = 256 * 1024 * 1024
const RETRY_AFTER_SECONDS = 5

const unread = new WeakMap<Server, number>()

/** Counts an answer until it has gone out. @throws OVERLOADED where too much waits to be read already */
const countUnread = ({ server: { server }, raw }: FastifyReply, length: number) => {
  const waiting = () => unread.get(server) ?? 0
  if (waiting() + length > MOST_UNREAD)
    throw overloaded('Clients have not read the large answers that they asked for. Try again.', RETRY_AFTER_SECONDS)
  unread.set(server, waiting() + length)
  raw.once('close', () => unread.set(server, waiting() - length))
}

/**
 * Sends JSON that SQLite has made, inside the success envelope. It goes out as it is: parsing it would round wide
 * integers, and a response schema would strip the fields that no schema can know.
 */
export const okText = (reply: FastifyReply, json: string): never => {
  if (json.length > LARGE) countUnread(reply, json.length)
  return reply.type('application/json; charset=utf-8').send(`{"success":true,"data":${json}}`) as never
}
