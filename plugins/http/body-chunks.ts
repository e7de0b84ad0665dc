import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { BodyChunks } from '../../schemas/import.ts'
import { DomainError, disconnected } from '../../services/model/errors.ts'
import { bodyTooLarge, notAFile } from './errors.ts'
import { decompress } from './gzip-bodies.ts'
import { arrivingFiles } from './pending-requests.ts'

export interface FileLimits {
  /** Bytes that arrive in each interval, unless the service itself does not read. */
  readonly minBytes: number
  readonly intervalMs: number
  /** Milliseconds for the whole file. */
  readonly totalMs: number
  /** Milliseconds for the rest of a file that is discarded. Then the connection is closed. */
  readonly restMs: number
}

const LIMITS: FileLimits = { minBytes: 64 * 1024, intervalMs: 10_000, totalMs: 3_600_000, restMs: 60_000 }

const tooSlow = ({ minBytes, intervalMs }: FileLimits) =>
  new DomainError(
    'REQUEST_TIMEOUT',
    `Less than ${minBytes / 1024} KiB of the file arrived in ${intervalMs / 1000} seconds. Nothing was stored.`,
    { hint: 'Send the file on a faster connection.' }
  )

const tooLong = ({ totalMs }: FileLimits) =>
  new DomainError(
    'REQUEST_TIMEOUT',
    `The file did not arrive within ${totalMs / 60_000} minutes. Nothing was stored.`,
    {
      hint: 'Send it in several smaller files.'
    }
  )

/** Requests of tests may have no connection. */
const connectionOf = ({ socket }: IncomingMessage) => (socket instanceof Socket ? socket : null)

/** Waits for the bytes of a file, for as long as the limits allow. */
const createArrival = (payload: IncomingMessage, limits: FileLimits) => {
  const start = performance.now()
  let wake: (() => void) | null = null
  let failure: Error | null = null
  let received = 0

  const resume = () => wake?.()
  const fail = (error: Error) => {
    failure ??= error
    resume()
  }
  const check = () => {
    if (performance.now() - start >= limits.totalMs) fail(tooLong(limits))
    // Without `wake`, the service does not read: the client may not be able to send.
    else if (wake && received < limits.minBytes) fail(tooSlow(limits))
    received = 0
  }
  const timer = setInterval(check, limits.intervalMs)
  const events = { readable: resume, end: resume, close: resume, error: fail }
  for (const [event, listener] of Object.entries(events)) payload.on(event, listener)

  return {
    count: (bytes: number) => {
      received += bytes
    },
    /** Resolves when there may be more bytes. */
    more: async () => {
      if (!failure) await new Promise<void>((resolve) => (wake = resolve))
      wake = null
      if (failure) throw failure
    },
    end: () => {
      clearInterval(timer)
      for (const [event, listener] of Object.entries(events)) payload.off(event, listener)
    }
  }
}

/** Discards the rest, so that the client gets the response. Node may have ended its own time limit for the request. */
const discardRest = (payload: IncomingMessage, { restMs }: FileLimits) => {
  payload.on('error', () => {})
  payload.resume()
  if (payload.readableEnded) return
  const timer = setTimeout(() => connectionOf(payload)?.destroy(), restMs).unref()
  for (const event of ['end', 'close']) payload.once(event, () => clearTimeout(timer))
}

async function* readChunks(payload: IncomingMessage, maxBytes: number, limits: FileLimits): BodyChunks {
  const connection = connectionOf(payload)
  const arrival = createArrival(payload, limits)
  let size = 0
  if (connection) arrivingFiles.add(connection)
  // No byte moves while records are checked and stored.
  connection?.setTimeout(0)
  try {
    while (!payload.readableEnded) {
      const chunk: Buffer | null = payload.read()
      if (chunk) {
        size += chunk.length
        if (size > maxBytes) throw bodyTooLarge()
        arrival.count(chunk.length)
        yield chunk
      } else {
        if (payload.destroyed) throw disconnected()
        await arrival.more()
      }
    }
  } finally {
    arrival.end()
    if (connection) arrivingFiles.delete(connection)
    discardRest(payload, limits)
  }
}

const GZIP = Buffer.from([0x1f, 0x8b])

const gzipWithoutHeader = () =>
  new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The body is a gzip file, but has no Content-Encoding.', {
    hint: 'Send the header Content-Encoding: gzip.'
  })

/** No file that a route takes begins like a gzip file. @throws UNSUPPORTED_MEDIA_TYPE */
async function* refuseGzip(chunks: BodyChunks): BodyChunks {
  let isFirst = true
  for await (const chunk of chunks) {
    if (isFirst && GZIP.equals(chunk.subarray(0, 2))) throw gzipWithoutHeader()
    isFirst = false
    yield chunk
  }
}

/** `plugins/http/security.ts` refuses codings other than gzip and identity. */
const isEncoded = (headers: IncomingHttpHeaders) => headers['content-encoding']?.toLowerCase() === 'gzip'

/** The bodies that a route takes, and the error for others. */
interface FileTypes {
  readonly types: readonly string[]
  readonly wrongType: () => DomainError
}

const TEXT_FILES: FileTypes = {
  types: ['text/csv', 'application/x-ndjson', 'application/json'],
  wrongType: notAFile
}

export interface FileBodyOptions {
  /** Of a file, also after its decompression. */
  readonly maxBytes: number
  /** By default the files of imports. */
  readonly files?: FileTypes
  readonly limits?: FileLimits
}

/**
 * Makes files the only bodies. They are read while they arrive, with time limits of their own: a large file takes longer
 * than `requestTimeout`.
 */
export const addFileBodies = (fastify: FastifyInstance, options: FileBodyOptions) => {
  const { maxBytes, files: { types, wrongType } = TEXT_FILES, limits = LIMITS } = options
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', async (_request: FastifyRequest, payload: IncomingMessage) => {
    payload.resume()
    throw wrongType()
  })
  fastify.addContentTypeParser(
    [...types],
    async ({ headers }: FastifyRequest, payload: IncomingMessage): Promise<BodyChunks> => {
      if (Number(headers['content-length']) > maxBytes) throw bodyTooLarge()
      const chunks = readChunks(payload, maxBytes, limits)
      return isEncoded(headers) ? decompress(chunks, maxBytes) : refuseGzip(chunks)
    }
  )
  // A client that does not read the response is limited again.
  fastify.addHook('onSend', async ({ raw, server }) => void connectionOf(raw)?.setTimeout(server.server.timeout))
}
