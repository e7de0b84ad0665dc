import type { IncomingMessage } from 'node:http'
import { errorCodes, type FastifyRequest } from 'fastify'
import { DomainError } from '../services/errors.ts'

/**
 * Pieces in which any body may arrive, and what further ones have on average at least: each takes the event loop some
 * 3 µs, however short it is.
 */
const MOST_PIECES = 1024
const SHORTEST_PIECE = 512
/** Pieces that wait to be copied into one, as each holds some 300 bytes beside its own. */
const MOST_APART = 64

const tooManyPieces = () =>
  new DomainError('MALFORMED_REQUEST', 'The body arrives in too many small pieces.', {
    hint: `Send it with a Content-Length, or in chunks of ${SHORTEST_PIECE} bytes and more.`
  })

/**
 * The bytes of a body. Fastify's own reading keeps every piece by itself: 6 bytes sent as a chunk of one byte held 350
 * bytes of memory. What comes after a refusal is read and forgotten, until the connection has been closed.
 *
 * @throws FST_ERR_CTP_BODY_TOO_LARGE, MALFORMED_REQUEST, or what befell the connection
 */
export const readBody = ({ headers, routeOptions: { bodyLimit } }: FastifyRequest, payload: IncomingMessage) =>
  new Promise<Buffer>((resolve, reject) => {
    let joined: Buffer[] = []
    let apart: Buffer[] = []
    let size = 0
    let count = 0

    const refuse = (error: Error) => {
      payload.off('data', take)
      joined = []
      apart = []
      reject(error)
    }
    const take = (piece: Buffer) => {
      size += piece.length
      count += 1
      if (size > bodyLimit) return refuse(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
      if (count > MOST_PIECES + size / SHORTEST_PIECE) return refuse(tooManyPieces())
      apart.push(piece)
      if (apart.length < MOST_APART) return
      joined.push(Buffer.concat(apart))
      apart = []
    }

    if (Number(headers['content-length']) > bodyLimit) return refuse(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    payload.on('data', take)
    payload.on('end', () => resolve(Buffer.concat([...joined, ...apart])))
    payload.on('error', refuse)
  })
