import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

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

const drainOrClose = (response: ServerResponse) =>
  new Promise<void>((resolve) => {
    const writable = writableOf(response)
    const settle = () => {
      writable.off('drain', settle)
      response.off('close', settle)
      resolve()
    }
    writable.on('drain', settle)
    response.on('close', settle)
  })

/**
 * Returns chunks that each wait until the chunk before has been sent. The `drain` of a response does not guarantee this:
 * Node also emits it when a later response of the connection is written (`updateOutgoingData` in Node's _http_server.js).
 * The chunk in flight was then overwritten.
 */
const afterPrevious = (response: ServerResponse, chunks: Chunks): AsyncIterable<Uint8Array | string> => ({
  // Not a generator: one that has not started would not end `chunks`.
  [Symbol.asyncIterator]: () => ({
    next: async () => {
      const step = await chunks.next()
      while (!response.destroyed && writableOf(response).writableNeedDrain) await drainOrClose(response)
      return step
    },
    return: () => chunks.return(undefined)
  })
})

/** A response to HEAD has no body. The export is ended, which releases its reader thread. */
const bodyFor = async ({ request, raw }: FastifyReply, chunks: Chunks) => {
  if (request.method !== 'HEAD') return afterPrevious(raw, chunks)
  await chunks.return(undefined)
  return []
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
}

/**
 * Streams an export named `<table>-<UTC time>.<format>`. `highWaterMark: 1` buffers at most one chunk while another is
 * being sent: the memory of earlier chunks is used again.
 */
export const sendExport = async (reply: FastifyReply, { table, format = 'csv', now }: ExportFile, chunks: Chunks) =>
  reply
    .header('content-disposition', disposition(`${table}-${timeInName(now)}.${format}`))
    .type(CONTENT_TYPES[format])
    .send(Readable.from(await bodyFor(reply, chunks), { highWaterMark: 1 }))
