import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { errorCodes, type FastifyRequest } from 'fastify'
import { createTaskSequence } from '../../services/engine/loop/task-sequence.ts'
import { DomainError } from '../../services/model/errors.ts'
import { createBodyCount } from './large-bodies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The SHA-256 of the bytes of the body, in a request with an Idempotency-Key. null: there is no body. */
    [BODY_DIGEST]: string | null
  }
}

export const BODY_DIGEST: unique symbol = Symbol('digest of the body')

/** Maximum number of chunks of any body. Each chunk takes the event loop about 3 µs, however short it is. */
const MAX_CHUNKS = 1024
/** Bytes of a body that allow one more chunk. */
const MIN_AVERAGE_CHUNK_BYTES = 512
/** Chunks that are copied into one buffer together: each separate chunk holds some 300 bytes besides its data. */
const CHUNKS_PER_COPY = 64

/** Bytes. A larger body is parsed in a tick of its own: V8 parses 100 to 300 bytes in 1 µs. */
const MAX_BYTES_IN_SHARED_TICK = 2 ** 20
const parseInSequence = createTaskSequence()

const tooManyChunks = () =>
  new DomainError('MALFORMED_REQUEST', 'The body is sent in too many small chunks.', {
    hint: `Send it with a Content-Length, or in chunks of at least ${MIN_AVERAGE_CHUNK_BYTES} bytes.`
  })

/** Most bodies are one chunk, which needs no copy. */
const concat = (chunks: readonly Buffer[]) => (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))

const keepDigest = (request: FastifyRequest, bytes: Buffer) => {
  if (request.headers['idempotency-key'] === undefined) return
  request[BODY_DIGEST] = hash('sha256', bytes)
}

type Done = (error: Error | null, body?: unknown) => void

/**
 * Returns a Fastify content type parser that reads the whole body and passes its bytes to `parse`.
 *
 * Fastify's own reader keeps each chunk as a buffer: one byte sent as a chunk of its own (6 bytes) held 350 bytes of
 * memory. After an error the rest of the body is discarded until the connection closes. The parser takes a callback:
 * a promise for each body cost 7 % of the throughput of a POST.
 *
 * Fails with FST_ERR_CTP_BODY_TOO_LARGE, MALFORMED_REQUEST, OVERLOADED, an error of `parse`, or an error of the connection.
 */
export const createBodyParser =
  (parse: (bytes: Buffer, request: FastifyRequest) => unknown) =>
  (request: FastifyRequest, payload: IncomingMessage, done: Done) => {
    const { headers, routeOptions } = request
    const { bodyLimit } = routeOptions
    let copied: Buffer[] = []
    let recent: Buffer[] = []
    let size = 0
    let chunkCount = 0
    let isDone = false
    const countBody = createBodyCount(request)

    const end = (error: Error | null, body?: unknown) => {
      if (isDone) return
      isDone = true
      payload.off('data', addChunk)
      copied = []
      recent = []
      done(error, body)
    }
    const checkSize = () => {
      if (size > bodyLimit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
      if (chunkCount > MAX_CHUNKS + size / MIN_AVERAGE_CHUNK_BYTES) throw tooManyChunks()
      countBody(size)
    }
    const addChunk = (chunk: Buffer) => {
      size += chunk.length
      chunkCount += 1
      try {
        checkSize()
      } catch (error) {
        return end(error as Error)
      }
      recent.push(chunk)
      if (recent.length < CHUNKS_PER_COPY) return
      copied.push(Buffer.concat(recent))
      recent = []
    }
    const parseAll = () => {
      let body: unknown
      try {
        const bytes = concat([...copied, ...recent])
        keepDigest(request, bytes)
        body = parse(bytes, request)
      } catch (error) {
        return end(error as Error)
      }
      return end(null, body)
    }

    if (Number(headers['content-length']) > bodyLimit) return end(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    payload.on('data', addChunk)
    payload.on('end', () => (size > MAX_BYTES_IN_SHARED_TICK ? parseInSequence(parseAll) : parseAll()))
    payload.on('error', end)
  }
