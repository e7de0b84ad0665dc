import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bearer } from '../helpers.ts'
import { startService } from '../service-process.ts'

// Directus CVE-2023-28443, CVE-2026-39943: secrets in logs, in the database and in responses.

const FIRST_PASSWORD = 'canary-of-the-first-password'
const WRONG_PASSWORD = 'canary-of-a-wrong-password'
const NEW_PASSWORD = 'canary-of-a-new-password'
const JWT_SECRET = 'canary-3f1c9a7be52d4860a1b7c3d95e8f2046'

const service = await startService(t, {
  ADMIN_PASSWORD: FIRST_PASSWORD,
  JWT_SECRET,
  LOG_LEVEL: 'trace',
  ACCESS_LOG: 'true'
})

/** The bodies of all responses except those that issue a secret. */
const responses: string[] = []

const call = async (method: string, path: string, headers: object, body?: object | string) => {
  const response = await fetch(`${service.address}${path}`, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) })
  })
  return { status: response.status, cookies: response.headers.getSetCookie(), text: await response.text() }
}

/** Sends a request and records its response. */
const record = async (...request: Parameters<typeof call>) => {
  const { status, text } = await call(...request)
  responses.push(text)
  return status
}

const logIn = async (password: string) => {
  const { cookies, text } = await call('POST', '/auth/login', {}, { name: 'admin', password })
  responses.push(text)
  return { cookie: String(cookies[0]).split(';')[0] as string }
}

/** Sends requests that use secrets correctly and incorrectly. */
const useSecrets = async () => {
  const session = await logIn(FIRST_PASSWORD)
  const fields = [{ name: 'a', jsonType: 'string' }]
  await record('POST', '/admin/tables', session, { name: 'cats', label: '', fields })
  const permissions = { tables: ['*'], actions: ['read', 'write'] }
  const issued = await call('POST', '/admin/tokens', session, { name: 'a', permissions })
  const { token } = JSON.parse(issued.text).data as { token: string }
  const scopes = ['tables:read']
  const issuedKey = await call('POST', '/admin/keys', session, { name: 'a', scopes })
  const { key } = JSON.parse(issuedKey.text).data as { key: string }
  await record('POST', '/auth/login', {}, { name: 'admin', password: WRONG_PASSWORD })
  await record('POST', '/auth/login', {}, { name: 'admin', pass: WRONG_PASSWORD })
  await record('POST', '/auth/login', {}, `{"name":"admin","password":"${WRONG_PASSWORD}"`)
  await record('POST', '/auth/login', {}, [WRONG_PASSWORD])
  await record('PUT', '/auth/password', session, { oldPassword: WRONG_PASSWORD, newPassword: NEW_PASSWORD })
  await record('PUT', '/auth/password', session, { oldPassword: FIRST_PASSWORD, newPassword: NEW_PASSWORD })
  await record('POST', '/admin/admins', session, { name: 'admin', nickname: '', password: NEW_PASSWORD })
  await record('GET', '/data/cats', bearer(token))
  await record('GET', '/data/nothing', bearer(token))
  await record('GET', '/data/cats', { ...bearer(`${token}x`), cookie: `rowhouse_session=${token}` })
  await record('POST', '/data/cats/records', bearer(token), { b: 'x' })
  await record('GET', '/admin/tables', bearer(key))
  await record('GET', '/admin/tokens', bearer(key))
  await record('GET', '/admin/tables', { ...bearer(key), cookie: `rowhouse_session=${key}` })
  await record('GET', '/data/cats', bearer(key))
  for (const path of ['/admin/keys', '/admin/keys/1', '/admin/audit', '/admin/tokens', '/admin/admins', '/auth/me'])
    await record('GET', path, session)
  await logIn(NEW_PASSWORD)
  return { token, key, jwt: session.cookie.slice(session.cookie.indexOf('=') + 1) }
}

const { token, key, jwt } = await useSecrets()

const secrets = Object.entries({ FIRST_PASSWORD, WRONG_PASSWORD, NEW_PASSWORD, JWT_SECRET, token, key, jwt })

const foundIn = (text: string) => secrets.flatMap(([name, secret]) => (text.includes(secret) ? [name] : []))

t.test('the check finds each secret', async (t) => {
  t.strictSame(
    secrets.flatMap(([, secret]) => foundIn(`x${secret}y`)),
    secrets.map(([name]) => name)
  )
  t.match(token, /^rh_/)
  t.match(key, /^rha_/)
  t.match(jwt, /^ey.*\..*\./)
})

t.test('no secret is in the log, at any level', async (t) => {
  const log = service.lines.join('\n')
  t.match(log, /"path":"\/auth\/password"/, 'the requests are in the log')
  t.strictSame(foundIn(log), [])
})

t.test('no secret is in the database or its write-ahead log', async (t) => {
  const { dataDir } = service
  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).map((name) => join(dataDir, name))
  t.ok(files.includes(join(dataDir, 'rowhouse.db-wal')))
  for (const file of files.filter((path) => statSync(path).isFile()))
    t.strictSame(foundIn(readFileSync(file, 'latin1')), [], file)
})

t.test('no secret is in a response, except the one that issues it', async (t) => {
  t.ok(responses.length > 15)
  t.strictSame(foundIn(responses.join('\n')), [])
  t.notMatch(responses.join('\n'), /\$argon2|digest|password_hash/)
})
