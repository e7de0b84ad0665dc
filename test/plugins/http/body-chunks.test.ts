import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import Fastify, { type FastifyRequest } from 'fastify'
import t from 'tap'
import { addFileBodies } from '../../../plugins/http/body-chunks.ts'
import errors, { onClientError } from '../../../plugins/http/errors.ts'
import pendingRequests from '../../../plugins/http/pending-requests.ts'
import type { BodyChunks } from '../../../schemas/import.ts'

/** Milliseconds. Node's limits for ordinary requests, and for a connection without traffic. */
const REQUEST_TIMEOUT = 300
const STALL_TIMEOUT = 400
const LIMITS = { minBytes: 1024, intervalMs: 200, totalMs: 1500, restMs: 300 }
const MAX_BYTES = 100_000

const app = Fastify({ forceCloseConnections: true, clientErrorHandler: onClientError })
await app.register(pendingRequests)
await app.register(errors)
app.post('/json', async ({ body }) => ({ body }))
/** How the latest file ended. */
let end: unknown
let read: (body: BodyChunks, request: FastifyRequest) => Promise<unknown>
const countBytes = async (body: BodyChunks) => {
  let size = 0
  for await (const chunk of body) size += chunk.length
  return { size }
}
await app.register(async (files) => {
  addFileBodies(files, { maxBytes: MAX_BYTES, limits: LIMITS })
  files.post('/file', (request) => {
    const result = read(request.body as BodyChunks, request)
    end = result.catch((error: Error) => error)
    return result
  })
})
Object.assign(app.server, {
  headersTimeout: REQUEST_TIMEOUT,
  requestTimeout: REQUEST_TIMEOUT,
  connectionsCheckingInterval: 50,
  timeout: STALL_TIMEOUT
})
await app.listen({ host: '127.0.0.1', port: 0 })
t.teardown(() => app.close())
t.beforeEach(() => {
  read = countBytes
  end = undefined
})

const begin = (path: string, type: string, bytes: number) => {
  const socket = connect({ host: '127.0.0.1', port: (app.server.address() as AddressInfo).port })
  socket.on('error', () => {})
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${bytes}\r\n\r\n`)
  return socket
}
const beginFile = (bytes: number) => begin('/file', 'text/csv', bytes)

/** Sends parts of this size, one each 50 ms, while the connection is open. */
const trickle = async (socket: ReturnType<typeof begin>, size: number, count = Number.POSITIVE_INFINITY) => {
  for (let sent = 0; sent < count && !socket.closed; sent += 1) {
    socket.write('x'.repeat(size))
    await wait(50)
  }
}

/** Returns the response on a connection that closes. The service may reset the connection: it has not read all of the file. */
const responseTo = async (socket: ReturnType<typeof begin>) => {
  let response = ''
  socket.on('data', (chunk) => {
    response += chunk
  })
  await new Promise((resolve) => socket.once('close', resolve))
  const [head = '', body = ''] = response.split('\r\n\r\n')
  return { head, body: body === '' ? null : JSON.parse(body) }
}

/** Returns the response on a connection that stays open. */
const firstResponse = async (socket: ReturnType<typeof begin>) => {
  const [chunk] = await once(socket, 'data')
  socket.destroy()
  return String(chunk)
}

t.test('a file may arrive for longer than an ordinary request', async (t) => {
  const file = beginFile(20 * 1024)
  const response = firstResponse(file)
  await trickle(file, 1024, 20)
  t.match(await response, /^HTTP\/1.1 200 [\s\S]*"size":20480/)

  const json = begin('/json', 'application/json', 20 * 1024)
  const refused = responseTo(json)
  await trickle(json, 1024)
  t.match(await refused, { head: /^HTTP\/1.1 408 /, body: { error: { code: 'REQUEST_TIMEOUT' } } })
})

t.test('a file that arrives too slowly is refused, and its connection is closed', async (t) => {
  const file = beginFile(MAX_BYTES)
  const response = responseTo(file)
  await trickle(file, 1)
  const { head, body } = await response
  t.match(head, /^HTTP\/1.1 408 [\s\S]*^connection: close$/im)
  t.match(body, { success: false, error: { code: 'REQUEST_TIMEOUT', message: /Less than 1 KiB .* in 0.2 seconds/ } })
})

t.test('the time for a whole file is limited', async (t) => {
  const file = beginFile(MAX_BYTES)
  const response = responseTo(file)
  await trickle(file, 2000)
  t.match(await response, {
    head: /^HTTP\/1.1 408 /,
    body: { error: { message: /did not arrive within 0.025 minutes/ } }
  })
})

t.test('a file is not too slow while the service does not read', async (t) => {
  read = async (body) => {
    await body.next()
    await wait(3 * LIMITS.intervalMs)
    return countBytes(body)
  }
  const file = beginFile(2048)
  const response = firstResponse(file)
  file.write('x'.repeat(1024))
  await wait(LIMITS.intervalMs)
  file.write('x'.repeat(1024))
  t.match(await response, /^HTTP\/1.1 200 [\s\S]*"size":1024/)
})

t.test('a connection without traffic stays open while a file is imported, and only then', async (t) => {
  read = async (body) => {
    const size = await countBytes(body)
    await wait(2 * STALL_TIMEOUT)
    return size
  }
  const file = beginFile(3)
  const response = firstResponse(file)
  file.write('a\n1')
  t.match(await response, /^HTTP\/1.1 200 /)

  read = async () => wait(2 * STALL_TIMEOUT)
  const unread = beginFile(3)
  unread.write('a\n1')
  t.match(await responseTo(unread), { head: '', body: null })
})

t.test('the rest of a refused file is discarded for a limited time', async (t) => {
  read = async (body) => {
    await countBytes(
      (async function* (): BodyChunks {
        for (let size = 0; size < 8 * 1024; size += 1024) yield (await body.next()).value as Uint8Array
      })()
    )
    await body.return()
    throw Object.assign(new Error('refused'), { code: 'FST_ERR_BAD_URL' })
  }
  const file = beginFile(MAX_BYTES)
  const response = responseTo(file)
  await trickle(file, 1024)
  t.match(await response, { head: /^HTTP\/1.1 400 / }, 'the client gets the response')
})

t.test('a client that disconnects ends the file', async (t) => {
  const file = beginFile(MAX_BYTES)
  file.write('x')
  while (!end) await wait(5)
  file.destroy()
  t.match(await end, { message: /aborted|disconnected/ })

  read = async (body, { raw }) => {
    while (!raw.destroyed) await wait(5)
    return countBytes(body)
  }
  end = undefined
  const early = beginFile(MAX_BYTES)
  while (!end) await wait(5)
  early.destroy()
  t.match(await end, { message: /disconnected/ })
})
