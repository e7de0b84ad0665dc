import type { FastifyReply } from 'fastify'

/**
 * Sends JSON that SQLite has made, inside the success envelope. It goes out as it is: parsing it would round wide
 * integers, and a response schema would strip the fields that no schema can know.
 */
export const okText = (reply: FastifyReply, json: string): never =>
  reply.type('application/json; charset=utf-8').send(`{"success":true,"data":${json}}`) as never
