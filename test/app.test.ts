import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { buildApp } from '../app.ts'
import { readConfig } from '../config.ts'
import { PASSWORD, startApp } from './helpers.ts'

const logIn = { method: 'POST', url: '/auth/login', payload: { name: 'admin', password: PASSWORD } } as const
const forwarded = { 'x-forwarded-proto': 'https' }

t.test('forwarded headers count only from a proxy that TRUST_PROXY names', async (t) => {
  const trusting = await startApp(t, { env: { TRUST_PROXY: '127.0.0.1' } })
  const [secure] = (await trusting.inject({ ...logIn, headers: forwarded })).cookies
  t.match(secure, { name: '__Host-rowhouse_session', secure: true, httpOnly: true, sameSite: 'Strict', path: '/' })

  const untrusting = await startApp(t)
  const [plain] = (await untrusting.inject({ ...logIn, headers: forwarded })).cookies
  t.match(plain, { name: 'rowhouse_session', secure: undefined, httpOnly: true, sameSite: 'Strict', path: '/' })
})

t.test('a start that fails closes its database', async (t) => {
  const env = { DATA_DIR: t.testdir() }
  const config = { ...readConfig(env), TRUST_PROXY: 'nowhere' }
  await t.rejects(buildApp({ config, onDeath: t.threw }), { message: /Invalid socket address/ })
  t.equal((await (await startApp(t, { env })).inject('/health')).statusCode, 200)
})

t.test('a start with a file that is not a database fails, and the next one without it succeeds', async (t) => {
  const env = { DATA_DIR: t.testdir() }
  const file = join(env.DATA_DIR, 'rowhouse.db')
  writeFileSync(file, 'not a database')
  await t.rejects(buildApp({ config: readConfig(env), onDeath: t.threw }), { message: /not a SQLite database/ })
  rmSync(file)
  t.equal((await (await startApp(t, { env })).inject('/health')).statusCode, 200)
})

t.test('errors of Fastify itself are sent in the error envelope', async (t) => {
  const app = await startApp(t)
  const long = await app.inject(`/data/cats/records/${'x'.repeat(25_000)}`)
  t.equal(long.statusCode, 414)
  t.match(long.json(), { success: false, error: { code: 'PATH_TOO_LONG' } })

  t.equal(long.headers['x-content-type-options'], 'nosniff')
})
