import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import {
  asAdmin,
  asToken,
  bearer,
  client,
  createTable,
  dataOf,
  expectError,
  logIn,
  plainField,
  routesOf,
  startApp
} from '../helpers.ts'
import { listenRaw } from '../raw-http.ts'

// Requests of an attacker, and the headers that protect every response.

const PROTOTYPE_NAMES = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', 'isPrototypeOf']

t.test('tables and fields may have the names of properties of Object.prototype', async (t) => {
  const app = await startApp(t)
  const admin = await asAdmin(app)
  const token = await asToken(app, admin)
  for (const name of PROTOTYPE_NAMES) {
    const fields = PROTOTYPE_NAMES.map((field) => ({ name: field, jsonType: 'string' as const }))
    await createTable(admin, { name, fields })
    t.match(dataOf(await token.get(`/data/${name}/schema`)).fields[1], plainField('constructor', 'string', 'TEXT'))
    const record = Object.fromEntries(PROTOTYPE_NAMES.map((field) => [field, `${field}!`]))
    t.strictSame(dataOf(await token.post(`/data/${name}/records`, record)), { id: 1, ...record })
    dataOf(await token.put(`/data/${name}/records/1`, { constructor: 'changed' }))
    t.equal(dataOf(await token.get(`/data/${name}?order=-${name}&q=changed`)).rows[0].constructor, 'changed')
  }
})

t.test('a property of Object.prototype is not taken for a table or a field', async (t) => {
  const app = await startApp(t)
  const admin = await asAdmin(app)
  const token = await asToken(app, admin)
  const { id } = await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  dataOf(await admin.post(`/admin/tables/${id}/data`, { name: 'Tom' }))
  for (const name of [...PROTOTYPE_NAMES, '__proto__']) {
    expectError(t, await token.get(`/data/${name}`), 404, 'TABLE_NOT_FOUND')
    expectError(t, await token.get(`/data/cats?order=${name}`), 400, 'VALIDATION_FAILED')
    expectError(t, await token.get(`/data/cats?${name}=1`), 400, 'VALIDATION_FAILED')
    expectError(t, await token.get(`/data/cats/records/${name}`), 404, 'RECORD_NOT_FOUND')
    expectError(t, await token.post('/data/cats/records', `{"${name}":"x"}`), 415, 'UNSUPPORTED_MEDIA_TYPE')
    for (const [url, body] of [
      ['/data/cats/records', `{"${name}":"x"}`],
      ['/data/cats/incr', `{"pk":"1","field":"${name}"}`]
    ] as const) {
      const headers = { ...token.headers, 'content-type': 'application/json' }
      expectError(t, await client(app, headers).post(url, body), 400, 'VALIDATION_FAILED')
    }
  }
  t.equal(Reflect.get({}, 'name'), undefined)
})

t.test('absolute and percent-encoded targets do not avoid the credential check', async (t) => {
  const app = await startApp(t)
  const { cookie } = await logIn(app)
  const send = await listenRaw(t, app)
  const get = (target: string, ...headers: string[]) =>
    send([`GET ${target} HTTP/1.1`, 'Host: localhost', ...headers, 'Connection: close', '', ''].join('\r\n'))
  for (const target of ['/%61dmin/tables', '/admin/%74ables', '/%61%64%6d%69%6e/tables']) {
    t.match(JSON.parse((await get(target)).body), { error: { code: 'AUTHENTICATION_REQUIRED' } }, target)
    t.equal((await get(target, `Cookie: ${cookie}`)).statusCode, 200, target)
  }
  for (const target of ['http://localhost/admin/tables', 'http://elsewhere/admin/tables', '//localhost/admin/tables'])
    t.notMatch((await get(target)).body, /"success":true/, target)
  t.match((await get('/admin/tables#/health')).statusCode, /40[014]/)
})

const guessFrom = (app: Awaited<ReturnType<typeof startApp>>) => (address: string) =>
  client(app, { 'x-forwarded-for': address }).post('/auth/login', { name: 'admin', password: 'wrong' })

t.test('without TRUST_PROXY, X-Forwarded-For gives no more guesses', async (t) => {
  const guess = guessFrom(await startApp(t))
  for (let host = 1; host <= 10; host += 1) expectError(t, await guess(`192.0.2.${host}`), 401, 'INVALID_CREDENTIALS')
  expectError(t, await guess('192.0.2.11'), 429, 'TOO_MANY_ATTEMPTS')
})

t.test('with TRUST_PROXY, addresses that the client adds to X-Forwarded-For give no more guesses', async (t) => {
  const guess = guessFrom(await startApp(t, { env: { TRUST_PROXY: '127.0.0.1' } }))
  const attacker = '198.51.100.7'
  for (let host = 1; host <= 10; host += 1)
    expectError(t, await guess(`192.0.2.${host}, ${attacker}`), 401, 'INVALID_CREDENTIALS')
  expectError(t, await guess(`192.0.2.11, ${attacker}`), 429, 'TOO_MANY_ATTEMPTS')
  expectError(t, await guess('198.51.100.8'), 401, 'INVALID_CREDENTIALS')
})

t.test('every response, of any route and status, forbids caching, framing and type sniffing', async (t) => {
  const app = await startApp(t)
  const { id } = await createTable(await asAdmin(app), { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  const statuses = new Set<number>()
  // New ones for each request, since some requests end their session.
  const newCredentials = async () => {
    const admin = await asAdmin(app)
    return { ...admin.headers, ...(await asToken(app, admin)).headers }
  }
  for (const { url, method } of [...routesOf(app), { url: '/data/:table', method: 'PATCH' }]) {
    for (const headers of [{}, await newCredentials()]) {
      const target = url.replace(':id', String(id)).replace(':table', 'cats').replace(':pk', '1')
      const response = await app.inject({ method: [method].flat()[0] as 'GET', url: target, headers })
      statuses.add(response.statusCode)
      if ('cookie' in headers) t.not(response.statusCode, 401, target)
      t.match(
        response.headers,
        {
          'cache-control': 'private, no-store',
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
          'content-security-policy': /default-src 'none'.*frame-ancestors 'none'/
        },
        `${response.statusCode} ${target}`
      )
    }
  }
  for (const status of [200, 400, 401, 405]) t.ok(statuses.has(status), `${status} was among the statuses`)
})

t.test('a request whose session ends before its body is complete has no effect', async (t) => {
  const app = await startApp(t)
  const admin = await asAdmin(app)
  const { token } = dataOf(
    await admin.post('/admin/tokens', { name: 'kept', permissions: { tables: ['*'], actions: ['read'] } })
  )
  const [ended, active] = [await logIn(app), await logIn(app)]
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const sendHead = async ({ cookie }: { cookie: string }) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `DELETE /admin/tokens/1 HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\nExpect: 100-continue\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`
    )
    t.match(String((await once(socket, 'data'))[0]), 'HTTP/1.1 100 Continue')
    return socket
  }
  const sendBody = async (socket: Socket) => {
    socket.write('0\r\n\r\n')
    return text(socket)
  }
  const sockets = [await sendHead(ended), await sendHead(active)] as const
  t.equal((await client(app, ended).post('/auth/logout')).statusCode, 200)
  t.match(await sendBody(sockets[0]), /^HTTP\/1\.1 401 .*AUTHENTICATION_REQUIRED/s)
  t.equal((await client(app, bearer(token)).get('/data/_me')).statusCode, 200)
  t.match(await sendBody(sockets[1]), /^HTTP\/1\.1 200 /)
  t.equal((await client(app, bearer(token)).get('/data/_me')).statusCode, 401)
})
