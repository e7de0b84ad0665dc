import type { IncomingMessage } from 'node:http'
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify'
import type { BodyChunks } from '../../schemas/import.ts'
import { notAFile } from './errors.ts'

const tooLarge = () => new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()

/** After an error the rest of the body is discarded, so that the client gets the response. */
async function* readChunks(payload: IncomingMessage, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0
  try {
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
      size += chunk.length
      if (size > limit) throw tooLarge()
      yield chunk
    }
  } finally {
    payload.resume()
  }
}

/** Makes files the only bodies. They are read while they arrive. `limit`: bytes. */
export const addFileBodies = (fastify: FastifyInstance, limit: number) => {
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', async (_request: FastifyRequest, payload: IncomingMessage) => {
    payload.resume()
    throw notAFile()
  })
  fastify.addContentTypeParser(
    ['text/csv', 'application/x-ndjson'],
    async ({ headers }: FastifyRequest, payload: IncomingMessage): Promise<BodyChunks> => {
      if (Number(headers['content-length']) > limit) throw tooLarge()
      return readChunks(payload, limit)
    }
  )
}
