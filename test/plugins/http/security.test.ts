import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { readConfig } from '../../../config.ts'
import allowedMethods from '../../../plugins/http/allowed-methods.ts'
import errors from '../../../plugins/http/errors.ts'
import security, { type SecurityOptions } from '../../../plugins/http/security.ts'
import { ok } from '../../../schemas/envelope.ts'
import { createSettings } from '../../../services/settings/settings.ts'
import { startApp } from '../../helpers.ts'

const policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const start = async (t: Test, env: Record<string, string> = {}, options: SecurityOptions = {}) => {
  const app = Fastify({ routerOptions: { maxParamLength: 8192 } })
  app.decorate('settings', createSettings(readConfig(env)))
  await app.register(errors)
  await app.register(security, options)
  await app.register(allowedMethods)
  app.get('/data/cats', async () => ok([]))
  app.get('/data/cats/:pk', async () => ok('Tom'))
  app.post('/data/cats', async ({ body }) => ok(body))
  app.get('/vital', { config: { evenUnderPressure: true } }, async () => ok('alive'))
  t.teardown(() => app.close())
  return app
}

t.test('every response, also a failure, has the security headers', async (t) => {
  const app = await start(t)
  for (const [method, url, status] of [
    ['GET', '/data/cats', 200],
    ['HEAD', '/data/cats', 200],
    ['DELETE', '/data/cats', 405],
    ['GET', '/nowhere', 404]
  ] as const) {
    const res = await app.inject({ method, url })
    t.equal(res.statusCode, status)
    t.match(res.headers, {
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'private, no-store',
      vary: 'Authorization, Cookie'
    })
  }
})

t.test(
  'a URL of more than 16,384 characters is refused before routing; a key in the path is not counted',
  async (t) => {
    const app = await start(t)
    const MAX_LENGTH = 16 * 1024
    const pad = (start: string, length: number) => start + 'x'.repeat(length - start.length)
    for (const [start, status] of [
      ['/data/cats?', 200],
      ['/', 404]
    ] as const) {
      const within = await app.inject(pad(start, MAX_LENGTH))
      t.equal(within.statusCode, status)
      const beyond = await app.inject(pad(start, MAX_LENGTH + 1))
      t.equal(beyond.statusCode, 414)
      t.match(beyond.json(), { success: false, error: { code: 'PATH_TOO_LONG' } })
    }
    const byKey = `/data/cats/${'%41'.repeat(8000)}`
    t.equal((await app.inject(byKey)).statusCode, 200)
    t.equal((await app.inject(byKey + pad('?', MAX_LENGTH))).statusCode, 200)
    t.equal(
      (await app.inject(byKey + pad('?', MAX_LENGTH + 1))).statusCode,
      414,
      'a query after a key has the same limit'
    )
  }
)

t.test('an encoded body is refused, a plain one is accepted', async (t) => {
  const app = await start(t)
  const post = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/data/cats', headers, payload: { name: 'Tom' } })

  for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, identity', 'IDENTITY, identity']) {
    const res = await post({ 'content-encoding': encoding })
    t.equal(res.statusCode, 415, encoding)
    t.match(res.json(), { success: false, error: { code: 'UNSUPPORTED_MEDIA_TYPE', hint: /Content-Encoding/ } })
  }
  for (const coding of ['gzip, chunked', 'gzip', 'identity']) {
    const res = await post({ 'transfer-encoding': coding })
    t.equal(res.statusCode, 400, coding)
    t.match(res.json(), { success: false, error: { code: 'MALFORMED_REQUEST' } })
  }
  for (const headers of [
    {},
    { 'content-encoding': 'identity' },
    { 'content-encoding': 'Identity' },
    { 'transfer-encoding': 'Chunked' }
  ]) {
    const res = await post(headers)
    t.equal(res.statusCode, 200)
    t.same(res.json(), { success: true, data: { name: 'Tom' } })
  }
})

