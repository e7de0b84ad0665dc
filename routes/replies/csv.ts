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

/** A response to HEAD has no body. The export is ended, which releases its reader thread. */
const bodyFor = async (method: string, chunks: AsyncGenerator<Uint8Array | string>) => {
  if (method !== 'HEAD') return chunks
  await chunks.return(undefined)
  return []
}

/**
 * Streams an export named `<table>-<UTC time>.csv`. `highWaterMark: 1` buffers at most one chunk while another is being
 * sent: the memory of earlier chunks is used again.
 */
export const sendCsv = async (
  reply: FastifyReply,
  table: string,
  now: number,
  chunks: AsyncGenerator<Uint8Array | string>
) =>
  reply
    .header('content-disposition', disposition(`${table}-${timeInName(now)}.csv`))
    .type('text/csv; charset=utf-8; header=present')
    .send(Readable.from(await bodyFor(reply.request.method, chunks), { highWaterMark: 1 }))
