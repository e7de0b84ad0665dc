import type { IncomingMessage } from 'node:http'
import { errorCodes, type FastifyRequest } from 'fastify'
import { DomainError } from '../../services/model/errors.ts'

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

/** Most bodies come in one piece. */
const wholeOf = (pieces: readonly Buffer[]) => (pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces))

type Done = (error: Error | null, body?: unknown) => void

/**
 * Makes a content type parser of what becomes of a body's bytes. Fastify's own reading keeps every piece by itself: 6
 * bytes sent as a chunk of one byte held 350 bytes of memory. What comes after a refusal is read and forgotten, until
 * the connection has been closed. It calls back, as a promise for each body took 7 % of the throughput of a POST.
 *
 * It refuses with FST_ERR_CTP_BODY_TOO_LARGE, MALFORMED_REQUEST, what `parse` throws, or what befell the connection.
 */
export const parserOf =
  (parse: (bytes: Buffer) => unknown) =>
  ({ headers, routeOptions: { bodyLimit } }: FastifyRequest, payload: IncomingMessage, done: Done) => {
    let joined: Buffer[] = []
    let apart: Buffer[] = []
    let size = 0
    let count = 0
    let isOver = false

    const end = (error: Error | null, body?: unknown) => {
      if (isOver) return
      isOver = true
      payload.off('data', take)
      joined = []
      apart = []
      done(error, body)
    }
    const take = (piece: Buffer) => {
      size += piece.length
      count += 1
      if (size > bodyLimit) return end(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
      if (count > MOST_PIECES + size / SHORTEST_PIECE) return end(tooManyPieces())
      apart.push(piece)
      if (apart.length < MOST_APART) return
      joined.push(Buffer.concat(apart))
      apart = []
    }
    const finish = () => {
      let body: unknown
      try {
        body = parse(wholeOf([...joined, ...apart]))
      } catch (error) {
        return end(error as Error)
      }
      return end(null, body)
    }

    if (Number(headers['content-length']) > bodyLimit) return end(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    payload.on('data', take)
    payload.on('end', finish)
    payload.on('error', end)
  }