const preflight = (origin: string) => ({
  method: 'OPTIONS' as const,
  url: '/data/cats',
  headers: { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization' }
})

t.test('without CORS_ORIGIN, no other origin is allowed', async (t) => {
  const app = await start(t)
  const res = await app.inject(preflight('https://app.example.org'))
  t.equal(res.statusCode, 405)
  t.equal(res.headers.allow, 'GET, HEAD, POST')
  t.match(res.json(), { success: false, error: { code: 'METHOD_NOT_ALLOWED' } })
  const read = await app.inject({ url: '/data/cats', headers: { origin: 'https://app.example.org' } })
  t.equal(read.statusCode, 200)
  t.equal(read.headers['access-control-allow-origin'], undefined)
})

t.test('with CORS_ORIGIN', async (t) => {
  const listed = 'https://app.example.org'
  const app = await start(t, { CORS_ORIGIN: `${listed}, http://localhost:5173` })

  t.test('a listed origin may send a preflight', async (t) => {
    for (const origin of [listed, 'http://localhost:5173']) {
      const res = await app.inject(preflight(origin))
      t.equal(res.statusCode, 204)
      t.equal(res.body, '')
      t.match(res.headers, {
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers':
          'Authorization, Content-Encoding, Content-Type, Idempotency-Key, If-Match, If-None-Match',
        'access-control-max-age': '600'
      })
    }
  })

  t.test('a listed origin may read responses and their headers', async (t) => {
    const res = await app.inject({ url: '/data/cats', headers: { origin: listed } })
    t.equal(res.statusCode, 200)
    t.match(res.headers, {
      'access-control-allow-origin': listed,
      'access-control-expose-headers':
        'Allow, Content-Disposition, ETag, Idempotency-Replayed, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id',
      vary: 'Authorization, Cookie, Origin',
      'content-security-policy': policy
    })
  })

  t.test('a listed origin may read failures too', async (t) => {
    const res = await app.inject({ url: '/nowhere', headers: { origin: listed } })
    t.equal(res.statusCode, 404)
    t.equal(res.headers['access-control-allow-origin'], listed)
  })

  t.test('similar origins are not allowed', async (t) => {
    const others = [
      'null',
      'http://app.example.org',
      'https://app.example.org.evil.test',
      `${listed}:8443`,
      'https://example.org'
    ]
    for (const origin of others) {
      const response = await app.inject(preflight(origin))
      t.equal(response.headers['access-control-allow-origin'], undefined, origin)
      const read = await app.inject({ url: '/data/cats', headers: { origin } })
      t.equal(read.headers['access-control-allow-origin'], undefined, origin)
    }
  })

  t.test('an OPTIONS request that is not a preflight gets 405', async (t) => {
    for (const headers of [{}, { origin: listed }]) {
      const res = await app.inject({ method: 'OPTIONS', url: '/data/cats', headers })
      t.equal(res.statusCode, 405)
      t.match(res.json(), { success: false, error: { code: 'METHOD_NOT_ALLOWED' } })
    }
  })

  t.test('an unknown path gets 404 for every method', async (t) => {
    for (const method of ['GET', 'POST', 'OPTIONS'] as const) {
      const res = await app.inject({ method, url: '/nowhere' })
      t.equal(res.statusCode, 404)
      t.match(res.json(), { success: false, error: { code: 'ROUTE_NOT_FOUND' } })
    }
  })
})

t.test('when the event loop is delayed, only vital requests are served', async (t) => {
  const app = await start(t, {}, { maxEventLoopDelay: 1 })
  t.equal((await app.inject('/data/cats')).statusCode, 200)

  const until = Date.now() + 500
  while (Date.now() < until);
  while (!app.isUnderPressure()) await new Promise((resolve) => setImmediate(resolve))

  const refused = await app.inject('/data/cats')
  t.equal(refused.statusCode, 503)
  t.equal(refused.headers['retry-after'], '1')
  t.match(refused.json(), { success: false, error: { code: 'OVERLOADED' } })
  const vital = await app.inject('/vital')
  t.equal(vital.statusCode, 200)
  t.same(vital.json(), { success: true, data: 'alive' })
})

t.test('the whole service starts with CORS, and unknown paths get 404', async (t) => {
  const app = await startApp(t, { env: { CORS_ORIGIN: 'https://app.example.org' } })
  const allowed = await app.inject({ url: '/health', headers: { origin: 'https://app.example.org' } })
  t.equal(allowed.headers['access-control-allow-origin'], 'https://app.example.org')
  t.equal((await app.inject('/nowhere')).statusCode, 404)
})
