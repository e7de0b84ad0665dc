import t from 'tap'
import { logIn, PASSWORD, startApp } from '../helpers.ts'
import { FULL_DISK, onlyOnFile } from '../served.ts'
import { createAdmin, fillDisk, loginRequest, startSessionApp } from '../session-app.ts'

const SUCCESS = { success: true, data: { success: true } }
const AUTHENTICATION_REQUIRED = { success: false, error: { code: 'AUTHENTICATION_REQUIRED' } }
const ADMIN = { id: 1, name: 'admin', nickname: 'admin', mustChangePassword: true }

t.test('POST /auth/login', async (t) => {
  const app = await startApp(t)

  t.test('returns the administrator and sets a cookie', async (t) => {
    const response = await app.inject(loginRequest())
    t.equal(response.statusCode, 200)
    t.same(response.json(), { success: true, data: { admin: ADMIN, mustChangePassword: true } })
    t.match(response.cookies, [{ name: 'rowhouse_session' }])
  })

  t.test('refuses a wrong password and an unknown name with the same message, and sets no cookie', async (t) => {
    const wrong = await app.inject(loginRequest({ password: 'wrong' }))
    const unknown = await app.inject(loginRequest({ name: 'nobody' }))
    for (const response of [wrong, unknown]) {
      t.equal(response.statusCode, 401)
      t.match(response.json(), {
        success: false,
        error: { code: 'INVALID_CREDENTIALS', message: 'The name or the password is wrong.' }
      })
      t.same(response.cookies, [])
    }
    t.same(Object.keys(wrong.json().error), Object.keys(unknown.json().error))
  })

  t.test('accepts a password of at most 1,024 characters', async (t) => {
    const longest = await app.inject(loginRequest({ password: 'x'.repeat(1024) }))
    t.equal(longest.statusCode, 401)
    t.match(longest.json(), { success: false, error: { code: 'INVALID_CREDENTIALS' } })
    const longer = await app.inject(loginRequest({ password: 'x'.repeat(1025) }))
    t.equal(longer.statusCode, 400)
    t.match(longer.json(), { success: false, error: { code: 'VALIDATION_FAILED', details: [{ path: '/password' }] } })
  })

  t.test('refuses a body over 32 KiB, the size of the longest name and password', async (t) => {
    const escaped = (length: number) => '\\ud83d\\ude00'.repeat(length)
    const post = (payload: string) =>
      app.inject({ method: 'POST', url: '/auth/login', headers: { 'content-type': 'application/json' }, payload })
    const longest = await post(`{"name":"${escaped(1024)}","password":"${escaped(1024)}"}`)
    t.equal(longest.statusCode, 401)
    t.match(longest.json(), { success: false, error: { code: 'INVALID_CREDENTIALS' } })
    const login = JSON.stringify({ name: 'admin', password: PASSWORD })
    t.equal((await post(login.padEnd(32 * 1024))).statusCode, 200)
    const larger = await post(login.padEnd(32 * 1024 + 1))
    t.equal(larger.statusCode, 413)
    t.match(larger.json(), { success: false, error: { code: 'BODY_TOO_LARGE' } })
  })

  t.test('accepts a password that is too short for a new one', async (t) => {
    const response = await app.inject(loginRequest({ password: 'x' }))
    t.equal(response.statusCode, 401)
    t.match(response.json(), { success: false, error: { code: 'INVALID_CREDENTIALS' } })
  })

  const malformed: Record<string, unknown> = {
    'an empty password': { name: 'admin', password: '' },
    'an empty name': { name: '', password: PASSWORD },
    'no password': { name: 'admin' },
    'no name': { password: PASSWORD },
    'a number for a password': { name: 'admin', password: 12345678 },
    'a password of null': { name: 'admin', password: null },
    'a list of names': { name: ['admin'], password: PASSWORD },
    'an unknown key': { name: 'admin', password: PASSWORD, remember: true },
    'a NUL in the name': { name: 'admin\0', password: PASSWORD }
  }
  for (const [fault, payload] of Object.entries(malformed)) {
    t.test(`refuses ${fault}`, async (t) => {
      const response = await app.inject({
        ...loginRequest(),
        payload: JSON.stringify(payload),
        headers: { 'content-type': 'application/json' }
      })
      t.equal(response.statusCode, 400)
      t.match(response.json(), { success: false, error: { code: 'VALIDATION_FAILED' } })
    })
  }

  t.test('refuses a form', async (t) => {
    const response = await app.inject({
      ...loginRequest(),
      payload: `name=admin&password=${PASSWORD}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' }
    })
    t.equal(response.statusCode, 415)
    t.match(response.json(), { success: false, error: { code: 'UNSUPPORTED_MEDIA_TYPE' } })
  })

  t.test('refuses an address after ten failures, but no other address', async (t) => {
    const from = (remoteAddress: string, password: string) =>
      app.inject({ ...loginRequest({ password }), remoteAddress })
    for (let count = 0; count < 10; count += 1) t.equal((await from('192.0.2.1', 'wrong')).statusCode, 401)
    const refused = await from('192.0.2.1', PASSWORD)
    t.equal(refused.statusCode, 429)
    t.match(refused.json(), { success: false, error: { code: 'TOO_MANY_ATTEMPTS' } })
    t.match(refused.headers['retry-after'], /^(89\d|900)$/)
    t.equal((await from('192.0.2.2', PASSWORD)).statusCode, 200)
  })
})

t.test(
  'on a full disk an administrator can log in, read and log out, and one line is logged',
  onlyOnFile(FULL_DISK),
  async (t) => {
    const lines: string[] = []
    const app = await startApp(t, { logger: { level: 'warn', stream: { write: (line: string) => lines.push(line) } } })
    await fillDisk(app.database)
    const [headers, other] = [await logIn(app), await logIn(app)]
    t.equal(lines.length, 1)
    t.match(JSON.parse(String(lines[0])), {
      level: 40,
      msg: /^The disk cannot store sessions/,
      err: { code: 'DISK_FULL' }
    })
    t.equal((await app.inject({ url: '/admin/tables', headers })).statusCode, 200)
    t.equal((await app.inject({ method: 'POST', url: '/auth/logout', headers })).statusCode, 200)
    const ended = await app.inject({ url: '/auth/me', headers })
    t.equal(ended.statusCode, 401)
    t.match(ended.json(), AUTHENTICATION_REQUIRED)
    t.same((await app.inject({ url: '/auth/me', headers: other })).json(), { success: true, data: ADMIN })
  }
)

t.test('GET /auth/me', async (t) => {
  const app = await startApp(t)

  t.test('returns the administrator of the session', async (t) => {
    const response = await app.inject({ url: '/auth/me', headers: await logIn(app) })
    t.equal(response.statusCode, 200)
    t.same(response.json(), { success: true, data: ADMIN })
  })

  t.test('needs a session', async (t) => {
    const response = await app.inject({ url: '/auth/me' })
    t.equal(response.statusCode, 401)
    t.match(response.json(), AUTHENTICATION_REQUIRED)
  })
})

t.test('PUT /auth/password', async (t) => {
  const app = await startApp(t)
  const root = await logIn(app)
  await createAdmin(app, root, 'ada')
  const change = (headers: { cookie?: string }, oldPassword: unknown, newPassword: unknown) =>
    app.inject({ method: 'PUT', url: '/auth/password', headers, payload: { oldPassword, newPassword } })

  t.test('refuses a wrong old password', async (t) => {
    const response = await change(await logIn(app, 'ada'), 'wrong', 'battery staple')
    t.equal(response.statusCode, 403)
    t.match(response.json(), { success: false, error: { code: 'WRONG_PASSWORD' } })
    t.equal((await app.inject(loginRequest({ name: 'ada' }))).statusCode, 200)
  })

  t.test('changes the password, clears the flag, and ends the other sessions', async (t) => {
    const [here, elsewhere] = [await logIn(app, 'ada'), await logIn(app, 'ada')]
    const response = await change(here, PASSWORD, 'battery staple')
    t.equal(response.statusCode, 200)
    t.same(response.json(), SUCCESS)
    t.match((await app.inject({ url: '/auth/me', headers: here })).json(), { data: { mustChangePassword: false } })
    t.equal((await app.inject({ url: '/auth/me', headers: elsewhere })).statusCode, 401)
    t.equal((await app.inject({ url: '/auth/me', headers: root })).statusCode, 200)
    t.equal((await app.inject(loginRequest({ name: 'ada' }))).statusCode, 401)
    const again = await app.inject(loginRequest({ name: 'ada', password: 'battery staple' }))
    t.match(again.json(), { success: true, data: { mustChangePassword: false } })
  })

  const malformed: Record<string, [unknown, unknown]> = {
    'of 7 characters': ['battery staple', 'staples'],
    'of 257 characters': ['battery staple', 'x'.repeat(257)],
    'that is the old one': ['battery staple', 'battery staple'],
    'that is a number': ['battery staple', 12345678],
    'without an old one': ['', 'correct battery']
  }
  for (const [fault, [oldPassword, newPassword]] of Object.entries(malformed)) {
    t.test(`refuses a new password ${fault}`, async (t) => {
      const headers = await logIn(app, 'ada', 'battery staple')
      const response = await change(headers, oldPassword, newPassword)
      t.equal(response.statusCode, 400)
      t.match(response.json(), { success: false, error: { code: 'VALIDATION_FAILED' } })
    })
  }

  t.test('accepts a new password of 8 and of 256 characters', async (t) => {
    const headers = await logIn(app, 'ada', 'battery staple')
    t.equal((await change(headers, 'battery staple', 'x'.repeat(256))).statusCode, 200)
    t.equal((await change(headers, 'x'.repeat(256), '12345678')).statusCode, 200)
    t.equal((await change(headers, '12345678', 'battery staple')).statusCode, 200)
  })

  t.test('needs a session', async (t) => {
    const response = await change({}, PASSWORD, 'battery staple')
    t.equal(response.statusCode, 401)
    t.match(response.json(), AUTHENTICATION_REQUIRED)
  })

  t.test('counts wrong old passwords as failed logins', async (t) => {
    const headers = await logIn(app, 'ada', 'battery staple')
    for (let count = 0; count < 10; count += 1) {
      t.equal((await change(headers, `guess ${count}`, 'correct battery')).statusCode, 403)
    }
    const refused = await change(headers, 'battery staple', 'correct battery')
    t.equal(refused.statusCode, 429)
    t.match(refused.json(), { success: false, error: { code: 'TOO_MANY_ATTEMPTS' } })
    const login = await app.inject(loginRequest({ name: 'ada', password: 'battery staple' }))
    t.equal(login.statusCode, 429)
    t.match(login.json(), { success: false, error: { code: 'TOO_MANY_ATTEMPTS' } })
  })
})

t.test('POST /auth/logout', async (t) => {
  const app = await startApp(t)
  const logOut = (headers: { cookie?: string }, payload?: object) =>
    app.inject({ method: 'POST', url: '/auth/logout', headers, ...(payload && { payload }) })

  t.test('ends the session and clears the cookie, so that a copy of the cookie is refused', async (t) => {
    const headers = await logIn(app)
    const response = await logOut(headers)
    t.equal(response.statusCode, 200)
    t.same(response.json(), SUCCESS)
    t.match(
      response.headers['set-cookie'],
      /^rowhouse_session=; Max-Age=0; Path=\/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Strict$/
    )
    const replayed = await app.inject({ url: '/auth/me', headers })
    t.equal(replayed.statusCode, 401)
    t.match(replayed.json(), AUTHENTICATION_REQUIRED)
  })

  t.test('does not end other sessions of the administrator', async (t) => {
    const [here, elsewhere] = [await logIn(app), await logIn(app)]
    await logOut(here)
    const response = await app.inject({ url: '/auth/me', headers: elsewhere })
    t.equal(response.statusCode, 200)
    t.same(response.json(), { success: true, data: ADMIN })
  })

  t.test('accepts an empty object as its body, and no other', async (t) => {
    const headers = await logIn(app)
    const refused = await logOut(headers, { everywhere: true })
    t.equal(refused.statusCode, 400)
    t.match(refused.json(), { success: false, error: { code: 'BODY_NOT_ALLOWED' } })
    const accepted = await logOut(headers, {})
    t.equal(accepted.statusCode, 200)
    t.same(accepted.json(), SUCCESS)
  })

  t.test('needs a session', async (t) => {
    const response = await logOut({})
    t.equal(response.statusCode, 401)
    t.match(response.json(), AUTHENTICATION_REQUIRED)
  })
})

t.test('sessions of the own account', async (t) => {
  const app = await startApp(t)
  const logInWith = async (userAgent: string) => {
    const { cookies } = await app.inject({ ...loginRequest(), headers: { 'user-agent': userAgent } })
    return { cookie: `${cookies[0]?.name}=${cookies[0]?.value}` }
  }
  const first = await logInWith('Firefox')
  const second = await logInWith('x'.repeat(300))
  const list = async (headers: { cookie: string }) => {
    const response = await app.inject({ url: '/auth/sessions', headers })
    t.equal(response.statusCode, 200)
    return response.json().data
  }
  const end = (headers: { cookie: string }, id: string) =>
    app.inject({ method: 'DELETE', url: `/auth/sessions/${id}`, headers })

  t.test('GET /auth/sessions lists them with their clients, and marks the one of the request', async (t) => {
    const sessions = await list(first)
    t.equal(sessions.length, 2)
    const [current] = sessions.filter((session: { is_current: boolean }) => session.is_current)
    t.match(current, { user_agent: 'Firefox', address: '127.0.0.1', created_at: Number, expires_at: Number })
    t.equal(current.expires_at - current.created_at, app.config.SESSION_TTL * 1000)
    const [other] = sessions.filter((session: { is_current: boolean }) => !session.is_current)
    t.equal(other.user_agent, 'x'.repeat(200))
  })

  t.test('sessions of other administrators are neither listed nor ended', async (t) => {
    await createAdmin(app, first, 'ada')
    const ada = await logIn(app, 'ada', PASSWORD)
    const [session] = await list(ada)
    t.equal((await list(ada)).length, 1)
    const response = await end(first, session.id)
    t.equal(response.statusCode, 404)
    t.match(response.json(), { success: false, error: { code: 'SESSION_NOT_FOUND' } })
    t.equal((await app.inject({ url: '/auth/me', headers: ada })).statusCode, 200)
  })

  t.test('DELETE /auth/sessions/{id} ends one, at once', async (t) => {
    const [other] = (await list(first)).filter((session: { is_current: boolean }) => !session.is_current)
    const response = await end(first, other.id)
    t.equal(response.statusCode, 200)
    t.same(response.json(), SUCCESS)
    t.equal((await app.inject({ url: '/auth/me', headers: second })).statusCode, 401)
    t.equal((await list(first)).length, 1)
    t.equal((await end(first, other.id)).statusCode, 404)
  })

  t.test('the latest 100 are listed', async (t) => {
    const login = {
      sql: 'INSERT INTO _rowhouse_sessions SELECT ?, admin_id, created_at - 1, expires_at, address, user_agent FROM _rowhouse_sessions WHERE admin_id = 1 ORDER BY created_at, id LIMIT 1'
    }
    await app.database.write(
      Array.from({ length: 100 }, (_, index) => ({
        ...login,
        params: [`00000000-0000-4000-8000-${String(index).padStart(12, '0')}`]
      }))
    )
    const listed = await list(first)
    t.equal(listed.length, 100)
    t.ok(listed[0].is_current)
  })

  t.test('they are on no list once they have expired', async (t) => {
    const { app, advance } = await startSessionApp(t)
    const headers = await logIn(app)
    advance(3_599_000)
    const later = await logIn(app)
    advance(1000)
    t.equal((await app.inject({ url: '/auth/sessions', headers })).statusCode, 401)
    t.equal((await app.inject({ url: '/auth/sessions', headers: later })).json().data.length, 1)
  })
})
