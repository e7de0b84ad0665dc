import t, { type Test } from 'tap'
import { readConfig } from '../../config.ts'
import { asAdmin, client, dataOf, expectDone, expectError, logIn, PASSWORD, startApp } from '../helpers.ts'
import { claimsOf, forge } from './forge.ts'

// What has gone wrong in systems like ours, under the identifiers of its advisories: sessions and passwords.

const KEY = '3f1c9a7be52d4860a1b7c3d95e8f2046'

const app = await startApp(t, { env: { JWT_SECRET: KEY } })
const admin = await asAdmin(app)

const jwtOf = ({ cookie }: { cookie: string }) => cookie.slice(cookie.indexOf('=') + 1)

const withJwt = (jwt: string) => client(app, { cookie: `rowhouse_session=${jwt}` })

const newAdmin = async (name: string) => {
  const { id } = dataOf(await admin.post('/admin/admins', { name, nickname: '', password: PASSWORD }))
  return { id: Number(id), headers: await logIn(app, name) }
}

const isOver = async (t: Test, headers: { cookie: string }) => {
  expectError(t, await client(app, headers).get('/auth/me'), 401, 'AUTHENTICATION_REQUIRED')
  expectError(t, await client(app, headers).get('/admin/tables'), 401, 'AUTHENTICATION_REQUIRED')
}

t.test(
  'Directus GHSA-g65h-35f3-x2w3: a cookie is worth nothing after logout, nor after its owner is gone',
  async (t) => {
    const { id, headers } = await newAdmin('suspended')
    const other = await logIn(app, 'suspended')
    expectDone(t, await client(app, other).post('/auth/logout'))
    await isOver(t, other)
    dataOf(await client(app, headers).get('/auth/me'))
    expectDone(t, await admin.delete(`/admin/admins/${id}`))
    await isOver(t, headers)
  }
)

t.test('NocoDB GHSA-x4vh-j75g-268g: changing the password ends every other session', async (t) => {
  const { headers: stolen } = await newAdmin('changing')
  const own = client(app, await logIn(app, 'changing'))
  expectDone(t, await own.put('/auth/password', { oldPassword: PASSWORD, newPassword: 'another one' }))
  await isOver(t, stolen)
  dataOf(await own.get('/auth/me'))
})

t.test('NocoDB CVE-2022-2064: a password set by another ends every session', async (t) => {
  const { id, headers } = await newAdmin('reset')
  expectDone(t, await admin.put(`/admin/admins/${id}`, { password: 'another one' }))
  await isOver(t, headers)
})

t.test(
  'NocoDB CVE-2026-126280: of two who do the same thing at once, one is told that it was not his doing',
  async (t) => {
    const { id } = await newAdmin('raced')
    const both = await Promise.all([admin.delete(`/admin/admins/${id}`), admin.delete(`/admin/admins/${id}`)])
    t.strictSame(both.map(({ statusCode }) => statusCode).sort(), [200, 404])

    const two = await startApp(t)
    const first = await asAdmin(two)
    await first.post('/admin/admins', { name: 'second', nickname: '', password: PASSWORD })
    const second = client(two, await logIn(two, 'second'))
    const duel = await Promise.all([first.delete('/admin/admins/2'), second.delete('/admin/admins/1')])
    t.equal(duel.filter(({ statusCode }) => statusCode === 200).length, 1, 'one of the last two stays')
  }
)

t.test('Strapi CVE-2026-57997: a session signed with the right key by another algorithm is none', async (t) => {
  const claims = claimsOf(jwtOf(await logIn(app)))
  t.equal((await withJwt(forge(claims, { key: KEY })).get('/auth/me')).statusCode, 200, 'with ours it is one')
  for (const alg of ['HS384', 'HS512', 'none'] as const) {
    expectError(t, await withJwt(forge(claims, { alg, key: KEY })).get('/auth/me'), 401, 'AUTHENTICATION_REQUIRED')
  }
})

t.test('fast-jwt CVE-2026-44351: an empty key signs nothing, and is no secret', async (t) => {
  const claims = claimsOf(jwtOf(await logIn(app)))
  expectError(t, await withJwt(forge(claims, { key: '' })).get('/auth/me'), 401, 'AUTHENTICATION_REQUIRED')
  t.throws(() => readConfig({ JWT_SECRET: '' }), { message: /JWT_SECRET/ })
})

t.test('fast-jwt CVE-2026-107723: claims in an array are none', async (t) => {
  const claims = claimsOf(jwtOf(await logIn(app)))
  for (const payload of [[claims], []])
    expectError(t, await withJwt(forge(payload, { key: KEY })).get('/auth/me'), 401, 'AUTHENTICATION_REQUIRED')
})

t.test(
  '@fastify/jwt CVE-2026-107275: every session expires, and a lifetime that is no number stops the start',
  async (t) => {
    const { exp, iat } = claimsOf(jwtOf(await logIn(app)))
    t.ok(Number.isInteger(exp))
    t.equal(exp - iat, app.config.SESSION_TTL)
    for (const SESSION_TTL of ['12 hours', 'never', '1e400', '-1', '0'])
      t.throws(() => readConfig({ SESSION_TTL }), { message: /SESSION_TTL/ }, SESSION_TTL)
  }
)

t.test('Strapi CVE-2023-38507: no other spelling of the path buys more guesses', async (t) => {
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
  'PocketBase changelog, NocoDB CVE-2026-28358: an unknown name is refused in the words of a wrong password',
  async (t) => {
    await newAdmin('known')
    const refusal = async (name: string) => {
      const answer = await client(app).post('/auth/login', { name, password: 'wrong' })
      expectError(t, answer, 401, 'INVALID_CREDENTIALS')
      const { requestId, ...error } = answer.json().error
      const { date, ...headers } = answer.headers
      return { error, headers: { ...headers, 'content-length': undefined } }
    }
    t.strictSame(await refusal('known'), await refusal('unknown'))
  }
)

t.test('NocoDB CVE-2026-126273: an empty first password stops the start', async (t) => {
  t.throws(() => readConfig({ ADMIN_PASSWORD: '' }), { message: /ADMIN_PASSWORD/ })
})

t.test('Aptabase CVE-2026-125758: a secret that anybody can read somewhere stops the start', async (t) => {
  for (const JWT_SECRET of [
    'changeme-changeme-changeme-changeme',
    'your-secret-key-of-at-least-32-characters',
    'super-secret-key-that-is-long-enough-for-us',
    '00000000000000000000000000000000'
  ])
    await t.rejects(startApp(t, { env: { JWT_SECRET } }), { message: /JWT_SECRET can be guessed/ }, JWT_SECRET)
})
