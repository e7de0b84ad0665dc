import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { logIn, PASSWORD, startApp } from '../../helpers.ts'
import { type App, createAdmin, JWT_SECRET, loginRequest, startSessionApp } from '../../session-app.ts'

const AUTHENTICATION_REQUIRED = { success: false, error: { code: 'AUTHENTICATION_REQUIRED' } }

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Returns a JWT with any payload, signed with the secret. */
const forge = (payload: unknown, { alg = 'HS256', digest = 'sha256', secret = JWT_SECRET } = {}) => {
  const input = `${base64({ alg, typ: 'JWT' })}.${base64(payload)}`
  return `${input}.${createHmac(digest, secret).update(input).digest('base64url')}`
}

const tokenOf = ({ cookie }: { cookie: string }) => cookie.slice(cookie.indexOf('=') + 1)

const claimsOf = (token: string) => JSON.parse(Buffer.from(String(token.split('.')[1]), 'base64url').toString())

const probe = (app: App, headers: Record<string, string>) => app.inject({ url: '/admin/probe', headers })

t.test('the session cookie', async (t) => {
  const { app, clock, advance } = await startSessionApp(t, { TRUST_PROXY: '127.0.0.1' })

  t.test('over http is limited to this host, and not available to scripts and other sites', async (t) => {
    const response = await app.inject(loginRequest())
    t.equal(response.statusCode, 200)
    t.match(
      response.headers['set-cookie'],
      /^rowhouse_session=[\w-]+\.[\w-]+\.[\w-]+; Max-Age=3600; Path=\/; HttpOnly; SameSite=Strict$/
    )
  })

  t.test('over https is Secure and has the __Host- prefix', async (t) => {
    const response = await app.inject({ ...loginRequest(), headers: { 'x-forwarded-proto': 'https' } })
    t.match(
      response.headers['set-cookie'],
      /^__Host-rowhouse_session=[^;]+; Max-Age=3600; Path=\/; HttpOnly; Secure; SameSite=Strict$/
    )
  })

  t.test('over https is not accepted without the __Host- prefix', async (t) => {
    const token = tokenOf(await logIn(app))
    const https = { 'x-forwarded-proto': 'https' }
    const accepted = await probe(app, { ...https, cookie: `__Host-rowhouse_session=${token}` })
    t.equal(accepted.statusCode, 200)
    const refused = await probe(app, { ...https, cookie: `rowhouse_session=${token}` })
    t.equal(refused.statusCode, 401)
    t.match(refused.json(), AUTHENTICATION_REQUIRED)
  })

  t.test('holds exactly the documented claims, with whole seconds', async (t) => {
    const token = tokenOf(await logIn(app))
    t.same(JSON.parse(Buffer.from(String(token.split('.')[0]), 'base64url').toString()), { alg: 'HS256', typ: 'JWT' })
    const { jti, ...claims } = claimsOf(token)
    t.match(jti, /^[0-9a-f-]{36}$/)
    const iat = Math.floor(clock() / 1000)
    t.same(claims, { sub: '1', iat, exp: iat + 3600, iss: 'rowhouse', aud: 'rowhouse-admin' })
  })

  t.test('is accepted by a protected route', async (t) => {
    const response = await probe(app, await logIn(app))
    t.equal(response.statusCode, 200)
    t.same(response.json(), { success: true, data: 'admin' })
  })

  t.test('is required by a protected route', async (t) => {
    const response = await probe(app, {})
    t.equal(response.statusCode, 401)
    t.match(response.json(), AUTHENTICATION_REQUIRED)
  })

  t.test('is checked before the body', async (t) => {
    const response = await app.inject({ method: 'POST', url: '/admin/admins', payload: { nonsense: true } })
    t.equal(response.statusCode, 401)
    t.match(response.json(), AUTHENTICATION_REQUIRED)
  })

  t.test('cannot be replaced by an Authorization header', async (t) => {
    const response = await probe(app, { authorization: `Bearer ${tokenOf(await logIn(app))}` })
    t.equal(response.statusCode, 401)
    t.match(response.json(), AUTHENTICATION_REQUIRED)
  })

  t.test('is accepted whatever the Authorization header is', async (t) => {
    const response = await probe(app, { ...(await logIn(app)), authorization: 'Bearer nonsense' })
    t.equal(response.statusCode, 200)
    t.same(response.json(), { success: true, data: 'admin' })
  })

  t.test('in a forged form', async (t) => {
    const genuine = tokenOf(await logIn(app))
    const claims = claimsOf(genuine)
    const without = (name: string) => Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name))
    const withCookie = (token: string) => probe(app, { cookie: `rowhouse_session=${token}` })

    t.test('is accepted with the form and the key of a genuine one', async (t) => {
      t.equal((await withCookie(forge(claims))).statusCode, 200)
    })

    const refused: Record<string, string> = {
      'signed with another key': forge(claims, { secret: `${JWT_SECRET}x` }),
      'signed with HS384': forge(claims, { alg: 'HS384', digest: 'sha384' }),
      'signed with HS512': forge(claims, { alg: 'HS512', digest: 'sha512' }),
      'signed with HS256 but declared as HS512': forge(claims, { alg: 'HS512' }),
      'with the algorithm none': `${base64({ alg: 'none', typ: 'JWT' })}.${base64(claims)}.`,
      'without a signature': genuine.slice(0, genuine.lastIndexOf('.') + 1),
      'with an array for a payload': forge([claims]),
      'without sub': forge(without('sub')),
      'without jti': forge(without('jti')),
      'without iat': forge(without('iat')),
      'without exp': forge(without('exp')),
      'without iss': forge(without('iss')),
      'without aud': forge(without('aud')),
      'with exp null': forge({ ...claims, exp: null }),
      'with exp as text': forge({ ...claims, exp: String(claims.exp) }),
      'that has expired': forge({ ...claims, exp: claims.iat - 1 }),
      'of another issuer': forge({ ...claims, iss: 'elsewhere' }),
      'for another audience': forge({ ...claims, aud: 'elsewhere' }),
      'of another administrator': forge({ ...claims, sub: '2' }),
      'of an unknown session': forge({ ...claims, jti: 'nothing' }),
      'of a session id that is not a string': forge({ ...claims, jti: { id: claims.jti } }),
      'that is not a JWT': 'nonsense',
      'that is empty': ''
    }
    for (const [form, token] of Object.entries(refused)) {
      t.test(`is refused ${form}`, async (t) => {
        const response = await withCookie(token)
        t.equal(response.statusCode, 401)
        t.match(response.json(), AUTHENTICATION_REQUIRED)
      })
    }
  })

  t.test('is accepted until it expires, by the clock of the service', async (t) => {
    const headers = await logIn(app)
    advance(claimsOf(tokenOf(headers)).exp * 1000 - clock() - 1)
    t.equal((await probe(app, headers)).statusCode, 200)
    advance(1)
    const response = await probe(app, headers)
    t.equal(response.statusCode, 401)
    t.match(response.json(), AUTHENTICATION_REQUIRED)
  })
})

