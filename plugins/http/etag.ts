import type { FastifyReply, FastifyRequest } from 'fastify'

/** JSON for many clients. As bytes, because each response with a text would convert it again. */
export interface TaggedJson {
  readonly bytes: Buffer
  /** An entity tag (RFC 9110, 8.8.3) with its quotes. */
  readonly etag: string
}

/** Whether `If-None-Match` names the tag. RFC 9110, 13.1.2: tags are compared without their `W/`. */
export const matchesTag = (header: string | undefined, etag: string) =>
  header?.split(',').some((item) => ['*', etag].includes(item.trim().replace(/^W\//, ''))) === true

/** Sends JSON with its tag, or 304 if the client has it. */
export const sendTagged = ({ headers }: FastifyRequest, reply: FastifyReply, { bytes, etag }: TaggedJson) => {
  reply.header('etag', etag)
  if (matchesTag(headers['if-none-match'], etag)) return reply.code(304).send()
  return reply.type('application/json; charset=utf-8').send(bytes)
}
