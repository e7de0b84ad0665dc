import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import {
  asAdmin,
  asToken,
  type Client,
  createDatabase,
  createFingerprint,
  dataOf,
  expectData,
  expectError,
  importTable,
  routesOf,
  startApp
} from '../helpers.ts'
import { openServed } from '../served.ts'

const DAY = 24 * 60 * 60 * 1000

const file = createDatabase(
  t,
  `CREATE TABLE cats (id INTEGER PRIMARY KEY, sku TEXT UNIQUE, name TEXT, lives INTEGER, secret TEXT);
   CREATE TABLE dogs (id INTEGER PRIMARY KEY, name TEXT);
   CREATE TABLE wide (id INTEGER PRIMARY KEY, count INTEGER, text TEXT);
   INSERT INTO wide VALUES (1, 0, replace(hex(zeroblob(600000)), '00', 'xyz'));`
)
let time = Date.parse('2026-03-01T12:00:00Z')
const app = await startApp(t, { env: { DATABASE: file }, clock: () => time })
const admin = await asAdmin(app)
const cats = await importTable(admin, 'cats')
await importTable(admin, 'dogs')
await importTable(admin, 'wide')
const token = await asToken(app, admin)
const fingerprint = createFingerprint(t, file)
const db = openServed(t, file)

const adminCats = `/admin/tables/${cats.id}/data`
const count = (table: string) => Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
const catOf = (id: number) => db.prepare<[number], { lives: number }>('SELECT * FROM cats WHERE id = ?').get(id)

let lastKey = 0
const newKey = () => {
  lastKey += 1
  return `key ${lastKey}`
}
let lastSku = 0
const newSku = () => {
  lastSku += 1
  return `sku ${lastSku}`
}

type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Sent = readonly [method: Method, url: string, payload?: object | string]

const send = ({ headers }: Client, key: string, [method, url, payload]: Sent) =>
  app.inject({
    method,
    url,
    headers: {
      ...headers,
      'idempotency-key': key,
      ...(payload !== undefined && { 'content-type': url.includes('/import?') ? 'text/csv' : 'application/json' })
    },
    ...(payload !== undefined && { payload })
  })

const newCat = async () => Number(dataOf(await token.post('/data/cats/records', { name: 'Tom', lives: 9 })).id)

const operations = async () => ({
  operations: [
    { op: 'create', table: 'cats', values: { sku: newSku(), name: 'Kitty' } },
    { op: 'create', table: 'cats', values: { sku: `sku ${lastSku}` }, onConflict: 'ignore' },
    { op: 'upsert', table: 'cats', on: ['sku'], values: { sku: `sku ${lastSku}`, name: 'Felix' } },
    { op: 'upsert', table: 'cats', on: ['sku'], values: { sku: newSku(), lives: 7 } },
    { op: 'update', table: 'cats', pk: { $result: 0, field: 'id' }, values: { lives: 3 } },
    { op: 'incr', table: 'cats', pk: String(await newCat()), field: 'lives', count: -2 },
    { op: 'delete', table: 'cats', pk: await newCat() },
    {
      op: 'update',
      table: 'cats',
      filter: { where: { sku: { eq: `sku ${lastSku}` } } },
      maxAffected: 5,
      values: { name: 'x' }
    }
  ]
})

