import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t from 'tap'
import errors from '../../../plugins/http/errors.ts'
import { compilers } from '../../../plugins/http/schema-compilers.ts'
import validation from '../../../plugins/http/validation.ts'
import { collectGarbage } from '../../garbage.ts'
import type { App } from '../../helpers.ts'
import { listenRaw } from '../../raw-http.ts'

const LIMIT = 1024 * 1024

const app = Fastify({ schemaController: compilers, bodyLimit: LIMIT, forceCloseConnections: true })
await app.register(errors)
await app.register(validation)
let requestCount = 0
app.addHook('onRequest', async () => {
  requestCount += 1
})
app.post('/echo', { schema: { operationId: 'echo', body: Type.Any() } }, async ({ body }) => ({ body }))
const send = await listenRaw(t, app as unknown as App)

const head = (...headers: string[]) =>
  `${['POST /echo HTTP/1.1', 'Host: x', 'Connection: close', 'Content-Type: application/json', ...headers].join('\r\n')}\r\n\r\n`
const CHUNKED = head('Transfer-Encoding: chunked')

/** Encodes ASCII text in chunks of `length` bytes. */
const toChunks = (text: string, length = 1) =>
  text.replace(RegExp(`.{1,${length}}`, 'g'), `${length.toString(16)}\r\n$&\r\n`)
const END = '0\r\n\r\n'

/** Returns JSON text of this length. */
const textOf = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2))

t.test('a body may have 1,024 small chunks, and any number of larger ones', async (t) => {
  for (const [count, length] of [
    [3, 1],
    [63, 1],
    [64, 1],
    [65, 1],
    [1025, 1],
    [2000, 512]
  ] as const) {
    const { statusCode, body } = await send(`${CHUNKED}${toChunks(textOf(count * length), length)}${END}`)
    t.equal(statusCode, 200, `${count} chunks of ${length} bytes`)
    t.ok(body === JSON.stringify({ body: 'x'.repeat(count * length - 2) }))
  }
  const { statusCode, head, body } = await send(`${CHUNKED}${toChunks(textOf(1100))}${END}`)
  t.equal(statusCode, 400)
  t.match(head, /^connection: close$/im)
  t.match(JSON.parse(body), {
    success: false,
    error: { code: 'MALFORMED_REQUEST', hint: /chunks of at least 512 bytes/ }
  })
})

t.test('a body may be as large as the limit of its route, but not larger', async (t) => {
  const whole = (bytes: number) => `${head(`Content-Length: ${bytes}`)}${textOf(bytes)}`
  const chunked = (bytes: number) => `${CHUNKED}${bytes.toString(16)}\r\n${textOf(bytes)}\r\n${END}`
  for (const request of [whole, chunked]) {
    t.match(await send(request(LIMIT)), { statusCode: 200 })
    const { statusCode, body } = await send(request(LIMIT + 1))
    t.equal(statusCode, 413)
    t.match(JSON.parse(body), { error: { code: 'BODY_TOO_LARGE' } })
  }
  t.match(
    await send(head(`Content-Length: ${LIMIT + 1}`)),
    { statusCode: 413 },
    'refused by its Content-Length, before any byte of it'
  )
})

t.test('an incomplete body does not affect later requests', async (t) => {
  await send(`${head('Content-Length: 100')}"x`, true)
  t.match(await send(`${CHUNKED}${toChunks('"x"')}${END}`), { statusCode: 200 })
})

t.test('an incomplete body in small chunks takes little memory', async (t) => {
  const CONNECTIONS = 200
  const CHUNKS = 1000
  const { port } = app.server.address() as { port: number }
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })

  const incompleteRequest = `${CHUNKED}${toChunks(textOf(CHUNKS))}`
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const expected = requestCount + CONNECTIONS
  for (let count = 0; count < CONNECTIONS; count += 1) {
    const socket = connect({ host: '127.0.0.1', port })
    socket.write(incompleteRequest)
    sockets.push(socket)
  }
  while (requestCount < expected) await wait(10)
  await wait(300)
  collectGarbage()
  const perConnection = (process.memoryUsage().heapUsed - before) / CONNECTIONS
  t.comment(`${Math.round(perConnection / 1024)} KiB per connection with ${CHUNKS} chunks`)
  t.ok(perConnection < 50 * 1024, `${perConnection} bytes`)
})