t.test('a route without the hook refuses every request', async (t) => {
  const { app } = await startSessionApp(t)
  const response = await app.inject({ url: '/auth/unguarded', headers: await logIn(app) })
  t.equal(response.statusCode, 401)
  t.match(response.json(), AUTHENTICATION_REQUIRED)
})

t.test('a session that ends while the body arrives', async (t) => {
  const { app } = await startSessionApp(t)
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const root = await logIn(app)

  /** Ways to send a body: the part sent with the headers, and the rest. */
  const framings: Record<string, readonly [start: string, rest: string]> = {
    'of a known length': ['content-type: application/json\r\ncontent-length: 2\r\n\r\n{', '}'],
    'of an unknown length': [
      'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
      '2\r\n{}\r\n0\r\n\r\n'
    ],
    'that is empty': ['transfer-encoding: chunked\r\n\r\n', '0\r\n\r\n'],
    'that is empty, with a content type': [
      'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
      '0\r\n\r\n'
    ]
  }

  /** Sends the head of a request, runs `action`, then sends the rest of the body. Returns the response. */
  const sendSlowly = async (cookie: string, framing: string, action: () => Promise<unknown>) => {
    const [start, rest] = framings[framing] as readonly [string, string]
    const socket = connect(Number(port), '127.0.0.1')
    const authenticated = once(app.server, 'authenticated')
    socket.write(`POST /admin/probe HTTP/1.1\r\nhost: x\r\ncookie: ${cookie}\r\nconnection: close\r\n${start}`)
    await authenticated
    await action()
    socket.write(rest)
    let response = ''
    for await (const chunk of socket) response += String(chunk)
    return response
  }

  const put = (url: string, headers: { cookie: string }, payload: object) =>
    app.inject({ method: 'PUT', url, headers, payload })
  const endings: Record<
    string,
    (id: number, name: string, headers: { cookie: string }) => Promise<{ statusCode: number }>
  > = {
    logout: (_id, _name, headers) => app.inject({ method: 'POST', url: '/auth/logout', headers }),
    'a new password': async (_id, name) =>
      put('/auth/password', await logIn(app, name), { oldPassword: PASSWORD, newPassword: 'battery staple' }),
    'a reset': (id) => put(`/admin/admins/${id}`, root, { password: 'set by another' }),
    deletion: (id) => app.inject({ method: 'DELETE', url: `/admin/admins/${id}`, headers: root })
  }

  for (const framing of Object.keys(framings)) {
    for (const [ending, end] of Object.entries(endings)) {
      t.test(`by ${ending} refuses the request, with a body ${framing}`, async (t) => {
        const name = `${ending}, ${framing}`
        const { id } = await createAdmin(app, root, name)
        const headers = await logIn(app, name)
        const response = await sendSlowly(headers.cookie, framing, async () => {
          t.equal((await end(id, name, headers)).statusCode, 200)
        })
        t.match(response, /^HTTP\/1\.1 401 /)
        t.match(response, '"code":"AUTHENTICATION_REQUIRED"')
      })
    }

    t.test(`accepts the request if another session ended, with a body ${framing}`, async (t) => {
      const [current, other] = [await logIn(app), await logIn(app)]
      const logOut = () => app.inject({ method: 'POST', url: '/auth/logout', headers: other })
      const response = await sendSlowly(current.cookie, framing, logOut)
      t.match(response, /^HTTP\/1\.1 200 /)
      t.match(response, '{"success":true,"data":"admin"}')
    })
  }
})

