import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { listenLocally, localSocketPath } from '../../../plugins/app/local-socket.ts'
import { asAdmin, issueKey, PASSWORD, startApp, temporaryDirectory } from '../../helpers.ts'

interface Sent {
  readonly method?: string
  readonly body?: object
  readonly authorization?: string
}

const send = async (socketPath: string, path: string, { method = 'GET', body, authorization }: Sent = {}) => {
  const headers = {
    host: 'localhost',
    ...(body && { 'content-type': 'application/json' }),
    ...(authorization && { authorization })
  }
  const sent = request({ socketPath, path, method, headers, agent: false })
  sent.end(body && JSON.stringify(body))
  const [response] = await once(sent, 'response')
  return { status: response.statusCode, body: JSON.parse(await text(response)) }
}

const open = async (t: Test, env: Record<string, string> = {}) => {
  const app = await startApp(t, { env })
  const close = await listenLocally(app)
  t.teardown(close)
  return { app, path: localSocketPath(app.config), close }
}

t.test('the local socket opens the administration, without a session', async (t) => {
  const { path } = await open(t, { REQUIRE_PASSWORD_CHANGE: 'true', TRUST_PROXY: '127.0.0.1' })
  t.match(await send(path, '/admin/tokens'), { status: 200, body: { data: [] } })
  const body = { name: 'shop', permissions: { tables: ['*'], actions: ['read'] } }
  t.match(await send(path, '/admin/tokens', { method: 'POST', body }), { status: 200, body: { data: { id: 1 } } })
  t.match(await send(path, '/admin/admins/1', { method: 'PUT', body: { nickname: 'Root' } }), { status: 200 })
  const last = await send(path, '/admin/admins/1', { method: 'DELETE' })
  t.match(last, { status: 409, body: { error: { code: 'LAST_ADMIN' } } })
})

t.test('on the local socket, an admin key changes nothing', async (t) => {
  const { app, path } = await open(t)
  const { key } = await issueKey(await asAdmin(app), ['audit'])
  for (const authorization of [`Bearer ${key}`, 'Bearer rha_0123'])
    t.match(await send(path, '/admin/tokens', { authorization }), { status: 200, body: { data: [] } })
})

t.test('the local socket opens no data and no account', async (t) => {
  const { path } = await open(t)
  t.match(await send(path, '/data/_me'), { status: 401, body: { error: { code: 'INVALID_TOKEN' } } })
  for (const url of ['/auth/me', '/auth/sessions'])
    t.match(await send(path, url), { status: 401, body: { error: { code: 'AUTHENTICATION_REQUIRED' } } })
})

t.test('a login through the local socket has no address', async (t) => {
  const { path } = await open(t)
  const attempt = (password: string) => send(path, '/auth/login', { method: 'POST', body: { name: 'admin', password } })
  t.match(await attempt('wrong'), { status: 401, body: { error: { code: 'INVALID_CREDENTIALS' } } })
  t.match(await attempt(PASSWORD), { status: 200 })
})

t.test('what comes through the local socket is audited', async (t) => {
  const { path } = await open(t)
  const body = { name: 'shop', permissions: { tables: ['*'], actions: ['read'] } }
  await send(path, '/admin/tokens', { method: 'POST', body })
  const audit = await send(path, '/admin/audit?size=1')
  const row = {
    action: 'token.issue',
    target: 'shop',
    callerKind: 'local',
    callerName: 'local',
    callerId: 0,
    address: ''
  }
  t.match(audit.body.data.rows, [row])
})

t.test('other connections still need a session', async (t) => {
  const { app } = await open(t)
  t.equal((await app.inject('/admin/tokens')).statusCode, 401)
  t.equal((await (await asAdmin(app)).get('/admin/tokens')).statusCode, 200)
})

t.test('only this user can open the socket, and it disappears with the service', async (t) => {
  const { path, close } = await open(t)
  t.equal(statSync(path).mode & 0o777, 0o600)
  close()
  t.notOk(existsSync(path))
})

t.test('the socket of a process that was killed is replaced', async (t) => {
  const app = await startApp(t)
  const path = localSocketPath(app.config)
  writeFileSync(path, '')
  t.teardown(await listenLocally(app))
  t.match(await send(path, '/health'), { status: 200 })
})

t.test('a path that is too long is replaced by one in a private folder', async (t) => {
  const TMPDIR = temporaryDirectory(t)
  const { TMPDIR: before } = process.env
  process.env.TMPDIR = TMPDIR
  t.teardown(() => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  })
  const DATA_DIR = join(temporaryDirectory(t), 'x'.repeat(80))
  const { path } = await open(t, { DATA_DIR })
  t.ok(path.startsWith(TMPDIR))
  t.match(await send(path, '/health'), { status: 200 })
  const [folder = ''] = readdirSync(TMPDIR).filter((name) => /^rowhouse-\d+$/.test(name))
  t.equal(statSync(join(TMPDIR, folder)).mode & 0o777, 0o700)

  chmodSync(join(TMPDIR, folder), 0o755)
  const app = await startApp(t, { env: { DATA_DIR: join(DATA_DIR, 'other') } })
  await t.rejects(listenLocally(app), { message: /is not a directory that only this user can open/ })
})

t.test('a socket that cannot be created is an error', async (t) => {
  const app = await startApp(t)
  mkdirSync(localSocketPath(app.config))
  await t.rejects(listenLocally(app))
})
