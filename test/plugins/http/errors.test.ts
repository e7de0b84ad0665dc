import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import errors, { onClientError } from '../../../plugins/http/errors.ts'
import { DomainError } from '../../../services/model/errors.ts'

/** Returns both ends of a connection. */
const openConnection = async (t: Test) => {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const [socket] = (await once(server, 'connection')) as [Socket]
  t.teardown(() => {
    client.destroy()
    socket.destroy()
    server.close()
  })
  return { client, socket }
}

const clientError = (code: string) => Object.assign(new Error('client error'), { code })

t.test('a 4xx error of Fastify is a client error, even if its code is not known', async (t) => {
  const app = Fastify({ logger: false })
  await app.register(errors)
  const thrown: [object, number, string][] = [
    [{ code: 'FST_ERR_NEW', statusCode: 422 }, 400, 'MALFORMED_REQUEST'],
    [{ code: 'FST_ERR_NEW', statusCode: 500 }, 500, 'INTERNAL_ERROR'],
    [{ code: 'FST_ERR_NEW' }, 500, 'INTERNAL_ERROR'],
    [{ expose: true, statusCode: 403 }, 400, 'MALFORMED_REQUEST'],
    [{ expose: true, statusCode: 500 }, 500, 'INTERNAL_ERROR'],
    [{ code: 'EACCES', statusCode: 400 }, 500, 'INTERNAL_ERROR']
  ]
  for (const [index, [properties]] of thrown.entries())
    app.get(`/${index}`, async () => {
      throw Object.assign(new Error('thrown'), properties)
    })
  for (const [index, [, status, code]] of thrown.entries()) {
    const response = await app.inject(`/${index}`)
    t.equal(response.statusCode, status)
    t.match(response.json(), { success: false, error: { code } })
  }
})

t.test('only an invalid token gets a Bearer challenge', async (t) => {
  const app = Fastify({ logger: false })
  await app.register(errors)
  const challenges = { INVALID_TOKEN: 'Bearer', AUTHENTICATION_REQUIRED: undefined }
  const codes = ['INVALID_TOKEN', 'AUTHENTICATION_REQUIRED'] as const
  for (const code of codes)
    app.get(`/${code}`, async () => {
      throw new DomainError(code, 'Refused.')
    })
  for (const code of codes) {
    const response = await app.inject(`/${code}`)
    t.equal(response.statusCode, 401)
    t.match(response.json(), { success: false, error: { code } })
    t.equal(response.headers['www-authenticate'], challenges[code])
  }
})

t.test('invalid HTTP gets the failure envelope', async (t) => {
  const expected: [string, string, string][] = [
    ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout', 'REQUEST_TIMEOUT'],
    ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large', 'HEADERS_TOO_LARGE'],
    ['HPE_INVALID_METHOD', '400 Bad Request', 'MALFORMED_REQUEST']
  ]
  for (const [code, status, errorCode] of expected) {
    const { client, socket } = await openConnection(t)
    onClientError(clientError(code), socket)
    const [head = '', body = ''] = (await text(client)).split('\r\n\r\n')
    t.match(head, `HTTP/1.1 ${status}\r\n`)
    t.match(head, /^connection: close$/m)
    t.match(head, /^cache-control: private, no-store$/m)
    t.match(head, `content-length: ${Buffer.byteLength(body)}`)
    t.match(JSON.parse(body), { success: false, error: { code: errorCode, requestId: 'none' } })
  }
})

t.test('a connection is closed after such a response, even if its client keeps it open', async (t) => {
  const { client, socket } = await openConnection(t)
  const closed = once(socket, 'close')
  onClientError(clientError('ERR_HTTP_REQUEST_TIMEOUT'), socket)
  t.match(await text(client), /^HTTP\/1.1 408 /)
  await closed
  t.ok(socket.destroyed)
})

t.test('a closed connection is destroyed without a response', async (t) => {
  const { client, socket } = await openConnection(t)
  onClientError(clientError('ECONNRESET'), socket)
  t.equal(await text(client), '')
  t.ok(socket.destroyed)

  const other = await openConnection(t)
  other.socket.end()
  onClientError(clientError('HPE_INVALID_METHOD'), other.socket)
  t.equal(await text(other.client), '')
  t.ok(other.socket.destroyed)
})