t.test('the caller of a session loses its right if the client disconnects', async (t) => {
  const onRegister = (area: FastifyInstance) => {
    if (area.prefix !== '/admin') return
    area.get('/disconnect', async ({ adminCaller, socket }) => {
      await adminCaller.confirm()
      Object.defineProperty(socket, 'destroyed', { value: true })
      await adminCaller.confirm()
    })
  }
  const app = await startApp(t, { onRegister })
  const response = await app.inject({ url: '/admin/disconnect', headers: await logIn(app) })
  t.equal(response.statusCode, 503)
  t.match(response.json(), { success: false, error: { code: 'OVERLOADED', message: 'The client has disconnected.' } })
})

t.test('with REQUIRE_PASSWORD_CHANGE', async (t) => {
  const { app } = await startSessionApp(t, { REQUIRE_PASSWORD_CHANGE: 'true' })
  const headers = await logIn(app)

  t.test('a password set by another administrator gives access to /auth only', async (t) => {
    const response = await probe(app, headers)
    t.equal(response.statusCode, 403)
    t.match(response.json(), {
      success: false,
      error: { code: 'PASSWORD_CHANGE_REQUIRED', hint: /PUT \/auth\/password/ }
    })
    const me = await app.inject({ url: '/auth/me', headers })
    t.equal(me.statusCode, 200)
    t.match(me.json(), { success: true, data: { mustChangePassword: true } })
  })

  t.test('one’s own password gives access to everything, in the same session', async (t) => {
    const payload = { oldPassword: PASSWORD, newPassword: 'battery staple' }
    const changed = await app.inject({ method: 'PUT', url: '/auth/password', headers, payload })
    t.equal(changed.statusCode, 200)
    const response = await probe(app, headers)
    t.equal(response.statusCode, 200)
    t.same(response.json(), { success: true, data: 'admin' })
  })
})

t.test(
  'without REQUIRE_PASSWORD_CHANGE a password set by another administrator gives access to everything',
  async (t) => {
    const { app } = await startSessionApp(t)
    const response = await probe(app, await logIn(app))
    t.equal(response.statusCode, 200)
    t.same(response.json(), { success: true, data: 'admin' })
  }
)