/** Requests to each route that takes a key, by the id of its operation. */
const requests = async (): Promise<readonly (readonly [operationId: string, client: Client, sent: Sent])[]> => [
  ['createRecord', token, ['POST', '/data/cats/records', { name: 'Tom', lives: 9 }]],
  ['createRecord', token, ['POST', '/data/cats/records?upsert=sku', { sku: newSku(), name: 'Tom' }]],
  ['updateRecord', token, ['PUT', `/data/cats/records/${await newCat()}`, { name: 'Tim' }]],
  ['updateRecord', token, ['PUT', `/data/cats/records/${await newCat()}?return=record`, { name: 'Tim' }]],
  ['patchRecord', token, ['PATCH', `/data/cats/records/${await newCat()}?return=record`, { name: 'Tim' }]],
  ['addToRecord', token, ['POST', `/data/cats/records/${await newCat()}/incr`, { field: 'lives' }]],
  ['addToRecord', token, ['POST', `/data/cats/records/${await newCat()}/incr?return=record`, { field: 'lives' }]],
  ['deleteRecord', token, ['DELETE', `/data/cats/records/${await newCat()}`]],
  ['deleteRecord', token, ['DELETE', `/data/cats/records/${await newCat()}?return=record`]],
  ['incrementRecord', token, ['POST', '/data/cats/incr', { pk: await newCat(), field: 'lives' }]],
  ['incrementRecord', token, ['POST', '/data/cats/incr?return=record', { pk: await newCat(), field: 'lives' }]],
  ['runBatch', token, ['POST', '/data/_batch', await operations()]],
  ['runBatch', token, ['POST', '/data/_batch', { operations: [] }]],
  ['importRecords', token, ['POST', '/data/cats/import?atomic=true', `sku\n${newSku()}\n`]],
  ['adminImportRecords', admin, ['POST', `/admin/tables/${cats.id}/import?atomic=true`, `sku\n${newSku()}\n`]],
  ['adminCreateRecord', admin, ['POST', adminCats, { name: 'Tom', secret: 's' }]],
  ['adminCreateRecord', admin, ['POST', `${adminCats}?upsert=sku`, { sku: newSku(), name: 'Tom' }]],
  ['adminUpdateRecord', admin, ['PUT', `${adminCats}/${await newCat()}?return=record`, { secret: 's' }]],
  ['adminPatchRecord', admin, ['PATCH', `${adminCats}/${await newCat()}?return=record`, { secret: 's' }]],
  ['adminDeleteRecord', admin, ['DELETE', `${adminCats}/${await newCat()}?return=record`]],
  ['adminRunBatch', admin, ['POST', '/admin/batch', await operations()]]
]

t.test('a repeated request gets the same bytes and changes nothing, on every route that takes a key', async (t) => {
  const all = await requests()
  for (const [operationId, caller, sent] of all) {
    const key = newKey()
    const first = await send(caller, key, sent)
    t.equal(first.statusCode, 200, first.body)
    t.equal(first.headers['idempotency-replayed'], undefined)
    const before = fingerprint()
    const second = await send(caller, key, sent)
    t.equal(second.statusCode, 200, second.body)
    t.equal(second.headers['idempotency-replayed'], 'true')
    for (const name of ['content-type', 'etag', 'location']) t.equal(second.headers[name], first.headers[name], name)
    t.equal(second.body, first.body, operationId)
    t.equal(fingerprint(), before, 'nothing has changed')
  }
  const tested = new Set(all.map(([operationId]) => operationId))
  const taking = routesOf(app).filter(({ config }) => config?.takesRetryKey)
  t.strictSame([...tested].sort(), [...new Set(taking.map(({ schema }) => String(schema?.operationId)))].sort())
})

t.test('a response with a key has the same bytes as one without', async (t) => {
  const body = { pk: await newCat(), field: 'lives', count: 0 }
  for (const url of ['/data/cats/incr', '/data/cats/incr?return=record']) {
    const plain = await token.post(url, body)
    t.equal((await send(token, newKey(), ['POST', url, body])).body, plain.body)
  }
})

t.test('a replay shows the first response after the record has changed', async (t) => {
  const id = await newCat()
  const sent: Sent = ['POST', '/data/cats/incr?return=record', { pk: id, field: 'lives' }]
  const first = await send(token, 'changed', sent)
  t.match(dataOf(first), { record: { lives: 10 } })
  await token.delete(`/data/cats/records/${id}`)
  t.equal((await send(token, 'changed', sent)).body, first.body)
  expectError(t, await send(token, 'changed later', sent), 404, 'RECORD_NOT_FOUND')
})

