import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import {
  asAdmin,
  asToken,
  client,
  createDatabase,
  createFingerprint,
  createTable,
  dataOf,
  expectDone,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'

// Vulnerabilities published for comparable systems, by the identifier of their advisory: tables, records and tokens.

const HOSTILE = [`x"; DROP TABLE victims; --`, `x'; DROP TABLE victims; --`, 'x]; DROP TABLE victims; --', '`x`', '%s']

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

const file = createDatabase(
  t,
  `CREATE TABLE victims (id INTEGER PRIMARY KEY, name TEXT);
   INSERT INTO victims VALUES (1, 'safe');
   CREATE TABLE keyed (k TEXT PRIMARY KEY NOT NULL, v TEXT);
   CREATE TABLE columns (id INTEGER PRIMARY KEY, ${HOSTILE.map((name) => `${quoted(name)} TEXT`).join(', ')});
   ${HOSTILE.map((name) => `CREATE TABLE ${quoted(name)} (${quoted(`${name} key`)} TEXT PRIMARY KEY, v TEXT);`).join('\n')}`
)
const app = await startApp(t, { env: { DATABASE: file } })
const fingerprint = createFingerprint(t, file)
const admin = await asAdmin(app)
await importTable(admin, 'victims')
const people = await createTable(admin, {
  name: 'people',
  fields: [
    { name: 'name', jsonType: 'string' },
    { name: 'salary', jsonType: 'integer', isHidden: true },
    { name: 'code', jsonType: 'string', isHidden: true }
  ]
})
dataOf(await admin.post(`/admin/tables/${people.id}/data`, { name: 'Ann', salary: 7, code: 'canary' }))
const secrets = await createTable(admin, { name: 'secrets', fields: [{ name: 'a', jsonType: 'string' }] })
await admin.put(`/admin/tables/${secrets.id}`, { isPublished: false })
const token = await asToken(app, admin)

const expectVictimsUnchanged = async (t: Test) =>
  t.strictSame(dataOf(await token.get('/data/victims')).rows, [{ id: 1, name: 'safe' }])

/** Asserts that the responses do not show whether a field is hidden or missing. */
const expectSameRefusal = async (t: Test, send: (field: string) => Promise<Awaited<ReturnType<typeof token.get>>>) => {
  const [hidden, missing] = [await send('salary'), await send('absent')]
  expectError(t, hidden, 400, 'VALIDATION_FAILED')
  const withoutName = ({ body }: typeof hidden) =>
    body.replaceAll(/salary|absent/g, 'it').replace(/"requestId":"[^"]*"/, '')
  t.equal(withoutName(hidden), withoutName(missing))
}

t.test('Directus CVE-2025-30352: a search does not look into hidden fields', async (t) => {
  for (const q of ['canary', 'can', '7']) t.equal(dataOf(await token.get(`/data/people?q=${q}`)).total, 0, q)
  t.equal(dataOf(await token.get('/data/people?q=Ann')).total, 1)
})

t.test('Strapi CVE-2023-22894: nothing is sorted by a hidden field', (t) =>
  expectSameRefusal(t, (field) => token.get(`/data/people?order=${field}`))
)

t.test('Strapi CVE-2023-34235: nothing is sorted by a hidden field behind a prefix', async (t) => {
  for (const prefix of ['people.', 't0.', 'main.people.', '"people".'])
    await expectSameRefusal(t, (field) => token.get(`/data/people?order=${encodeURIComponent(prefix + field)}`))
})

t.test('Strapi CVE-2024-56143: no lookup, filter or selection reveals a hidden field', async (t) => {
  for (const key of ['lookup', 'filter', 'filters[salary]', 'fields', 'select', 'populate', 'salary'])
    expectError(t, await token.get(`/data/people?${encodeURIComponent(key)}=7`), 400, 'VALIDATION_FAILED')
})

t.test('Payload CVE-2026-105805: no condition, aggregate or upsert reveals a hidden field', async (t) => {
  for (const key of ['where[salary][equals]', 'group', 'sum', 'having', 'on_conflict', 'upsert'])
    expectError(t, await token.get(`/data/people?${encodeURIComponent(key)}=7`), 400, 'VALIDATION_FAILED')
  await expectSameRefusal(t, (field) => token.post('/data/people/incr', { pk: '1', field, count: 0 }))
  await expectSameRefusal(t, (field) => token.put('/data/people/records/1', { [field]: 7 }))
  expectError(t, await token.put('/data/people/records/99', { name: 'x' }), 404, 'RECORD_NOT_FOUND')
})

t.test(
  'Directus CVE-2025-64746: a permission that was removed does not return with a new table of the same name',
  async (t) => {
    const { id } = await createTable(admin, { name: 'phoenix', fields: [{ name: 'a', jsonType: 'string' }] })
    const issued = dataOf(
      await admin.post('/admin/tokens', { name: 'a', permissions: { tables: ['phoenix'], actions: ['read'] } })
    )
    const holder = client(app, { authorization: `Bearer ${issued.token}` })
    dataOf(await holder.get('/data/phoenix'))
    expectDone(t, await admin.put(`/admin/tokens/${issued.id}`, { permissions: { tables: [], actions: ['read'] } }))
    expectDone(t, await admin.delete(`/admin/tables/${id}?confirm=true`))
    await importTable(admin, 'phoenix')
    expectError(t, await holder.get('/data/phoenix'), 403, 'ACTION_NOT_ALLOWED')
    const named = await asToken(app, admin, { tables: ['phoenix'], actions: ['read'] })
    t.equal(
      (await named.get('/data/phoenix')).statusCode,
      200,
      'a token that names the table may read any table of that name'
    )
  }
)

t.test('NocoDB CVE-2023-43794: a stored table name is never SQL', async (t) => {
  for (const name of HOSTILE) {
    const { id } = await importTable(admin, name)
    const url = `/data/${encodeURIComponent(name)}`
    dataOf(await token.post(`${url}/records`, { [`${name} key`]: 'a', v: 'b' }))
    for (const path of [`${url}?q=b&order=-v`, `${url}/schema`, `${url}/records/a`]) dataOf(await token.get(path))
    t.equal((await admin.get(`/admin/tables/${id}/export?q=b`)).statusCode, 200)
    dataOf(await admin.post(`/admin/tables/${id}/refresh`))
    expectDone(t, await token.delete(`${url}/records/a`))
  }
  await expectVictimsUnchanged(t)
})

t.test('NocoDB GHSA-8fxg-mr34-jqr8: a stored column name is never SQL', async (t) => {
  const { id } = await importTable(admin, 'columns')
  for (const name of HOSTILE) {
    const { id: pk } = dataOf(await token.post('/data/columns/records', { [name]: 'a' }))
    expectDone(t, await token.put(`/data/columns/records/${pk}`, { [name]: 'b' }))
    const { rows } = dataOf(await token.get(`/data/columns?order=-${encodeURIComponent(name)}&size=1`))
    t.equal(rows[0][name], 'b')
    t.equal((await admin.get(`/admin/tables/${id}/export`)).statusCode, 200)
  }
  await expectVictimsUnchanged(t)
})

t.test('NocoBase CVE-2026-41640: a stored key is never SQL', async (t) => {
  await importTable(admin, 'keyed')
  const keys = [...HOSTILE, "' OR '1'='1", "' UNION SELECT 1, 2 --", '1; DELETE FROM keyed']
  for (const k of keys) dataOf(await token.post('/data/keyed/records', { k, v: '0' }))
  for (const [index, k] of keys.entries()) {
    const url = `/data/keyed/records/${encodeURIComponent(k)}`
    t.strictSame(dataOf(await token.get(url)), { k, v: '0' })
    expectDone(t, await token.put(url, { v: '1' }))
    expectDone(t, await token.delete(url))
    t.equal(dataOf(await token.get('/data/keyed?q=0')).total, keys.length - index - 1, k)
  }
  await expectVictimsUnchanged(t)
})

t.test('Datasette 0.65.3: an order is never SQL', async (t) => {
  for (const order of ['name;DROP TABLE victims', 'name)--', '(SELECT 1)', "name COLLATE 'x'", 'random()', '1'])
    expectError(t, await token.get(`/data/people?order=${encodeURIComponent(order)}`), 400, 'VALIDATION_FAILED')
  await expectVictimsUnchanged(t)
})

t.test('Datasette 0.65.3: a table name in another case has the same restrictions', async (t) => {
  const narrow = await asToken(app, admin, { tables: ['People'], actions: ['read'] })
  for (const name of ['people', 'PEOPLE', 'pEoPlE']) {
    dataOf(await narrow.get(`/data/${name}`))
    expectError(t, await narrow.delete(`/data/${name}/records/1`), 403, 'ACTION_NOT_ALLOWED')
  }
  for (const name of ['victims', 'VICTIMS'])
    expectError(t, await narrow.get(`/data/${name}`), 403, 'ACTION_NOT_ALLOWED')
  for (const name of ['secrets', 'SECRETS']) expectError(t, await token.get(`/data/${name}`), 404, 'TABLE_NOT_FOUND')
})

t.test('Datasette 0.65.4: a key column may have any name', async (t) => {
  for (const name of HOSTILE) {
    const url = `/data/${encodeURIComponent(name)}/records`
    const key = `${name} key`
    for (const value of ['one', 'two']) dataOf(await token.post(url, { [key]: value, v: value }))
    t.strictSame(dataOf(await token.get(`${url}/two`)), { [key]: 'two', v: 'two' })
  }
})

t.test('Datasette 0.65.4: a wildcard in a scope, a search or a path is a literal character', async (t) => {
  const wild = await asToken(app, admin, { tables: ['p%', 'peopl_', 'people*', '?'], actions: ['read'] })
  expectError(t, await wild.get('/data/people'), 403, 'ACTION_NOT_ALLOWED')
  t.strictSame(dataOf(await wild.get('/data/_me')).tables, [])
  for (const q of ['%', '_', 'A%', 'A_n', '*'])
    t.equal(dataOf(await token.get(`/data/people?q=${encodeURIComponent(q)}`)).total, 0, q)
  expectError(t, await token.get('/data/p%25'), 404, 'TABLE_NOT_FOUND')
})

t.test('Datasette 0.65.4: no cache may store a response', async (t) => {
  for (const response of [
    await token.get('/data/people'),
    await client(app).get('/data/people'),
    await admin.get(`/admin/tables/${people.id}/export`),
    await client(app).get('/openapi.json'),
    await client(app).get('/nowhere')
  ])
    t.equal(response.headers['cache-control'], 'private, no-store')
})

t.test('Datasette GHSA-7ch3-7pp7-7cpq: no response names a table that the client may not see', async (t) => {
  const anonymous = client(app)
  for (const url of [
    '/openapi.json',
    '/docs/json',
    '/docs/yaml',
    '/docs/',
    '/health/ready',
    '/data/people',
    '/nowhere'
  ])
    t.notMatch((await anonymous.get(url)).body.replaceAll('/data/people', ''), /victims|people|secrets/, url)
  t.notMatch((await token.get('/data/_me')).body, /secrets/)
  const narrow = await asToken(app, admin, { tables: ['people', 'secrets'], actions: ['read'] })
  t.strictSame(dataOf(await narrow.get('/data/_me')).tables, ['people'])
})

t.test(
  'Baserow CVE-2026-113359, NocoDB CVE-2026-28361: exports, schemas and other routes need a credential too',
  async (t) => {
    const anonymous = client(app)
    for (const path of ['export', 'data', 'data/1', 'refresh']) {
      const call = path === 'refresh' ? anonymous.post : anonymous.get
      expectError(t, await call(`/admin/tables/${people.id}/${path}`), 401, 'AUTHENTICATION_REQUIRED')
    }
    for (const path of ['people/schema', '_me', 'people'])
      expectError(t, await anonymous.get(`/data/${path}`), 401, 'INVALID_TOKEN')
  }
)

t.test('Directus CVE-2026-126539, CVE-2025-55746: a refused request has no effect', async (t) => {
  const reader = await asToken(app, admin, { tables: ['*'], actions: ['read'] })
  const before = fingerprint()
  expectError(t, await reader.post('/data/people/records', { name: 'x' }), 403, 'ACTION_NOT_ALLOWED')
  expectError(t, await reader.put('/data/people/records/1', { name: 'x' }), 403, 'ACTION_NOT_ALLOWED')
  expectError(t, await reader.delete('/data/people/records/1'), 403, 'ACTION_NOT_ALLOWED')
  expectError(t, await token.put('/data/people/records/1', { name: 'x', salary: 8 }), 400, 'VALIDATION_FAILED')
  t.equal(fingerprint(), before)
})

t.test(
  'Gitea GHSA-9r5x-wg6m-x2rc: a session does not extend a token, and a token is only accepted as a bearer token',
  async (t) => {
    const reader = await asToken(app, admin, { tables: ['people'], actions: ['read'] })
    const both = client(app, { ...reader.headers, ...admin.headers })
    expectError(t, await both.post('/data/people/records', { name: 'x' }), 403, 'ACTION_NOT_ALLOWED')
    const secret = String(token.headers.authorization).slice('Bearer '.length)
    const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
    for (const headers of [
      basic(`${secret}:x-oauth-basic`),
      basic(`token:${secret}`),
      { authorization: `token ${secret}` }
    ]) {
      expectError(t, await client(app, headers).get('/data/people'), 401, 'INVALID_TOKEN')
      expectError(t, await client(app, headers).get('/admin/tables'), 401, 'AUTHENTICATION_REQUIRED')
    }
    expectError(t, await client(app).get(`/data/people?access_token=${secret}`), 401, 'INVALID_TOKEN')
  }
)

t.test('EspoCRM CVE-2026-55154: a formula after white space is escaped too', async (t) => {
  const { id } = await createTable(admin, { name: 'sheet', fields: [{ name: 'a', jsonType: 'string' }] })
  const formulas = ['=1+1', ' =1+1', '\t=1+1', '\r=1+1', ' \t +1', '  @x', ' -1']
  for (const a of formulas) dataOf(await admin.post(`/admin/tables/${id}/data`, { a }))
  const { body } = await admin.get(`/admin/tables/${id}/export?escape=formulas`)
  t.equal(body, `"id","a"\r\n${formulas.map((a, index) => `${index + 1},"'${a}"\r\n`).join('')}`)
})

t.test('PocketBase CVE-2026-82410: an error in the background does not end the process', async (t) => {
  const lines: string[] = []
  const logger = { level: 'error', stream: { write: (line: string) => void lines.push(line) } }
  const app = await startApp(t, { logger })
  const token = await asToken(app, await asAdmin(app))
  const other = new BetterSqlite3(`${app.config.DATA_DIR}/rowhouse.db`)
  t.teardown(() => other.close())
  other.exec('ALTER TABLE _rowhouse_tokens RENAME TO _rowhouse_elsewhere')
  while (!lines.some((line) => line.includes('could not be reloaded'))) await new Promise(setImmediate)
  t.equal((await token.get('/data/_me')).statusCode, 200)
  other.exec('ALTER TABLE _rowhouse_elsewhere RENAME TO _rowhouse_tokens')
})
