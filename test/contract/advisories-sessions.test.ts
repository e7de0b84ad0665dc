import t, { type Test } from 'tap'
import { readConfig } from '../../config.ts'
import { asAdmin, client, dataOf, expectDone, expectError, logIn, PASSWORD, startApp } from '../helpers.ts'
import { claimsOf, signJwt } from './jwt.ts'

// Vulnerabilities published for comparable systems, by the identifier of their advisory: sessions and passwords.

const KEY = '3f1c9a7be52d4860a1b7c3d95e8f2046'

const app = await startApp(t, { env: { JWT_SECRET: KEY } })
const admin = await asAdmin(app)

const jwtOf = ({ cookie }: { cookie: string }) => cookie.slice(cookie.indexOf('=') + 1)

const withJwt = (jwt: string) => client(app, { cookie: `rowhouse_session=${jwt}` })

const newAdmin = async (name: string) => {
  const { id } = dataOf(await admin.post('/admin/admins', { name, nickname: '', password: PASSWORD }))
  return { id: Number(id), headers: await logIn(app, name) }
}

const expectEnded = async (t: Test, headers: { cookie: string }) => {
  expectError(t, await client(app, headers).get('/auth/me'), 401, 'AUTHENTICATION_REQUIRED')
  expectError(t, await client(app, headers).get('/admin/tables'), 401, 'AUTHENTICATION_REQUIRED')
}

t.test(
  'Directus GHSA-g65h-35f3-x2w3: a session ends with logout and with the deletion of its administrator',
  async (t) => {
    const { id, headers } = await newAdmin('suspended')
    const other = await logIn(app, 'suspended')
    expectDone(t, await client(app, other).post('/auth/logout'))
    await expectEnded(t, other)
    dataOf(await client(app, headers).get('/auth/me'))
    expectDone(t, await admin.delete(`/admin/admins/${id}`))
    await expectEnded(t, headers)
  }
)

t.test('NocoDB GHSA-x4vh-j75g-268g: changing the password ends every other session', async (t) => {
  const { headers: stolen } = await newAdmin('changing')
  const own = client(app, await logIn(app, 'changing'))
  expectDone(t, await own.put('/auth/password', { oldPassword: PASSWORD, newPassword: 'another one' }))
  await expectEnded(t, stolen)
  dataOf(await own.get('/auth/me'))
})

t.test('NocoDB CVE-2022-2064: a password set by another administrator ends every session', async (t) => {
  const { id, headers } = await newAdmin('reset')
  expectDone(t, await admin.put(`/admin/admins/${id}`, { password: 'another one' }))
  await expectEnded(t, headers)
})

t.test('NocoDB CVE-2026-126280: of two concurrent deletions of one administrator, only one succeeds', async (t) => {
  const { id } = await newAdmin('raced')
  const both = await Promise.all([admin.delete(`/admin/admins/${id}`), admin.delete(`/admin/admins/${id}`)])
  t.strictSame(both.map(({ statusCode }) => statusCode).sort(), [200, 404])

  const two = await startApp(t)
  const first = await asAdmin(two)
  await first.post('/admin/admins', { name: 'second', nickname: '', password: PASSWORD })
  const second = client(two, await logIn(two, 'second'))
  const duel = await Promise.all([first.delete('/admin/admins/2'), second.delete('/admin/admins/1')])
  t.equal(duel.filter(({ statusCode }) => statusCode === 200).length, 1, 'two administrators cannot delete each other')
})

t.test('Strapi CVE-2026-57997: a session signed with the right key but another algorithm is invalid', async (t) => {
  const claims = claimsOf(jwtOf(await logIn(app)))
  t.equal((await withJwt(signJwt(claims, { key: KEY })).get('/auth/me')).statusCode, 200, 'HS256 is accepted')
  for (const alg of ['HS384', 'HS512', 'none'] as const) {
    expectError(t, await withJwt(signJwt(claims, { alg, key: KEY })).get('/auth/me'), 401, 'AUTHENTICATION_REQUIRED')
  }
})