t.test('a request', async (t) => {
  const { app } = await startSessionApp(t, {
    CORS_ORIGIN: 'https://desk.example, https://shop.example',
    TRUST_PROXY: '127.0.0.1'
  })
  const session = await logIn(app)
  const send = (headers: Record<string, string>, url = '/admin/probe') =>
    app.inject({ method: 'POST', url, headers: { ...session, host: 'rows.example:8080', ...headers } })

  const allowed: Record<string, Record<string, string>> = {
    'of the same origin': { 'sec-fetch-site': 'same-origin' },
    'that the user sent without a page': { 'sec-fetch-site': 'none' },
    'of the same origin, by Origin alone': { origin: 'http://rows.example:8080' },
    'of the same origin behind a proxy': {
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'rows.example',
      origin: 'https://rows.example',
      cookie: session.cookie.replace('rowhouse', '__Host-rowhouse')
    },
    'of an origin that is listed': { origin: 'https://shop.example', 'sec-fetch-site': 'cross-site' },
    'of a program other than a browser': {}
  }
  for (const [kind, headers] of Object.entries(allowed)) {
    t.test(`${kind} may change data`, async (t) => {
      const response = await send(headers)
      t.equal(response.statusCode, 200)
      t.same(response.json(), { success: true, data: 'admin' })
    })
  }

  const refused: Record<string, Record<string, string>> = {
    'of another site': { 'sec-fetch-site': 'cross-site' },
    'of another host of the same site': { 'sec-fetch-site': 'same-site' },
    'with an unknown Sec-Fetch-Site': { 'sec-fetch-site': 'something new' },
    'of another site with our origin': { 'sec-fetch-site': 'cross-site', origin: 'http://rows.example:8080' },
    'of another origin, by Origin alone': { origin: 'http://evil.example' },
    'of another port': { origin: 'http://rows.example' },
    'of another scheme': { origin: 'https://rows.example:8080' },
    'with the origin null': { origin: 'null' },
    'with an empty origin': { origin: '' },
    'of an origin that starts with a listed one': { origin: 'https://shop.example.evil.example' }
  }
  for (const [kind, headers] of Object.entries(refused)) {
    t.test(`${kind} may not change data`, async (t) => {
      const response = await send(headers)
      t.equal(response.statusCode, 403)
      t.match(response.json(), { success: false, error: { code: 'CROSS_SITE_REQUEST' } })
    })
  }

  t.test('of another site may neither log in nor log out', async (t) => {
    for (const url of ['/auth/login', '/auth/logout']) {
      const response = await send({ 'sec-fetch-site': 'cross-site' }, url)
      t.equal(response.statusCode, 403)
      t.match(response.json(), { success: false, error: { code: 'CROSS_SITE_REQUEST' } })
    }
    t.equal((await send({})).statusCode, 200)
  })

  t.test('of another site may read data with the cookie of its user', async (t) => {
    const response = await probe(app, { ...session, 'sec-fetch-site': 'cross-site' })
    t.equal(response.statusCode, 200)
    t.same(response.json(), { success: true, data: 'admin' })
  })
})

t.test('no origin is listed by default', async (t) => {
  const { app } = await startSessionApp(t)
  const headers = { ...(await logIn(app)), origin: '' }
  const response = await app.inject({ method: 'POST', url: '/admin/probe', headers })
  t.equal(response.statusCode, 403)
  t.match(response.json(), { success: false, error: { code: 'CROSS_SITE_REQUEST' } })
})

t.test('without a configured secret, one is created in the data directory', async (t) => {
  const { app, config } = await startSessionApp(t, { JWT_SECRET: undefined })
  const secret = readFileSync(join(config.DATA_DIR, 'secret'), 'utf8').trim()
  const token = tokenOf(await logIn(app))
  t.equal(token, forge(claimsOf(token), { secret }))
})

t.test('with a configured secret, none is created in the data directory', async (t) => {
  const { app, config } = await startSessionApp(t)
  const token = tokenOf(await logIn(app))
  t.equal(token, forge(claimsOf(token)))
  t.throws(() => readFileSync(join(config.DATA_DIR, 'secret')), { code: 'ENOENT' })
})

t.test('a configured secret that can be guessed stops the start', async (t) => {
  const started = startSessionApp(t, { JWT_SECRET: 'changemechangemechangemechangeme' })
  await t.rejects(started, { message: /^JWT_SECRET can be guessed/ })
})

t.test('a session ends at once with the deletion of its administrator', async (t) => {
  const { app } = await startSessionApp(t)
  const root = await logIn(app)
  const { id } = await createAdmin(app, root, 'ada')
  const headers = await logIn(app, 'ada')
  t.equal((await probe(app, headers)).statusCode, 200)
  await app.inject({ method: 'DELETE', url: `/admin/admins/${id}`, headers: root })
  const response = await probe(app, headers)
  t.equal(response.statusCode, 401)
  t.match(response.json(), AUTHENTICATION_REQUIRED)
})
