import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t from 'tap'
import errors from '../../../plugins/http/errors.ts'
import validation, { compilers } from '../../../plugins/http/validation.ts'
import { collectGarbage } from '../../garbage.ts'
import type { App } from '../../helpers.ts'
import { listenRaw } from '../../raw-http.ts'

const LIMIT = 1024 * 1024

const app = Fastify({ schemaController: compilers, bodyLimit: LIMIT, forceCloseConnections: true })
await app.register(errors)
await app.register(validation)
let arrived = 0
app.addHook('onRequest', async () => {
  arrived += 1
})
app.post('/echo', { schema: { operationId: 'echo', body: Type.Any() } }, async ({ body }) => ({ body }))
const send = await listenRaw(t, app as unknown as App)

const head = (...headers: string[]) =>
  `${['POST /echo HTTP/1.1', 'Host: x', 'Connection: close', 'Content-Type: application/json', ...headers].join('\r\n')}\r\n\r\n`
const CHUNKED = head('Transfer-Encoding: chunked')

/** ASCII, in chunks of so many bytes. */
const chunks = (text: string, length = 1) =>
  text.replace(RegExp(`.{1,${length}}`, 'g'), `${length.toString(16)}\r\n$&\r\n`)
const END = '0\r\n\r\n'

/** JSON text of so many bytes. */
const textOf = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2))

t.test('a body may arrive in a thousand small pieces, and in any number of larger ones', async (t) => {
  for (const [pieces, length] of [
    [3, 1],
    [63, 1],
    [64, 1],
    [65, 1],
    [1025, 1],
    [2000, 512]
  ] as const) {
    const { statusCode, body } = await send(`${CHUNKED}${chunks(textOf(pieces * length), length)}${END}`)
    t.equal(statusCode, 200, `${pieces} of ${length}`)
    t.ok(body === JSON.stringify({ body: 'x'.repeat(pieces * length - 2) }))
  }
  const { statusCode, head, body } = await send(`${CHUNKED}${chunks(textOf(1100))}${END}`)
  t.equal(statusCode, 400)
  t.match(head, /^connection: close$/im)
  t.match(JSON.parse(body), { success: false, error: { code: 'MALFORMED_REQUEST', hint: /chunks of 512 bytes/ } })
})

t.test('a body may have as many bytes as the route takes, and no more', async (t) => {
  const whole = (bytes: number) => `${head(`Content-Length: ${bytes}`)}${textOf(bytes)}`
  const chunked = (bytes: number) => `${CHUNKED}${bytes.toString(16)}\r\n${textOf(bytes)}\r\n${END}`
  for (const request of [whole, chunked]) {
    t.match(await send(request(LIMIT)), { statusCode: 200 })
    const { statusCode, body } = await send(request(LIMIT + 1))
    t.equal(statusCode, 413)
    t.match(JSON.parse(body), { error: { code: 'BODY_TOO_LARGE' } })
  }
  t.match(await send(head(`Content-Length: ${LIMIT + 1}`)), { statusCode: 413 }, 'known before any of it has come')
})

t.test('a body that the client gives up harms nothing', async (t) => {
  await send(`${head('Content-Length: 100')}"x`, true)
  t.match(await send(`${CHUNKED}${chunks('"x"')}${END}`), { statusCode: 200 })
})

t.test('bodies that wait for more take no more memory than they have bytes', async (t) => {
  const CONNECTIONS = 200
  const PIECES = 1000
  const { port } = app.server.address() as { port: number }
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })

  const trickle = `${CHUNKED}${chunks(textOf(PIECES))}`
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const expected = arrived + CONNECTIONS
  for (let count = 0; count < CONNECTIONS; count += 1) {
    const socket = connect({ host: '127.0.0.1', port })
    socket.write(trickle)
    sockets.push(socket)
  }
  while (arrived < expected) await wait(10)
  await wait(300)
  collectGarbage()
  const perConnection = (process.memoryUsage().heapUsed - before) / CONNECTIONS
  t.comment(`${Math.round(perConnection / 1024)} KiB a connection of ${PIECES} pieces`)
  t.ok(perConnection < 50 * 1024, `${perConnection} bytes`)
})
