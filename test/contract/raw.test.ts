import t, { type Test } from 'tap'
import { asAdmin, asToken, createTable, PASSWORD, startApp } from '../helpers.ts'
import { listenRaw, type RawResponse } from '../raw-http.ts'

const app = await startApp(t)
const admin = await asAdmin(app)
await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
const { authorization } = (await asToken(app, admin)).headers
const send = await listenRaw(t, app)

const expectError = (t: Test, response: RawResponse, status: number, code: string) => {
  t.equal(response.statusCode, status, response.head)
  t.match(JSON.parse(response.body), { success: false, error: { code, message: /\w.*\.$/ } })
}

const get = (target: string, ...headers: string[]) =>
  send([`GET ${target} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n'))

t.test('HTTP/1.1 needs a Host, HTTP/1.0 does not', async (t) => {
  expectError(t, await get('/health'), 400, 'MALFORMED_REQUEST')
  t.equal((await get('/health', 'Host: localhost')).statusCode, 200)
  t.equal((await send('GET /health HTTP/1.0\r\n\r\n')).statusCode, 200)
})

t.test('the Host header is single and valid', async (t) => {
  const hosts = [
    'localhost',
    'rows.example:3000',
    '127.0.0.1:80',
    '[::1]:3000',
    '[fe80::1%25eth0]',
    'a_b.example:',
    'x%20y'
  ]
  for (const host of hosts) t.equal((await get('/health', `Host: ${host}`)).statusCode, 200, host)
  for (const host of ['', ':80', 'a b', 'a/b', 'a@b', 'a:b', 'a,b:1:2', '::1', '[::1', 'ü', 'a\tb'])
    expectError(t, await get('/health', `Host: ${host}`), 400, 'MALFORMED_REQUEST')
  expectError(t, await get('/health', 'Host: localhost', 'Host: localhost'), 400, 'MALFORMED_REQUEST')
  expectError(t, await get('/health', 'Host: localhost', 'hOST: elsewhere'), 400, 'MALFORMED_REQUEST')
  expectError(t, await send('GET /health HTTP/1.0\r\nHost: a b\r\n\r\n'), 400, 'MALFORMED_REQUEST')
  t.equal((await send('GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n')).statusCode, 200)
})

t.test('GET and HEAD refuse a body without waiting for it', async (t) => {
  const body = (method: string, ...headers: string[]) =>
    send([`${method} /health HTTP/1.1`, 'Host: localhost', ...headers].join('\r\n'))
  for (const length of ['3', '99999999999', '007'])
    expectError(t, await body('GET', `Content-Length: ${length}`, '', ''), 400, 'BODY_NOT_ALLOWED')
  expectError(t, await body('GET', 'Transfer-Encoding: chunked', '', ''), 400, 'BODY_NOT_ALLOWED')
  const head = await body('HEAD', 'Content-Length: 3', '', '')
  t.equal(head.statusCode, 400)
  t.match(head.head, /^connection: close$/im)
  for (const method of ['GET', 'HEAD']) {
    t.equal((await body(method, 'Connection: close', 'Content-Length: 0', '', '')).statusCode, 200)
    t.equal((await body(method, 'Connection: close', 'Content-Length: 2', '', '{}')).statusCode, 200)
  }
})

t.test('invalid bytes after a request do not change its response', async (t) => {
  const body = JSON.stringify({ name: 'admin', password: PASSWORD })
  const head = `POST /auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  const response = await send(`${head}\r\n\r\n${body}\0\0 no request\r\n\r\n`)
  t.equal(response.statusCode, 200, 'the login has its response, and the connection ended')
  t.match(JSON.parse(response.body), { success: true })
  expectError(t, await send(`${head}, 7\r\n\r\n${body}`), 400, 'MALFORMED_REQUEST')
})

t.test('an invalid request does not replace the response to the request before it', async (t) => {
  const body = JSON.stringify({ name: 'admin', password: PASSWORD })
  const login = `POST /auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const broken = (chunk: string) =>
    `POST /auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`
  const response = await send(`${login}${broken('ZZZ\r\n')}`)
  t.equal(response.statusCode, 200, 'the login has its response, and the connection ended')
  t.match(JSON.parse(response.body), { success: true })
  expectError(t, await send(broken('ZZZ\r\n')), 400, 'MALFORMED_REQUEST')
})

t.test('an unsupported Expect header is refused in the error envelope', async (t) => {
  expectError(t, await get('/health', 'Host: localhost', 'Expect: the-impossible'), 400, 'MALFORMED_REQUEST')
})

t.test('any other HTTP method responds 405 on a known path, and 404 on an unknown one', async (t) => {
  for (const method of ['PROPFIND', 'MKCOL', 'TRACE', 'PURGE', 'QUERY']) {
    const call = (path: string) => send(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    const response = await call('/health')
    expectError(t, response, 405, 'METHOD_NOT_ALLOWED')
    t.match(response.head, /^allow: GET, HEAD$/im)
    expectError(t, await call('/nowhere'), 404, 'ROUTE_NOT_FOUND')
  }
})

t.test('a key of maximum length is accepted when percent-encoded', async (t) => {
  const pathOf = (length: number) => `/data/cats/records/${encodeURIComponent('€'.repeat(length))}`
  const call = (length: number) => get(pathOf(length), 'Host: localhost', `Authorization: ${authorization}`)
  expectError(t, await call(8192), 404, 'RECORD_NOT_FOUND')
  expectError(t, await call(8193), 414, 'PATH_TOO_LONG')
})

t.test('a long query after a key is refused', async (t) => {
  const call = (end: string) => get(`/data/cats/records/7${end}`, 'Host: localhost', `Authorization: ${authorization}`)
  for (const mark of ['?', '#']) {
    expectError(t, await call(`${mark}${'x'.repeat(100)}`), 400, 'VALIDATION_FAILED')
    expectError(t, await call(`${mark}${'x'.repeat(17_000)}`), 414, 'PATH_TOO_LONG')
  }
})

t.test('a path that leaves the documentation folder is refused, at any length', async (t) => {
  const call = (path: string) => get(`/docs/static/${path}`, 'Host: localhost')
  t.equal((await call('index.css')).statusCode, 200)
  expectError(t, await call('missing.css'), 404, 'ROUTE_NOT_FOUND')
  for (const path of ['../', '../../package.json', '%2e%2e/', '%00'])
    expectError(t, await call(path), 400, 'MALFORMED_REQUEST')
  expectError(t, await call('../'.repeat(28_000)), 414, 'PATH_TOO_LONG')
})

t.test('a body for an unknown route or method is neither awaited nor parsed', async (t) => {
  const post = (path: string, connection: string) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n`
  for (const [path, status, code] of [
    ['/nowhere', 404, 'ROUTE_NOT_FOUND'],
    ['/health', 405, 'METHOD_NOT_ALLOWED']
  ] as const) {
    expectError(t, await send(post(path, 'close')), status, code)
    const next = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    const response = await send(`${post(path, 'keep-alive')}not JSON${next}`)
    t.equal(response.statusCode, status)
    t.match(response.body, /"requestId".*HTTP\/1\.1 200 OK/s, 'the next request on the connection has its response')
  }
})