t.test('the results that an earlier version has stored for an upsert are replayed', async (t) => {
  const sku = newSku()
  for (const created of [true, false]) {
    const key = newKey()
    const sent: Sent = ['POST', '/data/cats/records?upsert=sku', { sku, name: `Tom ${created}` }]
    const first = await send(token, key, sent)
    const { record } = dataOf(first)
    // The first statement of an upsert returned a row if the record existed.
    const found = { changes: created ? 0 : 1, rows: created ? [] : [{}] }
    const results = [[found, { changes: 1, rows: [{ record: JSON.stringify(record) }] }]]
    db.prepare('UPDATE _rowhouse_retries SET results = ? WHERE key = ?').run(JSON.stringify(results), key)
    const again = await send(token, key, sent)
    t.equal(again.headers['idempotency-replayed'], 'true')
    t.equal(again.body, first.body)
    t.equal(dataOf(again).created, created)
  }
})

t.test('the total of a list that was read before counts a record that a request with a key creates', async (t) => {
  const totalOf = async () => dataOf(await token.get('/data/wide?fields=id')).total
  const before = await totalOf()
  const sent: Sent = ['POST', '/data/wide/records', { count: 1 }]
  for (const replayed of [undefined, 'true']) {
    t.equal((await send(token, 'counted', sent)).headers['idempotency-replayed'], replayed)
    t.equal(await totalOf(), before + 1)
  }
})

t.test('tokens and administrators have keys of their own', async (t) => {
  const other = await asToken(app, admin)
  const before = count('cats')
  for (const [caller, url] of [
    [token, '/data/cats/records'],
    [other, '/data/cats/records'],
    [admin, adminCats]
  ] as const) {
    const response = await send(caller, 'shared', ['POST', url, { name: 'Tom' }])
    t.equal(response.statusCode, 200, response.body)
    t.equal(response.headers['idempotency-replayed'], undefined)
  }
  t.equal(count('cats'), before + 3)
})

t.test('the same key with another method, path, query or body is refused', async (t) => {
  const id = await newCat()
  const first: Sent = ['PUT', `/data/cats/records/${id}`, { lives: 5 }]
  expectData(t, await send(token, 'reused', first), { success: true })
  const before = fingerprint()
  const others: readonly Sent[] = [
    ['PUT', `/data/cats/records/${id}`, { lives: 6 }],
    ['PUT', `/data/cats/records/${id}`, '{"lives": 5}'],
    ['PUT', `/data/cats/records/${id}?return=record`, { lives: 5 }],
    ['PUT', `/data/cats/records/${await newCat()}`, { lives: 5 }],
    ['DELETE', `/data/cats/records/${id}`],
    ['POST', '/data/dogs/records', { name: 'Rex' }],
    ['POST', '/data/_batch', { operations: [] }]
  ]
  for (const other of others.slice(0, 3))
    expectError(t, await send(token, 'reused', other), 422, 'IDEMPOTENCY_KEY_REUSED')
  t.equal(count('dogs'), 0)
  for (const other of others) expectError(t, await send(token, 'reused', other), 422, 'IDEMPOTENCY_KEY_REUSED')
  t.equal(catOf(id)?.lives, 5)
  t.not(fingerprint(), before, 'the second record')
  t.equal((await send(token, 'reused', first)).headers['idempotency-replayed'], 'true')
})

t.test('the same key with another condition is refused', async (t) => {
  const sent: Sent = ['POST', '/data/cats/records?upsert=sku', { sku: newSku(), name: 'Tom' }]
  const conditional: Client = { ...token, headers: { ...token.headers, 'if-none-match': '*' } }
  t.match(dataOf(await send(conditional, 'condition', sent)), { created: true })
  expectError(t, await send(token, 'condition', sent), 422, 'IDEMPOTENCY_KEY_REUSED')
  t.equal((await send(conditional, 'condition', sent)).headers['idempotency-replayed'], 'true')
  expectError(t, await send(conditional, 'no replay', sent), 412, 'PRECONDITION_FAILED')
})

