import Fastify from 'fastify'
import t from 'tap'
import { createRequestIds } from '../../../plugins/http/request-id.ts'
import { bearer, startApp } from '../../helpers.ts'
import { listenRaw } from '../../raw-http.ts'

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const PROXY = '10.1.2.3'
const SENT = { 'x-request-id': 'trace-7f3a' }

t.test('every request has an id of its own, also after a restart', async (t) => {
  const ids = new Set<unknown>()
  for (let start = 0; start < 2; start += 1) {
    const app = await startApp(t)
    for (let count = 0; count < 3; count += 1) {
      const { headers } = await app.inject('/health')
      t.match(headers['x-request-id'], UUID)
      ids.add(headers['x-request-id'])
    }
  }
  t.equal(ids.size, 6)
})

t.test('the header of a response is the requestId of its body', async (t) => {
  const app = await startApp(t, { env: { TRUST_PROXY: PROXY } })
  for (const [url, status] of [
    ['/nowhere', 404],
    ['/data/cats', 401],
    ['/%', 400],
    [`/data/cats/records/${'x'.repeat(25_000)}`, 414],
    [`/nowhere?${'x'.repeat(20_000)}`, 414]
  ] as const) {
    const response = await app.inject({ url, headers: bearer('none') })
    t.equal(response.statusCode, status)
    t.match(response.headers['x-request-id'], UUID)
    t.equal(response.json().error.requestId, response.headers['x-request-id'])

    const traced = await app.inject({ url, headers: SENT, remoteAddress: PROXY })
    t.equal(traced.statusCode, status)
    t.equal(traced.headers['x-request-id'], 'trace-7f3a')
    t.equal(traced.json().error.requestId, 'trace-7f3a')
  }
})

t.test('a request that Node refuses before Fastify has an id, and one that cannot be parsed has none', async (t) => {
  const send = await listenRaw(t, await startApp(t, { env: { TRUST_PROXY: '127.0.0.1' } }))
  const request = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: more\r\n'
  const refused = await send(`${request}\r\n`)
  t.equal(refused.statusCode, 400)
  const { requestId } = JSON.parse(refused.body).error
  t.match(requestId, UUID)
  t.match(refused.head, `x-request-id: ${requestId}`)

  const traced = await send(`${request}X-Request-Id: trace-7f3a\r\n\r\n`)
  t.equal(JSON.parse(traced.body).error.requestId, 'trace-7f3a')
  t.match(traced.head, 'x-request-id: trace-7f3a')

  const unparsed = await send('nonsense\r\n\r\n')
  t.equal(JSON.parse(unparsed.body).error.requestId, 'none')
  t.notMatch(unparsed.head, /x-request-id/)
})

/** Returns the id of a request with this address and X-Request-Id. */
const createSender = (proxies: string) => {
  const app = Fastify({ genReqId: createRequestIds(proxies) })
  app.get('/', async ({ id }) => id)
  return async (remoteAddress: string, id: string | string[]) =>
    (await app.inject({ url: '/', remoteAddress, headers: { 'x-request-id': id } })).body
}

t.test('the X-Request-Id of a client that is not a trusted proxy is ignored', async (t) => {
  t.match(await createSender('')('127.0.0.1', 'trace'), UUID, 'without TRUST_PROXY')
  const send = createSender('10.0.0.0/8, 192.0.2.1,fd00::/8')
  for (const address of ['127.0.0.1', '192.0.2.2', 'fe00::1', 'fe80::1%eth0', '::ffff:192.0.2.2', '', 'unknown'])
    t.match(await send(address, 'trace'), UUID, address)
})

t.test('the X-Request-Id of a trusted proxy is used', async (t) => {
  const send = createSender('10.0.0.0/8, 192.0.2.1,fd00::/8')
  for (const address of ['10.255.0.1', '192.0.2.1', '::ffff:192.0.2.1', 'fd12::1'])
    t.equal(await send(address, 'trace'), 'trace', address)
  for (const id of ['~', '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', 'x'.repeat(128)]) t.equal(await send('10.0.0.1', id), id)
})

t.test('an X-Request-Id that is empty, too long, repeated or not printable ASCII is ignored', async (t) => {
  const send = createSender('10.0.0.0/8')
  for (const id of ['', ' ', 'a b', 'a\tb', 'x'.repeat(129), 'é', '\u007f', ['a', 'b']])
    t.match(await send('10.0.0.1', id), UUID, JSON.stringify(id))
})