t.test(
  'fast-jwt CVE-2026-44351: a session signed with an empty key is invalid, and JWT_SECRET may not be empty',
  async (t) => {
    const claims = claimsOf(jwtOf(await logIn(app)))
    expectError(t, await withJwt(signJwt(claims, { key: '' })).get('/auth/me'), 401, 'AUTHENTICATION_REQUIRED')
    t.throws(() => readConfig({ JWT_SECRET: '' }), { message: /JWT_SECRET/ })
  }
)

t.test('fast-jwt CVE-2026-107723: claims in an array are invalid', async (t) => {
  const claims = claimsOf(jwtOf(await logIn(app)))
  for (const payload of [[claims], []])
    expectError(t, await withJwt(signJwt(payload, { key: KEY })).get('/auth/me'), 401, 'AUTHENTICATION_REQUIRED')
})

t.test(
  '@fastify/jwt CVE-2026-107275: every session expires, and the service does not start with an invalid lifetime',
  async (t) => {
    const { exp, iat } = claimsOf(jwtOf(await logIn(app)))
    t.ok(Number.isInteger(exp))
    t.equal(exp - iat, app.config.SESSION_TTL)
    for (const SESSION_TTL of ['12 hours', 'never', '1e400', '-1', '0'])
      t.throws(() => readConfig({ SESSION_TTL }), { message: /SESSION_TTL/ }, SESSION_TTL)
  }
)

t.test('Strapi CVE-2023-38507: variants of the path and the name give no more guesses', async (t) => {
  const guess = (url: string, name = 'guessed', password = 'wrong') => client(app).post(url, { name, password })
  await newAdmin('guessed')
  for (let guesses = 0; guesses < 10; guesses += 1)
    expectError(t, await guess('/auth/login'), 401, 'INVALID_CREDENTIALS')
  expectError(t, await guess('/auth/login', 'GUESSED', PASSWORD), 429, 'TOO_MANY_ATTEMPTS')
  expectError(t, await guess('/auth/%6cogin', 'guessed', PASSWORD), 429, 'TOO_MANY_ATTEMPTS')
  for (const url of ['/auth/login/', '//auth/login', '/auth//login', '/AUTH/login', '/auth/login;', '/auth/./x/login'])
    expectError(t, await guess(url, 'guessed', PASSWORD), 404, 'ROUTE_NOT_FOUND')
})

t.test(
  'PocketBase changelog, NocoDB CVE-2026-28358: the responses to an unknown name and to a wrong password are the same',
  async (t) => {
    await newAdmin('known')
    const refusal = async (name: string) => {
      const response = await client(app).post('/auth/login', { name, password: 'wrong' })
      expectError(t, response, 401, 'INVALID_CREDENTIALS')
      const { requestId, ...error } = response.json().error
      const { date, 'x-request-id': _id, ...headers } = response.headers
      return { error, headers: { ...headers, 'content-length': undefined } }
    }
    t.strictSame(await refusal('known'), await refusal('unknown'))
  }
)

t.test('NocoDB CVE-2026-126273: the service does not start with an empty first password', async (t) => {
  t.throws(() => readConfig({ ADMIN_PASSWORD: '' }), { message: /ADMIN_PASSWORD/ })
})

t.test('Aptabase CVE-2026-125758: the service does not start with a secret from public examples', async (t) => {
  for (const JWT_SECRET of [
    'changeme-changeme-changeme-changeme',
    'your-secret-key-of-at-least-32-characters',
    'super-secret-key-that-is-long-enough-for-us',
    '00000000000000000000000000000000'
  ])
    await t.rejects(startApp(t, { env: { JWT_SECRET } }), { message: /JWT_SECRET can be guessed/ }, JWT_SECRET)
})