t.test('of concurrent requests with one key, one has an effect', async (t) => {
  const id = await newCat()
  const sent: Sent = ['POST', '/data/cats/incr', { pk: id, field: 'lives' }]
  const responses = await Promise.all(Array.from({ length: 10 }, () => send(token, 'concurrent', sent)))
  const succeeded = responses.filter(({ statusCode }) => statusCode === 200)
  t.equal(succeeded.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length, 1)
  const refused = responses.filter((response) => !succeeded.includes(response))
  t.ok(refused.length > 0)
  for (const response of refused) {
    expectError(t, response, 409, 'IDEMPOTENCY_KEY_IN_FLIGHT')
    t.equal(response.headers['retry-after'], '1')
  }
  t.equal((await send(token, 'concurrent', sent)).headers['idempotency-replayed'], 'true')
  t.equal(catOf(id)?.lives, 10)
})

t.test('rights are checked before a replay', async (t) => {
  const { id, token: secret } = dataOf(
    await admin.post('/admin/tokens', { name: 'shop', permissions: { tables: ['cats'], actions: ['read', 'write'] } })
  )
  const shop: Client = { ...token, headers: { authorization: `Bearer ${secret}` } }
  const setActions = async (...actions: string[]) =>
    dataOf(await admin.put(`/admin/tokens/${id}`, { permissions: { tables: ['cats'], actions } }))
  const pk = await newCat()
  const plain: Sent = ['PUT', `/data/cats/records/${pk}`, { lives: 5 }]
  const returning: Sent = ['PUT', `/data/cats/records/${pk}?return=record`, { lives: 5 }]
  const upsert: Sent = ['POST', '/data/cats/records?upsert=id', { id: pk, lives: 6 }]
  const batch: Sent = [
    'POST',
    '/data/_batch',
    { operations: [{ op: 'incr', table: 'cats', pk: String(pk), field: 'lives' }] }
  ]
  const keyed = [plain, returning, upsert, batch].map((sent) => ({ key: newKey(), sent }))
  for (const { key, sent } of keyed) t.equal((await send(shop, key, sent)).statusCode, 200)
  const repeat = async () => Promise.all(keyed.map(({ key, sent }) => send(shop, key, sent)))

  await setActions('create', 'read')
  for (const response of await repeat()) expectError(t, response, 403, 'ACTION_NOT_ALLOWED')

  await setActions('create', 'update')
  const [changed, returned, upserted, batched] = await repeat()
  t.equal(changed?.headers['idempotency-replayed'], 'true')
  t.equal(batched?.headers['idempotency-replayed'], 'true')
  if (returned) expectError(t, returned, 403, 'ACTION_NOT_ALLOWED')
  if (upserted) expectError(t, upserted, 422, 'IDEMPOTENCY_KEY_REUSED')

  await setActions('read', 'write')
  for (const response of await repeat()) t.equal(response.headers['idempotency-replayed'], 'true')

  await admin.put(`/admin/tokens/${id}`, { isActive: false })
  for (const response of await repeat()) expectError(t, response, 401, 'INVALID_TOKEN')
})

t.test('a replay shows no field that has been hidden since', async (t) => {
  const sent: Sent = ['POST', '/data/cats/records', { name: 'Tom', secret: 'once visible' }]
  const unseen: Sent = ['PUT', `/data/cats/records/${await newCat()}`, { lives: 2 }]
  t.match(dataOf(await send(token, 'hidden', sent)), { secret: 'once visible' })
  await send(token, 'unseen', unseen)
  const hide = (isHidden: boolean) =>
    admin.put(`/admin/tables/${cats.id}`, { fields: [{ name: 'secret', isHidden }] }).then(dataOf)
  await hide(true)
  // The record cannot be created again either: its field is unknown now.
  expectError(t, await send(token, 'hidden', sent), 400, 'VALIDATION_FAILED')
  t.equal((await send(token, 'unseen', unseen)).headers['idempotency-replayed'], 'true')
  const bare: Sent = ['POST', '/data/cats/records', { name: 'Tom' }]
  dataOf(await send(token, 'bare', bare))
  await hide(false)
  expectError(t, await send(token, 'bare', bare), 422, 'IDEMPOTENCY_KEY_REUSED')
  t.equal((await send(token, 'hidden', sent)).headers['idempotency-replayed'], 'true')
})

