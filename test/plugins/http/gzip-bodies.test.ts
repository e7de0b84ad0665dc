import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { decompress } from '../../../plugins/http/gzip-bodies.ts'
import type { BodyChunks } from '../../../schemas/import.ts'

const MIB = 2 ** 20

/** A body, the bytes of it that have been read, and whether it has ended. */
interface Body {
  readonly chunks: BodyChunks
  read: number
  isEnded: boolean
}

/** Returns a body that arrives in chunks of this size. */
const bodyOf = (bytes: Buffer, size = 1000, failure?: Error): Body => {
  async function* chunks(): BodyChunks {
    try {
      for (let start = 0; start < bytes.length; start += size) {
        body.read = Math.min(start + size, bytes.length)
        yield bytes.subarray(start, body.read)
      }
      if (failure) throw failure
    } finally {
      body.isEnded = true
    }
  }
  const body = { chunks: chunks(), read: 0, isEnded: false }
  return body
}

/** The time limit of the test ends the wait otherwise. */
const ended = async (body: Body) => {
  while (!body.isEnded) await setImmediate()
}

/** Returns the decompressed file. */
const read = async ({ chunks }: Body, maxBytes = 64 * MIB) => {
  const parts: Uint8Array[] = []
  for await (const chunk of decompress(chunks, maxBytes)) parts.push(chunk)
  return Buffer.concat(parts)
}

const file = Buffer.from(Array.from({ length: 5000 }, (_, index) => `${index},name ${index}\n`).join(''))
const gzip = gzipSync(file)

t.test('a file is decompressed, wherever its chunks end', async (t) => {
  for (const size of [1, 7, 1000, gzip.length]) t.ok(file.equals(await read(bodyOf(gzip, size))), `${size}`)
  const parts = Buffer.concat([gzipSync(file.subarray(0, 999)), gzipSync(''), gzipSync(file.subarray(999))])
  t.ok(file.equals(await read(bodyOf(parts))), 'of several parts')
  t.equal((await read(bodyOf(gzipSync('')))).length, 0)
})

t.test('a body that is not one complete gzip file is an error', async (t) => {
  const changed = Buffer.from(gzip)
  changed[gzip.length >> 1] = ~(gzip[gzip.length >> 1] as number)
  const checksum = Buffer.from(gzip)
  checksum[gzip.length - 5] = ~(gzip[gzip.length - 5] as number)
  const wrong = {
    empty: Buffer.alloc(0),
    'not compressed': file,
    changed,
    'with another checksum': checksum,
    'with a text after it': Buffer.concat([gzip, Buffer.from('x')]),
    'with zeros after it': Buffer.concat([gzip, Buffer.alloc(20_000)]),
    'with another file that is incomplete': Buffer.concat([gzip, gzip.subarray(0, 100)])
  }
  for (const [name, bytes] of Object.entries(wrong)) {
    for (const size of [1000, gzip.length]) {
      const body = bodyOf(bytes, size)
      await t.rejects(read(body), { code: 'IMPORT_FAILED', details: [{ path: '', code: 'gzip' }] }, name)
      await ended(body)
    }
  }
  for (const length of [1, 9, 10, 11, gzip.length - 8, gzip.length - 1])
    await t.rejects(read(bodyOf(gzip.subarray(0, length))), { code: 'IMPORT_FAILED' }, `${length} bytes of it`)
})

t.test('the bytes of the file are limited', async (t) => {
  t.ok(file.equals(await read(bodyOf(gzip), file.length)))
  await t.rejects(read(bodyOf(gzip), file.length - 1), {
    code: 'BODY_TOO_LARGE',
    message: /larger than this route allows/
  })
})

t.test('a file that grows a thousandfold is refused soon', async (t) => {
  const part = gzipSync(Buffer.alloc(64 * MIB))
  t.ok(part.length < 100_000)
  // Larger than what a stream buffers, which depends on the version of Node.
  const dense = Buffer.concat(Array.from({ length: 8 }, () => part))
  const body = bodyOf(dense)
  await t.rejects(read(body), { code: 'BODY_TOO_LARGE', message: /more than 200 times/ })
  await ended(body)
  t.ok(body.read < dense.length / 2, `${body.read} of ${dense.length} bytes were read`)

  t.equal((await read(bodyOf(gzipSync(Buffer.alloc(MIB))))).length, MIB, 'a small one is not')
  const mixed = Buffer.concat([randomBytes(MIB / 16), Buffer.alloc(8 * MIB)])
  t.ok(mixed.equals(await read(bodyOf(gzipSync(mixed)))), 'a large one that grows less is not')
})

t.test('an error of the body is thrown', async (t) => {
  const failure = new Error('disconnected')
  await t.rejects(read(bodyOf(gzip.subarray(0, 5000), 1000, failure)), failure)
})

t.test('a reader that stops early ends the body', async (t) => {
  const body = bodyOf(gzipSync(randomBytes(MIB)))
  const chunks = decompress(body.chunks, MIB)
  await chunks.next()
  t.ok(body.read < MIB / 2, 'it is not read in advance')
  await chunks.return()
  await ended(body)
  t.ok(body.read < MIB / 2)
})
