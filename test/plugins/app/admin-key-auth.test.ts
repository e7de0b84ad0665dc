import { once } from 'node:events'
import { get, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import BetterSqlite3 from 'better-sqlite3'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { ADMIN_SCOPES, type AdminScope } from '../../../schemas/admin-key.ts'
import {
  type App,
  asAdmin,
  asKey,
  bearer,
  type Client,
  client,
  createDatabase,
  createTable,
  dataOf,
  expectData,
  expectDone,
  expectError,
  importTable,
  issueKey,
  logIn,
  startApp
} from '../../helpers.ts'
import { interrupt } from '../../staging-events.ts'

/** Some tests need the file of the service. */
const skip = process.env.ENGINE === 'rqlite'

let time = Date.parse('2026-03-01T12:00:00Z')
const app = await startApp(t, { clock: () => time })
const admin = await asAdmin(app)
const cats = await createTable(admin, {
  name: 'cats',
  fields: [
    { name: 'name', jsonType: 'string' },
    { name: 'lives', jsonType: 'integer' }
  ]
})
const CATS = `/admin/tables/${cats.id}`
const all = await asKey(app, admin, ADMIN_SCOPES)
const fields = [{ name: 'a', jsonType: 'string' }]

const keyWith = (...scopes: AdminScope[]) => asKey(app, admin, scopes)

const newCat = async (values: object = { name: 'Tom' }): Promise<number> =>
  dataOf(await admin.post(`${CATS}/data`, values)).id

t.test('a key sees and sets hidden fields, as administrators do', async (t) => {
  const table = await createTable(admin, {
    name: 'secrets',
    fields: [
      { name: 'open', jsonType: 'string' },
      { name: 'hidden', jsonType: 'string', isHidden: true }
    ]
  })
  const records = await keyWith('records:read', 'records:write')
  const url = `/admin/tables/${table.id}/data`
  const values = { open: 'a', hidden: 'b' }
  expectData(t, await records.post(url, values), { id: 1, ...values })
  expectData(t, await records.get(`${url}/1`), { id: 1, ...values })
})

t.test('an invalid key is refused, always alike', async (t) => {
  const revoked = await issueKey(admin, ['tables:read'])
  dataOf(await admin.delete(`/admin/keys/${revoked.id}`))
  const expired = await issueKey(admin, ['tables:read'], time + 1)
  time += 1
  const invalid = {
    'too short': 'rha_0123',
    unknown: `rha_${'0'.repeat(64)}`,
    revoked: revoked.key,
    expired: expired.key
  }
  for (const [name, key] of Object.entries(invalid)) {
    const response = await client(app, bearer(key)).get('/admin/tables')
    expectError(t, response, 401, 'INVALID_ADMIN_KEY')
    t.equal(response.headers['www-authenticate'], 'Bearer', name)
    t.match(response.json().error, {
      message: 'The admin key is malformed, unknown or expired.',
      hint: /POST \/admin\/keys/
    })
  }
  t.equal((await all.get('/admin/tables')).statusCode, 200)
})

t.test('the scheme of the header ignores case', async (t) => {
  const { key } = await issueKey(admin, ['tables:read'])
  for (const authorization of [`bearer ${key}`, `BEARER   ${key}`])
    t.equal((await client(app, { authorization }).get('/admin/tables')).statusCode, 200, authorization)
  const basic = await client(app, { authorization: `Basic ${key}` }).get('/admin/tables')
  expectError(t, basic, 401, 'AUTHENTICATION_REQUIRED')
})

t.test('a key needs the scope of the call, and the error names it', async (t) => {
  const reader = await keyWith('tables:read')
  t.equal((await reader.get('/admin/tables')).statusCode, 200)
  const refused = await reader.post('/admin/tables', { name: 'dogs', label: '', fields })
  expectError(t, refused, 403, 'ADMIN_KEY_NOT_ALLOWED')
  t.equal(refused.json().error.message, "The admin key needs the scope 'tables:write'.")
  t.match(refused.json().error.hint, /POST \/admin\/keys/)
  const writer = await keyWith('tables:write')
  expectError(t, await writer.get('/admin/tables'), 403, 'ADMIN_KEY_NOT_ALLOWED')
  t.equal(dataOf(await writer.post('/admin/tables', { name: 'dogs', label: '', fields })).name, 'dogs')
})

t.test('the scope is checked before the body', async (t) => {
  const reader = await keyWith('tables:read')
  expectError(t, await reader.post('/admin/tables', { nonsense: true }), 403, 'ADMIN_KEY_NOT_ALLOWED')
  expectError(t, await all.post('/admin/tables', { nonsense: true }), 400, 'VALIDATION_FAILED')
})

t.test('the scope of roles opens the roles', async (t) => {
  const keeper = await keyWith('roles')
  const { id } = dataOf(await keeper.post('/admin/roles', { name: 'reader', grants: [] }))
  t.equal(dataOf(await keeper.get(`/admin/roles/${id}`)).name, 'reader')
  dataOf(await keeper.put(`/admin/roles/${id}`, { name: 'nobody' }))
  const other = await keyWith('tokens')
  expectError(t, await other.get('/admin/roles'), 403, 'ADMIN_KEY_NOT_ALLOWED')
  expectError(t, await other.delete(`/admin/roles/${id}`), 403, 'ADMIN_KEY_NOT_ALLOWED')
  expectDone(t, await keeper.delete(`/admin/roles/${id}`))
})

t.test('no key manages keys, administrators or uploaded backups', async (t) => {
  const calls = [
    all.get('/admin/keys'),
    all.post('/admin/keys', { name: 'x', scopes: ['audit'] }),
    all.get('/admin/keys/1'),
    all.delete('/admin/keys/1'),
    all.get('/admin/admins'),
    all.post('/admin/admins', { name: 'ann', password: 'correct horse' }),
    all.put('/admin/admins/1', { password: 'correct horse' }),
    all.delete('/admin/admins/1'),
    all.post('/admin/backups/upload', 'x')
  ]
  for (const response of await Promise.all(calls)) {
    expectError(t, response, 403, 'ADMIN_KEY_NOT_ALLOWED')
    t.equal(response.json().error.message, 'No admin key can make this call.')
  }
  t.equal((await admin.get('/admin/keys')).statusCode, 200)
})

t.test('a key does not open /auth or /data', async (t) => {
  for (const url of ['/auth/me', '/auth/sessions']) {
    const response = await all.get(url)
    expectError(t, response, 401, 'AUTHENTICATION_REQUIRED')
    t.match(response.json().error.hint, /admin keys under \/admin only/)
  }
  expectError(
    t,
    await all.put('/auth/password', { oldPassword: 'x', newPassword: 'y' }),
    401,
    'AUTHENTICATION_REQUIRED'
  )
  expectError(t, await all.get('/data/cats'), 401, 'INVALID_TOKEN')
  expectError(t, await all.get('/data/_me'), 401, 'INVALID_TOKEN')
})

t.test('a key beside a session cookie is refused, whichever of them is valid', async (t) => {
  const session = await logIn(app)
  const cookies = [session.cookie, 'rowhouse_session=nonsense']
  const keys = [all.headers.authorization, 'Bearer rha_0123']
  for (const cookie of cookies)
    for (const authorization of keys) {
      const both = client(app, { cookie, authorization: String(authorization) })
      for (const response of [await both.get('/admin/tables'), await both.get('/auth/me')]) {
        expectError(t, response, 400, 'TWO_CREDENTIALS')
        t.match(response.json().error.hint, /Send one of them/)
      }
    }
  t.equal((await client(app, session).get('/admin/tables')).statusCode, 200)
  t.equal((await client(app, { ...all.headers, cookie: 'sticky=node-2' }).get('/admin/tables')).statusCode, 200)
})

t.test('a key is accepted from a page of another site, and a session is not', async (t) => {
  const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://tools.example' }
  const change = (headers: Record<string, string>) =>
    client(app, { ...headers, ...foreign }).put(CATS, { label: 'Cats' })
  t.equal((await change(all.headers)).statusCode, 200)
  expectError(t, await change(admin.headers), 403, 'CROSS_SITE_REQUEST')
  expectError(t, await change({ ...admin.headers, ...all.headers }), 403, 'CROSS_SITE_REQUEST')
})

t.test('with REQUIRE_PASSWORD_CHANGE, a key needs no password', async (t) => {
  const app = await startApp(t, { env: { REQUIRE_PASSWORD_CHANGE: 'true' } })
  const admin = await asAdmin(app)
  expectError(t, await admin.get('/admin/tables'), 403, 'PASSWORD_CHANGE_REQUIRED')
  dataOf(await admin.put('/auth/password', { oldPassword: 'correct horse', newPassword: 'battery staple' }))
  const script = await asKey(app, admin, ['tables:read'])
  t.equal((await script.get('/admin/tables')).statusCode, 200)
})

t.test('a change returns the record only to a key that can read records', async (t) => {
  const [writer, both] = [await keyWith('records:write'), await keyWith('records:write', 'records:read')]
  const url = `${CATS}/data/${await newCat()}`
  expectError(t, await writer.get(url), 403, 'ADMIN_KEY_NOT_ALLOWED')
  expectDone(t, await writer.put(url, { lives: 8 }))
  const refused = await writer.put(`${url}?return=record`, { lives: 1 })
  expectError(t, refused, 403, 'ADMIN_KEY_NOT_ALLOWED')
  t.equal(refused.json().error.message, "The admin key needs the scope 'records:read'.")
  expectError(t, await writer.delete(`${url}?return=record`), 403, 'ADMIN_KEY_NOT_ALLOWED')
  t.equal(dataOf(await both.put(`${url}?return=record`, { name: 'Tim' })).record.lives, 8)
  t.equal(dataOf(await both.delete(`${url}?return=record`)).record.name, 'Tim')
})

t.test('a change by a filter needs the right to read', async (t) => {
  const [writer, both] = [await keyWith('records:write'), await keyWith('records:write', 'records:read')]
  await newCat({ name: 'Filtered', lives: 1 })
  const operation = { op: 'update', table: 'cats', values: { lives: 2 }, maxAffected: 5 }
  const filtered = { ...operation, filter: { where: { name: { eq: 'Filtered' } } } }
  const create = { op: 'create', table: 'cats', values: { name: 'New' } }
  expectError(t, await writer.post('/admin/batch', { operations: [create, filtered] }), 403, 'ADMIN_KEY_NOT_ALLOWED')
  t.equal((await writer.post('/admin/batch', { operations: [create] })).statusCode, 200)
  t.equal((await both.post('/admin/batch', { operations: [create, filtered] })).statusCode, 200)
})

t.test('a key reads, queries, aggregates and exports records', async (t) => {
  const reader = await keyWith('records:read')
  await newCat({ name: 'Seen' })
  t.ok(dataOf(await reader.get(`${CATS}/data?order=name`)).total > 0)
  t.equal(dataOf(await reader.post(`${CATS}/query`, { filter: { where: { name: { eq: 'Seen' } } } })).rows.length, 1)
  t.ok(dataOf(await reader.post(`${CATS}/aggregate`, { compute: { n: { count: true } } })).rows[0].n > 0)
  t.match((await reader.get(`${CATS}/export`)).body, /Seen/)
  expectError(t, await reader.post(`${CATS}/data`, { name: 'x' }), 403, 'ADMIN_KEY_NOT_ALLOWED')
})

t.test('an Idempotency-Key belongs to the admin key, and ends with it', async (t) => {
  const { id, key } = await issueKey(admin, ['records:write'])
  const other = await issueKey(admin, ['records:write'])
  const create = (secret: string) =>
    client(app, { ...bearer(secret), 'idempotency-key': 'first' }).post(`${CATS}/data`, { name: 'Once' })
  const first = await create(key)
  const again = await create(key)
  t.equal(again.headers['idempotency-replayed'], 'true')
  t.strictSame(dataOf(again), dataOf(first))
  const others = await create(other.key)
  t.equal(others.headers['idempotency-replayed'], undefined)
  t.not(dataOf(others).id, dataOf(first).id)
  dataOf(await admin.delete(`/admin/keys/${id}`))
  const stored = { sql: "SELECT caller FROM _rowhouse_retries WHERE caller LIKE 'key %'", params: [] }
  t.strictSame(await app.database.read(stored), [{ caller: `key ${other.id}` }])
})

t.test('a key restores a backup without the accounts in it', { skip }, async (t) => {
  const app = await startApp(t)
  const admin = await asAdmin(app)
  const keeper = await asKey(app, admin, ['backups'])
  const { name } = dataOf(await keeper.post('/admin/backups'))
  t.equal((await keeper.get(`/admin/backups/${name}`)).statusCode, 200)
  const refused = await keeper.post(`/admin/backups/${name}/restore?include=access`)
  expectError(t, refused, 403, 'ADMIN_KEY_NOT_ALLOWED')
  t.match(refused.json().error.message, /cannot restore administrators/)
  t.equal((await keeper.post(`/admin/backups/${name}/restore`)).statusCode, 200)
  t.equal((await keeper.delete(`/admin/backups/${name}`)).statusCode, 200, 'the key is still valid')
  t.equal((await admin.get('/auth/me')).statusCode, 200)
})

/** The first step of the import stores 5,000 records. */
const FILE = `lives\n${'1\n'.repeat(6000)}`

for (const [cause, end] of Object.entries({
  'its end': (id: number) => admin.delete(`/admin/keys/${id}`),
  'its expiry': async () => {
    time += 1000
  }
}))
  t.test(`an import of a key ends at ${cause}`, async (t) => {
    const table = await createTable(admin, {
      name: cause.replace(' ', '_'),
      fields: [{ name: 'lives', jsonType: 'integer' }]
    })
    const { id, key } = await issueKey(admin, ['imports'], time + 1000)
    interrupt(t, app, 'step', (call) => call === 1 && end(id))
    const csv = client(app, { ...bearer(key), 'content-type': 'text/csv' })
    const response = await csv.post(`/admin/tables/${table.id}/import`, FILE)
    expectError(t, response, 409, 'IMPORT_STOPPED')
    t.match(response.json().error.message, /after 5000 of 6000 records were stored: The admin key is/)
  })

t.test('an import of a key continues while the key lasts, and is in the list of imports', async (t) => {
  const table = await createTable(admin, { name: 'imported', fields: [{ name: 'lives', jsonType: 'integer' }] })
  const importer = await keyWith('imports')
  const csv = client(app, { ...importer.headers, 'content-type': 'text/csv' })
  const imported = { rows: 6000, created: 6000, updated: 0, atomic: false, dryRun: false }
  expectData(t, await csv.post(`/admin/tables/${table.id}/import`, FILE), imported)
  t.match(dataOf(await importer.get('/admin/imports'))[0], { callerKind: 'key', callerName: 'script' })
})

t.test('a scan of a key is not returned after the end of the key', async (t) => {
  const queryAfter = async (reader: Client, act: () => Promise<unknown>) => {
    const { scan } = app.database
    app.database.scan = async (statement, caller) => {
      app.database.scan = scan
      await act()
      return scan(statement, caller)
    }
    return reader.post(`${CATS}/query`, { order: 'lives' })
  }
  const { id, key } = await issueKey(admin, ['records:read'])
  const reader = client(app, bearer(key))
  t.equal((await queryAfter(reader, async () => {})).statusCode, 200)
  expectError(t, await queryAfter(reader, () => admin.delete(`/admin/keys/${id}`)), 401, 'INVALID_ADMIN_KEY')
})

/** Starts an export for a client that reads only the head of the response. */
const startExport = async (t: Test, { headers }: Client, url: string) => {
  const [response] = await once(get(url, { headers }), 'response')
  t.equal(response.statusCode, 200)
  return response as IncomingMessage
}

const isComplete = async (response: IncomingMessage) => {
  try {
    for await (const _ of response);
    return true
  } catch {
    return false
  }
}

t.test('an export of a key ends with the key', async (t) => {
  const DATABASE = createDatabase(
    t,
    `CREATE TABLE large (id INTEGER PRIMARY KEY, s TEXT);
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
       INSERT INTO large SELECT i, printf('%01000d', i) FROM n;`
  )
  const app = await startApp(t, { env: { DATABASE } })
  const admin = await asAdmin(app)
  const { id: table } = await importTable(admin, 'large')
  const { id, key } = await issueKey(admin, ['records:read'])
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/admin/tables/${table}/export`
  const reader = client(app, bearer(key))
  t.ok(await isComplete(await startExport(t, reader, url)))
  const ended = await startExport(t, reader, url)
  expectDone(t, await admin.delete(`/admin/keys/${id}`))
  t.notOk(await isComplete(ended))
})

/** Sends a change whose body arrives after `act`. Returns the status and the code. */
const changeSlowly = async (port: number, key: string, act: () => Promise<unknown>) => {
  const headers = { ...bearer(key), 'content-type': 'application/json', 'content-length': 15 }
  const sent = request({ port, method: 'PUT', path: CATS, headers })
  const responded = once(sent, 'response')
  sent.write('{"label":')
  await act()
  sent.end('"Tom"}')
  const [response] = await responded
  let body = ''
  for await (const chunk of response) body += String(chunk)
  return { status: response.statusCode, code: JSON.parse(body).error?.code }
}

t.test('a key that ends while the body arrives changes nothing', async (t) => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const { id, key } = await issueKey(admin, ['tables:write'])
  const untilRead = async () => {
    while ((await listedUse(id)) === null) await new Promise((resolve) => setImmediate(resolve))
  }
  t.match(await changeSlowly(port, key, untilRead), { status: 200 })
  const revoke = async () => {
    await untilRead()
    await admin.delete(`/admin/keys/${id}`)
  }
  t.match(await changeSlowly(port, key, revoke), { status: 401, code: 'INVALID_ADMIN_KEY' })
})

const listedUse = async (id: number): Promise<number | null> =>
  dataOf(await admin.get(`/admin/keys/${id}`)).last_used_at

t.test('the caller of a key', async (t) => {
  let found: FastifyRequest | undefined
  const onRegister = (area: FastifyInstance) => {
    if (area.prefix !== '/admin') return
    area.get('/probe', { config: { scope: 'records:read' } }, async (request) => {
      found = request
      return request.caller.name
    })
  }
  const app: App = await startApp(t, { onRegister })
  const admin = await asAdmin(app)
  const { id, key } = await issueKey(admin, ['records:read'])
  t.equal((await client(app, bearer(key)).get('/admin/probe')).body, 'script')
  const { caller, socket } = found as FastifyRequest
  t.match(caller, { kind: 'key', id, name: 'script', integers: 'auto', address: '127.0.0.1' })
  t.equal(caller.mayRead('cats'), true)

  t.test('loses its right if the client disconnects', async (t) => {
    await caller.confirm()
    Object.defineProperty(socket, 'destroyed', { value: true })
    await t.rejects(caller.confirm(), { code: 'OVERLOADED', message: 'The client has disconnected.' })
    await caller.confirmRight()
  })

  t.test('loses its right with the key', async (t) => {
    dataOf(await admin.delete(`/admin/keys/${id}`))
    await t.rejects(caller.confirmRight(), { code: 'INVALID_ADMIN_KEY' })
    t.throws(() => caller.mayRead('cats'), { code: 'INVALID_ADMIN_KEY' })
  })
})

t.test('a key that another program deletes is refused', { skip }, async (t) => {
  const { id, key } = await issueKey(admin, ['tables:read'])
  const script = client(app, bearer(key))
  t.equal((await script.get('/admin/tables')).statusCode, 200)
  const external = new BetterSqlite3(`${app.config.DATA_DIR}/rowhouse.db`)
  t.teardown(() => external.close())
  external.prepare('DELETE FROM _rowhouse_admin_keys WHERE id = ?').run(id)
  while ((await script.get('/admin/tables')).statusCode === 200) await new Promise((resolve) => setImmediate(resolve))
  expectError(t, await script.get('/admin/tables'), 401, 'INVALID_ADMIN_KEY')
})

t.test('closing saves the last uses', { skip }, async (t) => {
  const now = time
  const app = await startApp(t, { clock: () => now })
  const { id, key } = await issueKey(await asAdmin(app), ['audit'])
  await client(app, bearer(key)).get('/admin/audit')
  await app.close()
  const external = new BetterSqlite3(`${app.config.DATA_DIR}/rowhouse.db`)
  t.teardown(() => external.close())
  t.equal(external.prepare('SELECT last_used_at FROM _rowhouse_admin_keys WHERE id = ?').pluck().get(id), now)
})
