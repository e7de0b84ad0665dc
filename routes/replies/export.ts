import type { ServerResponse } from 'node:http'
import { pipeline, Readable, type Writable } from 'node:stream'
import { constants, createGzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import type { UnreadParts } from './unread-parts.ts'

/** RFC 8187 escapes some characters that encodeURIComponent leaves. */
const extendedValue = (text: string) =>
  encodeURIComponent(text).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/** RFC 6266: plain ASCII in `filename`, any name in `filename*`. */
const disposition = (filename: string) => {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%/]/g, '_')
  return `attachment; filename="${plain}"; filename*=UTF-8''${extendedValue(filename)}`
}

/** `20261122T144938Z` */
const timeInName = (now: number) => new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')

type Chunks = AsyncGenerator<Uint8Array | string>

/** A response that waits for an earlier one of its connection has no socket yet. */
const writableOf = (response: ServerResponse) => response.socket ?? response

const drainOrClose = (writable: Writable, response: ServerResponse) =>
  new Promise<void>((resolve) => {
    const settle = () => {
      writable.off('drain', settle)
      response.off('close', settle)
      resolve()
    }
    writable.on('drain', settle)
    response.on('close', settle)
  })

/** Where the chunks of an export are written, now. */
interface Target {
  readonly response: ServerResponse
  readonly writable: () => Writable
}

/** Called with the length of a chunk when it was sent. */
type OnSent = UnreadParts['sent']

/** Resolves when all chunks that were written have been sent, or the connection has closed. */
const untilSent = async ({ response, writable }: Target) => {
  // The stream reads the next chunk before it writes the previous one.
  await null
  while (!response.destroyed && writable().writableNeedDrain) await drainOrClose(writable(), response)
}

/**
 * Returns chunks that each wait until the chunk before has been sent. The `drain` of a response does not guarantee this:
 * Node also emits it when a later response of the connection is written (`updateOutgoingData` in Node's _http_server.js).
 * The chunk in flight was then overwritten.
 */
const afterPrevious = (target: Target, chunks: Chunks, onSent: OnSent): AsyncIterable<Uint8Array | string> => ({
  // Not a generator: one that has not started would not end `chunks`.
  [Symbol.asyncIterator]: () => {
    let previous = 0
    return {
      next: async () => {
        const sent = untilSent(target).then(() => onSent(previous))
        const step = await chunks.next()
        await sent
        previous = step.done ? 0 : step.value.length
        return step
      },
      return: () => chunks.return(undefined)
    }
  }
})

/** A stream buffers at most one chunk while another is in use: the memory of earlier chunks is used again. */
const toStream = (chunks: Iterable<string> | AsyncIterable<Uint8Array | string>) =>
  Readable.from(chunks, { highWaterMark: 1 })

/** Level 1 takes half of the CPU time of level 6, and the file is 8 % larger: decision 4. */
const GZIP_OPTIONS = { level: constants.Z_BEST_SPEED, chunkSize: 64 * 1024 }

/** Returns the stream of a compressed export. The next chunk is read while zlib reads one. */
const compress = (response: ServerResponse, chunks: Chunks, onSent: OnSent) => {
  const gzip = createGzip(GZIP_OPTIONS)
  // An error of the chunks destroys the stream, and the response with it.
  return pipeline(toStream(afterPrevious({ response, writable: () => gzip }, chunks, onSent)), gzip, () => {})
}

/** Whether the client takes gzip. `accepted`: the header Accept-Encoding (RFC 9110, 12.5.3). */
const acceptsGzip = (accepted: string) =>
  accepted.split(',').some((part) => {
    const [coding, ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    return coding === 'gzip' && !parameters.some((text) => /^q=0(?:\.0*)?$/.test(text))
  })

/** Returns the body of the response, whose coding it sets. That to HEAD is empty, and the export ends: it may hold a thread. */
const bodyFor = async (reply: FastifyReply, chunks: Chunks, onSent: OnSent) => {
  const { request, raw } = reply
  if (request.method === 'HEAD') {
    await chunks.return(undefined)
    return toStream([])
  }
  if (!acceptsGzip(request.headers['accept-encoding'] ?? '')) {
    const target = { response: raw, writable: () => writableOf(raw) }
    return toStream(afterPrevious(target, chunks, onSent))
  }
  reply.header('content-encoding', 'gzip')
  return compress(raw, chunks, onSent)
}

const CONTENT_TYPES = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8'
}

interface ExportFile {
  readonly table: string
  readonly format: keyof typeof CONTENT_TYPES | undefined
  /** The time in the name of the file, in milliseconds. */
  readonly now: number
  readonly onSent?: OnSent
}

/** Streams an export named `<table>-<UTC time>.<format>`, compressed with gzip if the client takes it. */
export const sendExport = async (reply: FastifyReply, file: ExportFile, chunks: Chunks) => {
  const { table, format = 'csv', now, onSent = () => {} } = file
  const body = await bodyFor(reply, chunks, onSent)
  // Every response has this header: plugins/http/security-headers.ts.
  const vary = `${reply.getHeader('vary')}, Accept-Encoding`
  return reply
    .header('vary', vary)
    .header('content-disposition', disposition(`${table}-${timeInName(now)}.${format}`))
    .type(CONTENT_TYPES[format])
    .send(body)
}
