import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { BodyChunks } from '../../schemas/import.ts'
import { DomainError } from '../../services/model/errors.ts'
import { bodyTooLarge } from './errors.ts'

/** Bytes of a decompressed chunk. */
const CHUNK_BYTES = 64 * 1024
/** Maximum number of decompressed bytes for each compressed one: gzip makes a million equal bytes a thousand times smaller. */
const MAX_RATIO = 200
/** Decompressed bytes before the ratio is checked. */
const MIN_CHECKED_BYTES = 2 ** 20

const tooDense = () =>
  new DomainError(
    'BODY_TOO_LARGE',
    `The file has more than ${MAX_RATIO} times as many bytes as its gzip form. Nothing was imported.`,
    { hint: 'Send it without Content-Encoding.' }
  )

const notGzip = () =>
  new DomainError('IMPORT_FAILED', 'The body is not a complete gzip file. Nothing was imported.', {
    total: 1,
    details: [{ path: '', code: 'gzip', message: 'The body must be one complete gzip file.' }],
    hint: 'Compress the file again, or send it without Content-Encoding.'
  })

/** Errors of zlib have codes such as Z_DATA_ERROR. */
const isOfZlib = (error: unknown) => error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')

/**
 * Returns the file of a body that is compressed with gzip. Its bytes, and their ratio to the compressed ones, are limited.
 * @throws BODY_TOO_LARGE, IMPORT_FAILED, and the errors of the body
 */
export async function* decompress(body: BodyChunks, maxBytes: number): BodyChunks {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES })
  let received = 0
  let size = 0
  async function* counted(): BodyChunks {
    for await (const chunk of body) {
      received += chunk.length
      yield chunk
    }
  }
  // The loop gets the errors, too.
  pipeline(Readable.from(counted(), { highWaterMark: 1 }), gunzip, () => {})
  try {
    for await (const chunk of gunzip) {
      size += chunk.length
      if (size > maxBytes) throw bodyTooLarge()
      if (size > MIN_CHECKED_BYTES && size > MAX_RATIO * gunzip.bytesWritten) throw tooDense()
      yield chunk
    }
  } catch (error) {
    throw isOfZlib(error) ? notGzip() : error
  } finally {
    // Ends the body, if it goes on.
    gunzip.destroy()
  }
  // zlib ignores what follows the end of the file.
  if (gunzip.bytesWritten < received) throw notGzip()
}
