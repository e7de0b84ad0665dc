const host = 'Host: localhost'

const message = (...lines: string[]) => lines.join('\r\n')
const get = (target: string, ...headers: string[]) => message(`GET ${target} HTTP/1.1`, host, ...headers, '', '')
const post = (body: string, ...headers: string[]) =>
  message('POST /auth/login HTTP/1.1', host, 'Content-Type: application/json', ...headers, '', body)

const LOGIN = '{"name":"nobody","password":"x"}'
const length = (count: number | string) => `Content-Length: ${count}`
const CHUNKED = 'Transfer-Encoding: chunked'
const chunks = `${LOGIN.length.toString(16)}\r\n${LOGIN}\r\n0\r\n\r\n`

const valid = [get('/health'), get('/openapi.json'), post(LOGIN, length(LOGIN.length)), post(chunks, CHUNKED)]

const requestLines = [
  '',
  '\r\n\r\n',
  'G',
  'GET',
  'GET /health',
  'GET /health\r\n\r\n',
  'GET /health HTTP/0.9\r\n\r\n',
  'GET /health HTTP/1.0\r\n\r\n',
  message('GET /health HTTP/1.2', host, '', ''),
  message('GET /health HTTP/2.0', host, '', ''),
  message('GET  /health HTTP/1.1', host, '', ''),
  message('GET\t/health\tHTTP/1.1', host, '', ''),
  message('get /health HTTP/1.1', host, '', ''),
  message('FROBNICATE /health HTTP/1.1', host, '', ''),
  message('CONNECT localhost:80 HTTP/1.1', host, '', ''),
  message('OPTIONS * HTTP/1.1', host, '', ''),
  message('SOURCE /health ICE/1.0', host, '', ''),
  message('DELETE /admin/admins/1 HTTP/1.1', host, '', ''),
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  '\0'.repeat(64),
  '\xff'.repeat(64)
]

const targets = [
  'http://localhost/health',
  'http://elsewhere.example/health',
  'localhost:80',
  '/%61dmin/tables',
  '//admin/tables',
  '/./admin/tables',
  '/admin/../health',
  '/health/..%2f..%2fetc/passwd',
  '/health#part',
  '/health?',
  '/health?a=%',
  '/health\\..',
  '/hea\0lth',
  '/h\xe9alth',
  '/data/%00',
  '/data/%zz',
  `/${'a'.repeat(9000)}`,
  `/${'%41'.repeat(30_000)}`,
  `/health?${'a=1&'.repeat(2000)}`
].map((target) => get(target))

const headers = [
  'X-A: a\r\n folded',
  'X-A : a',
  ': a',
  'X-A',
  'X-A: a\0b',
  'X-A: a\rb',
  'X-A: a\nX-B: b',
  'X-\xe9: \xff',
  `X-A: ${'a'.repeat(100_000)}`,
  Array.from({ length: 3000 }, (_, i) => `X-${i}: a`).join('\r\n'),
  host,
  'Host: a, b',
  'Expect: 100-continue',
  'Expect: the-impossible',
  'Connection: Upgrade\r\nUpgrade: websocket',
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA',
  'Connection: close, keep-alive',
  'Keep-Alive: timeout=-1',
  'Cookie: \x01=\x02;;;=;__proto__=1',
  'Authorization: Bearer \x80'
].map((header) => get('/auth/me', header))

const framings = [
  post(LOGIN),
  post(LOGIN, length(-1)),
  post(LOGIN, length('+32')),
  post(LOGIN, length('0x20')),
  post(LOGIN, length('32, 32')),
  post(LOGIN, length('9'.repeat(30))),
  post(LOGIN, length(1000)),
  post(LOGIN, length(3)),
  post(LOGIN, length(32), length(32)),
  post(LOGIN, length(32), length(33)),
  post(chunks, CHUNKED, length(32)),
  post(chunks, length(32), CHUNKED),
  post(chunks, CHUNKED, CHUNKED),
  post(chunks, 'Transfer-Encoding: chunked, identity'),
  post(chunks, 'Transfer-Encoding: gzip, chunked'),
  post(chunks, 'Transfer-Encoding: \x0bchunked'),
  post(chunks, 'Transfer-Encoding : chunked'),
  post('zz\r\n{}\r\n0\r\n\r\n', CHUNKED),
  post('-2\r\n{}\r\n0\r\n\r\n', CHUNKED),
  post('ffffffffffffffff\r\n{}\r\n', CHUNKED),
  post('fffffffffffffffffffff\r\n{}\r\n', CHUNKED),
  post('2;a=b\r\n{}\r\n0\r\n\r\n', CHUNKED),
  post(`2;${'a'.repeat(100_000)}\r\n{}\r\n0\r\n\r\n`, CHUNKED),
  post('2\n{}\n0\n\n', CHUNKED),
  post('2\r\n{}0\r\n\r\n', CHUNKED),
  post('2\r\n{}\r\n0\r\nX-Trailer: a\r\n\r\n', CHUNKED),
  post('2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n', CHUNKED),
  message('GET /health HTTP/1.1', host, length(5), '', 'abcde'),
  post(LOGIN, length(LOGIN.length), 'Expect: 100-continue')
]

const pipelines = [
  get('/health').repeat(20),
  get('/openapi.json') + get('/health') + get('/nowhere'),
  post(LOGIN, length(LOGIN.length)).repeat(3),
  `${get('/openapi.json')}garbage\r\n\r\n`,
  get('/health').replaceAll('\r\n', '\n'),
  message('HEAD /health HTTP/1.1', host, '', '') + get('/health')
]

/** Messages of faulty and of hostile clients. Each character is one byte. */
export const corpus: readonly string[] = [...valid, ...requestLines, ...targets, ...headers, ...framings, ...pipelines]

/** Bytes that a mutation inserts. */
export const TOKENS: readonly string[] = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  '0\r\n\r\n',
  length(0),
  CHUNKED,
  '\x80',
  '%',
  '?',
  'HTTP/1.1'
]
