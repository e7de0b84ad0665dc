import t, { type Test } from 'tap'
import {
  asAdmin,
  asToken,
  bearer,
  type Client,
  client,
  createDatabase,
  dataOf,
  importTable,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { onlyOnFile, ROWID_KEY } from '../served.ts'

const file = createDatabase(
  t,
  `CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT UNIQUE, lives INTEGER DEFAULT 9, note TEXT);
   CREATE TABLE "a/b ü" (code TEXT PRIMARY KEY, n INTEGER);
   CREATE TABLE lines (order_id INTEGER, sku TEXT, n INTEGER, PRIMARY KEY (order_id, sku)) WITHOUT ROWID;
   CREATE TABLE keyless (name TEXT);
   CREATE TABLE logged (id INTEGER PRIMARY KEY, name TEXT, log TEXT DEFAULT '');
   CREATE TRIGGER inserted AFTER INSERT ON logged BEGIN UPDATE logged SET log = log || 'i' WHERE id = new.id; END;
   CREATE TRIGGER changed AFTER UPDATE OF name ON logged BEGIN UPDATE logged SET log = log || 'u' WHERE id = new.id; END;
   CREATE TABLE kinds (id INTEGER PRIMARY KEY, n INTEGER, r REAL, price NUMERIC, bytes BLOB, day DATE, anything,
     doubled INTEGER AS (n * 2) STORED, text TEXT AS (r || '!'), at TEXT DEFAULT CURRENT_TIMESTAMP);
   CREATE TABLE reals (k REAL PRIMARY KEY, n INTEGER);
   CREATE TABLE blobs (k BLOB PRIMARY KEY, n INTEGER);
   CREATE TABLE days (k DATE PRIMARY KEY, n INTEGER);
   CREATE TABLE mixed (k PRIMARY KEY, n INTEGER);
   CREATE TABLE flags (k BOOLEAN PRIMARY KEY, n INTEGER);
   CREATE TABLE unnamed (k TEXT PRIMARY KEY DEFAULT (nullif(1, 1)), n INTEGER);`
)
const TABLES = [
  'cats',
  'a/b ü',
  'lines',
  'keyless',
  'logged',
  'kinds',
  'reals',
  'blobs',
  'days',
  'mixed',
  'flags',
  'unnamed'
] as const

const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const ids = new Map<string, number>()
for (const name of TABLES) ids.set(name, (await importTable(admin, name)).id)
dataOf(await admin.put(`/admin/tables/${ids.get('cats')}`, { fields: [{ name: 'note', isHidden: true }] }))
const token = await asToken(app, admin)
const writer = await asToken(app, admin, { tables: ['*'], actions: ['write'] })

const issue = async (integers: string) => {
  const permissions = { tables: ['*'], actions: ['read', 'write'] }
  return client(app, bearer(dataOf(await admin.post('/admin/tokens', { name: integers, permissions, integers })).token))
}

const locationOf = ({ headers }: TestResponse) => headers.location
const tagOf = ({ headers }: TestResponse) => headers.etag

const recordsOf = (table: string) => `/data/${encodeURIComponent(table)}/records`

/** Asserts that the response names a record that the caller reads with the same tag. Returns the path. */
const expectRecord = async (t: Test, caller: Client, created: TestResponse) => {
  const path = String(locationOf(created))
  const read = await caller.get(path)
  t.strictSame(dataOf(read), dataOf(created).record ?? dataOf(created), path)
  t.match(tagOf(created), /^"[\w-]{22}"$/)
  t.equal(tagOf(read), tagOf(created), path)
  return path
}

t.test('a create has the path and the tag of the record, for a token and an administrator', async (t) => {
  const adminRecords = `/admin/tables/${ids.get('cats')}/data`
  for (const [caller, url, path] of [
    [token, '/data/cats/records', '/data/cats/records/1'],
    [admin, adminRecords, `${adminRecords}/2`],
    [token, '/data/CATS/records?return=record', '/data/cats/records/3']
  ] as const) {
    const created = await caller.post(url, { lives: 7 })
    t.equal(await expectRecord(t, caller, created), path)
  }
  t.not(tagOf(await token.get('/data/cats/records/2')), tagOf(await admin.get(`${adminRecords}/2`)))
})

t.test('no other value of `return` is accepted, and nothing is created', async (t) => {
  const { total } = dataOf(await token.get('/data/cats'))
  t.equal((await token.post('/data/cats/records?return=nothing', { lives: 7 })).statusCode, 400)
  t.equal(dataOf(await token.get('/data/cats')).total, total)
})

t.test('the path of a record is percent-encoded', async (t) => {
  for (const [code, segment] of [
    ['pen', 'pen'],
    ['a b/c?d#e%f', 'a%20b%2Fc%3Fd%23e%25f'],
    ['pad,a4', 'pad%2Ca4'],
    ['日本', '%E6%97%A5%E6%9C%AC'],
    ['line\r\nx-injected: 1', 'line%0D%0Ax-injected%3A%201'],
    ['...', '...']
  ]) {
    const created = await token.post(recordsOf('a/b ü'), { code, n: 1 })
    t.equal(await expectRecord(t, token, created), `/data/a%2Fb%20%C3%BC/records/${segment}`)
  }
})

t.test('the parts of a composite key are separated by commas', async (t) => {
  for (const [order_id, sku, segment] of [
    [1, 'pen', '1,pen'],
    [2, 'pad,a4%', '2,pad%2Ca4%25'],
    [3, '', '3,'],
    [-4, '..', '-4,..']
  ] as const) {
    const created = await token.post('/data/lines/records', { order_id, sku, n: 1 })
    t.equal(await expectRecord(t, token, created), `/data/lines/records/${segment}`)
  }
})

t.test('the path has the key as JSON shows it, for each kind of key', async (t) => {
  for (const [table, k, segment] of [
    ['reals', 8, '8'],
    ['reals', 1.5, '1.5'],
    ['reals', 1e21, '1e%2B21'],
    ['blobs', '/+8=', '%2F%2B8%3D'],
    ['days', '2026-01-01', '2026-01-01'],
    ['days', 20260101, '20260101'],
    ['mixed', 'x', 'x'],
    ['flags', true, 'true']
  ] as const) {
    const created = await token.post(recordsOf(table), { k, n: 1 })
    t.equal(await expectRecord(t, token, created), `/data/${table}/records/${segment}`)
  }
})

t.test('the key of the path may be the rowid', onlyOnFile(ROWID_KEY), async (t) => {
  const keyless = await token.post('/data/keyless/records', { name: 'Tom' })
  t.equal(await expectRecord(t, token, keyless), '/data/keyless/records/1')
})

t.test('the path has every digit of a key, in each format of integers', async (t) => {
  for (const [integers, id] of [
    ['auto', '9223372036854775800'],
    ['number', '9223372036854775801'],
    ['string', '9223372036854775802']
  ] as const) {
    const caller = await issue(integers)
    const sent = integers === 'number' ? `{"id":${id}}` : JSON.stringify({ id })
    const created = await app.inject({
      method: 'POST',
      url: '/data/cats/records',
      headers: { ...caller.headers, 'content-type': 'application/json' },
      payload: sent
    })
    t.equal(await expectRecord(t, caller, created), `/data/cats/records/${id}`)
  }
  const caller = await issue('number')
  const created = await caller.post('/data/cats/records', { id: 41 })
  t.equal(await expectRecord(t, caller, created), '/data/cats/records/41')
})

t.test('a key that a path cannot have gets no path', async (t) => {
  const create = (code: string | null) => token.post(recordsOf('a/b ü'), { code, n: 1 })
  const maxKey = 'x'.repeat(2048 - '/data/a%2Fb%20%C3%BC/records/'.length)
  for (const code of ['', '.', '..', `${maxKey}x`]) {
    const created = await create(code)
    t.equal(dataOf(created).code, code)
    t.equal(locationOf(created), undefined)
    t.ok(tagOf(created))
  }
  t.equal(String(await expectRecord(t, token, await create(maxKey))).length, 2048)
  const unnamed = await token.post('/data/lines/records?upsert=order_id,sku', { order_id: 5, sku: 'x', n: 1 })
  t.equal(locationOf(unnamed), '/data/lines/records/5,x')
})

t.test('a record whose key is null gets no path', async (t) => {
  const created = await token.post('/data/unnamed/records', { n: 1 })
  t.equal(dataOf(created).k, null)
  t.equal(locationOf(created), undefined)
})

t.test('without the right to read, a token gets the path of a new record, and no tag', async (t) => {
  for (const url of ['/data/cats/records', '/data/cats/records?return=record', '/data/cats/records?upsert=name']) {
    const created = await writer.post(url, { name: `new ${url}` })
    t.equal(created.statusCode, 200, created.body)
    t.equal(tagOf(created), undefined)
    t.equal(dataOf(await token.get(String(locationOf(created)))).name, `new ${url}`)
  }
  const changed = await writer.put('/data/cats/records/1', { lives: 1 })
  t.strictSame([changed.statusCode, tagOf(changed)], [200, undefined])
})

t.test('an upsert has the path if it has created the record, and the tag always', async (t) => {
  const send = (lives: number, query = '') =>
    token.post(`/data/cats/records?upsert=name${query}`, { name: 'Kit', lives })
  const created = await send(1)
  t.equal(dataOf(created).created, true)
  const path = await expectRecord(t, token, created)
  for (const query of ['', '&return=record']) {
    const changed = await send(2, query)
    t.strictSame([dataOf(changed).created, locationOf(changed)], [false, undefined])
    t.equal(tagOf(changed), tagOf(await token.get(path)))
  }
})

t.test('with `return=record`, an update and an increment have the new tag, and a delete has none', async (t) => {
  const url = String(locationOf(await token.post('/data/cats/records', { lives: 5 })))
  const adminUrl = `/admin/tables/${ids.get('cats')}/data/${url.slice(url.lastIndexOf('/') + 1)}`
  const id = url.slice(url.lastIndexOf('/') + 1)
  for (const [caller, path, change] of [
    [token, url, (query: string) => token.put(`${url}${query}`, { lives: 6 })],
    [token, url, (query: string) => token.patch(`${url}${query}`, { lives: 7 })],
    [admin, adminUrl, (query: string) => admin.put(`${adminUrl}${query}`, { note: 'x' })],
    [admin, adminUrl, (query: string) => admin.patch(`${adminUrl}${query}`, { note: 'y' })],
    [token, url, (query: string) => token.post(`/data/cats/incr${query}`, { pk: id, field: 'lives' })],
    [token, url, (query: string) => token.post(`${url}/incr${query}`, { field: 'lives' })]
  ] as const) {
    const changed = await change('?return=record')
    const read = await caller.get(path)
    t.strictSame(dataOf(changed).record, dataOf(read))
    t.equal(tagOf(changed), tagOf(read))
    t.equal(locationOf(changed), undefined)
    t.equal(tagOf(await change('')), undefined)
  }
  t.equal(tagOf(await token.delete(`${url}?return=record`)), undefined)
})

t.test('the tag of a response can be sent with the next change', async (t) => {
  const created = await token.post('/data/cats/records', { lives: 1 })
  const url = String(locationOf(created))
  const first = client(app, { ...token.headers, 'if-match': String(tagOf(created)) })
  const changed = await first.patch(`${url}?return=record`, { lives: 2 })
  t.equal((await first.patch(url, { lives: 3 })).statusCode, 412)
  const second = client(app, { ...token.headers, 'if-match': String(tagOf(changed)) })
  t.equal((await second.patch(url, { lives: 4 })).statusCode, 200)
})

t.test('the tag is that of the record after triggers, and fits values of every kind', async (t) => {
  const logged = await token.post('/data/logged/records', { name: 'first' })
  t.equal(dataOf(logged).log, 'i')
  const path = await expectRecord(t, token, logged)
  const renamed = await token.put(`${path}?return=record`, { name: 'second' })
  t.equal(dataOf(renamed).record.log, 'iu')
  t.equal(tagOf(renamed), tagOf(await token.get(path)))
  const values = { n: 2, r: 8, price: 3, bytes: 'AP8=', day: '2026-01-01', anything: 1.5 }
  for (const integers of ['auto', 'number', 'string']) {
    const caller = await issue(integers)
    const created = await caller.post('/data/kinds/records', values)
    const url = await expectRecord(t, caller, created)
    const upserted = await caller.post('/data/kinds/records?upsert=id', { ...values, id: dataOf(created).id, r: 9 })
    t.equal(tagOf(upserted), tagOf(await caller.get(url)))
    const updated = await caller.put(`${url}?return=record`, { r: 7, price: 2.5 })
    t.equal(tagOf(updated), tagOf(await caller.get(url)))
  }
})