t.test('a key is stored for 24 hours', async (t) => {
  const id = await newCat()
  const sent: Sent = ['POST', '/data/cats/incr', { pk: id, field: 'lives' }]
  await send(token, 'daily', sent)
  time += DAY - 1
  t.equal((await send(token, 'daily', sent)).headers['idempotency-replayed'], 'true')
  time += 1
  t.equal((await send(token, 'daily', sent)).headers['idempotency-replayed'], undefined)
  t.equal((await send(token, 'daily', sent)).headers['idempotency-replayed'], 'true')
  t.equal(catOf(id)?.lives, 11)
})

t.test('a failed request stores nothing, so a retry runs', async (t) => {
  const sku = newSku()
  const id = dataOf(await token.post('/data/cats/records', { sku })).id
  const before = fingerprint()
  const sent: Sent = ['POST', '/data/cats/records', { sku, name: 'Tom' }]
  expectError(t, await send(token, 'failed', sent), 409, 'UNIQUE_VIOLATION', '/sku')
  expectError(t, await send(token, 'failed', sent), 409, 'UNIQUE_VIOLATION', '/sku')
  t.equal(fingerprint(), before)
  await token.delete(`/data/cats/records/${id}`)
  const response = await send(token, 'failed', sent)
  t.match(dataOf(response), { sku })
  t.equal(response.headers['idempotency-replayed'], undefined)
})

t.test('results that are too large for the event loop are replayed', async (t) => {
  const sent: Sent = ['POST', '/data/wide/incr?return=record', { pk: 1, field: 'count' }]
  const first = await send(token, 'wide', sent)
  t.ok(first.body.length > 2 ** 20)
  const second = await send(token, 'wide', sent)
  t.equal(second.headers['idempotency-replayed'], 'true')
  t.ok(second.body === first.body)
})

t.test('a key has 1 to 255 printable ASCII characters', async (t) => {
  const sent: Sent = ['POST', '/data/wide/records', { count: 1 }]
  for (const key of ['a', '~', '"8e03978e-40d5-43dd-bc93-6894a57f9324"', 'a b', 'x'.repeat(255)]) {
    t.equal((await send(token, key, sent)).statusCode, 200, key)
  }
  const before = fingerprint()
  for (const key of ['', 'x'.repeat(256), 'é', 'a\tb', 'a\0b', 'a\x7f']) {
    expectError(t, await send(token, key, sent), 400, 'VALIDATION_FAILED', '/idempotency-key')
  }
  t.equal(fingerprint(), before)
})

t.test('several keys in one request are refused', async (t) => {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const post = (keys: string[]) =>
    new Promise<readonly [status: number | undefined, body: string]>((resolve, reject) => {
      const headers = { ...token.headers, 'content-type': 'application/json', 'Idempotency-Key': keys }
      const options = { port, host: '127.0.0.1', path: '/data/dogs/records', method: 'POST', headers }
      const call = request(options, (response) =>
        text(response).then((body) => resolve([response.statusCode, body]), reject)
      )
      call.on('error', reject).end('{}')
    })
  t.equal((await post(['one line']))[0], 200)
  const [status, body] = await post(['one', 'two'])
  t.equal(status, 400)
  t.match(JSON.parse(body), { error: { code: 'VALIDATION_FAILED', details: [{ path: '/idempotency-key' }] } })
})

t.test('other routes ignore the header', async (t) => {
  const response = await app.inject({ url: '/data/_me', headers: { ...token.headers, 'idempotency-key': '' } })
  t.equal(response.statusCode, 200)
})
