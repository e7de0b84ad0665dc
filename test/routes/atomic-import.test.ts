import t from 'tap'
import {
  asAdmin,
  asToken,
  type Client,
  client,
  createDatabase,
  dataOf,
  expectData,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'
import { untilBuilt } from '../search-index.ts'
import { openServed } from '../served.ts'

const file = createDatabase(
  t,
  `CREATE TABLE cats (sku TEXT PRIMARY KEY, name TEXT, mother TEXT REFERENCES cats (sku));
   CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT);
   CREATE TRIGGER refuse BEFORE INSERT ON cats WHEN new.name = 'Rex' BEGIN SELECT raise(ABORT, 'a dog'); END;
   CREATE TRIGGER ignore BEFORE INSERT ON cats WHEN new.name = 'Lost' BEGIN SELECT raise(IGNORE); END;`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const cats = await importTable(admin, 'cats')
const texts = await importTable(admin, 'texts')
const token = await asToken(app, admin)
const db = openServed(t, file)

const count = (table: string) => Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
const asFile = ({ headers }: Client, more: object = {}) =>
  client(app, { ...headers, 'content-type': 'text/csv', ...more })
const keyed = (key: string, of = token) => asFile(of, { 'idempotency-key': key })
const url = '/data/cats/import?atomic=true'
const adminUrl = `/admin/tables/${cats.id}/import?atomic=true`
const latest = async () => dataOf(await admin.get('/admin/imports'))[0]
const numbered = (rows: number, name = 'x') =>
  `sku,name\n${Array.from({ length: rows }, (_, index) => `n${index},${name}\n`).join('')}`

t.beforeEach(() => {
  db.exec('DELETE FROM cats; DELETE FROM texts')
})

t.test('all records are stored, or none', async (t) => {
  for (const [caller, path] of [
    [asFile(token), url],
    [asFile(admin), adminUrl]
  ] as const) {
    db.exec('DELETE FROM cats')
    const wrong = await caller.post(path, `${numbered(3000)}rex,Rex\ntom,Tom\n`)
    expectError(t, wrong, 409, 'REFUSED_BY_TRIGGER')
    t.equal(count('cats'), 0)
    t.match(await latest(), { state: 'failed', storedRows: 0, totalRows: 3002 })
    expectError(t, await caller.post(path, `${numbered(3)}lost,Lost\n`), 409, 'REFUSED_BY_TRIGGER')
    t.equal(count('cats'), 0)
    expectData(t, await caller.post(path, numbered(5000)), {
      rows: 5000,
      created: 5000,
      updated: 0,
      atomic: true,
      dryRun: false
    })
    t.equal(count('cats'), 5000)
    t.match(await latest(), { state: 'done', storedRows: 5000, totalRows: 5000 })
    t.equal(dataOf(await token.get('/data/cats?size=1')).total, 5000)
  }
})

t.test('the total of a list that was read before counts the imported records', async (t) => {
  const path = '/data/texts'
  const total = async () => dataOf(await token.get(`${path}?size=1`)).total
  for (const [before, row] of ['1,a', '2,b', '3,c'].entries()) {
    t.equal(await total(), before)
    expectData(t, await asFile(token).post(`${path}/import?atomic=true`, `id,text\n${row}\n`), {
      rows: 1,
      created: 1,
      updated: 0,
      atomic: true,
      dryRun: false
    })
  }
  t.equal(await total(), 3)
})

t.test('more than 5,000 records are refused', async (t) => {
  for (const query of ['', '&dryRun=true']) {
    const response = await asFile(token).post(url + query, numbered(5001))
    expectError(t, response, 413, 'TOO_MUCH_WORK')
    t.match(response.json().error.message, /at most 5000 records, and the file has 5001/)
  }
  t.equal(count('cats'), 0)
  expectData(t, await asFile(token).post('/data/cats/import', numbered(5001)), {
    rows: 5001,
    created: 5001,
    updated: 0,
    atomic: false,
    dryRun: false
  })
})

t.test('a large file of few records may refer to a record that is stored later', async (t) => {
  const long = 'x'.repeat(1_000_000)
  const lines = Array.from({ length: 5 }, (_, index) => `m${index},${long},m${index + 1}\n`)
  const large = `sku,name,mother\n${lines.join('')}m5,last,\n`
  expectError(t, await asFile(token).post('/data/cats/import', large), 400, 'IMPORT_FAILED', '/mother')
  expectData(t, await asFile(token).post(url, large), { rows: 6, created: 6, updated: 0, atomic: true, dryRun: false })
})

t.test('an import is refused if a search index makes it too much work', async (t) => {
  const path = `/admin/tables/${texts.id}`
  const long = `text\n${'x'.repeat(150_000)}\n${'x'.repeat(150_000)}\n`
  const importUrl = '/data/texts/import?atomic=true'
  expectData(t, await asFile(token).post(importUrl, long), {
    rows: 2,
    created: 2,
    updated: 0,
    atomic: true,
    dryRun: false
  })
  dataOf(await admin.put(path, { searchIndex: true }))
  await untilBuilt(admin, texts.id)
  expectError(t, await asFile(token).post(importUrl, long), 413, 'TOO_MUCH_WORK')
  t.match(await latest(), { state: 'failed', storedRows: 0 })
  t.equal(count('texts'), 2)
  const short = `text\n${'y'.repeat(150_000)}\n`
  expectData(t, await asFile(token).post(importUrl, short), {
    rows: 1,
    created: 1,
    updated: 0,
    atomic: true,
    dryRun: false
  })
  const upsert = `${importUrl}&mode=upsert`
  expectError(t, await asFile(token).post(upsert, `id,text\n9,${'y'.repeat(150_000)}\n`), 413, 'TOO_MUCH_WORK')
})

t.test('a repeated key stores nothing twice, and gets the same response', async (t) => {
  for (const [name, of, path] of [
    ['token', token, url],
    ['admin', admin, adminUrl]
  ] as const) {
    db.exec('DELETE FROM cats')
    const body = numbered(200)
    const first = await keyed(name, of).post(path, body)
    expectData(t, first, { rows: 200, created: 200, updated: 0, atomic: true, dryRun: false })
    t.equal(first.headers['idempotency-replayed'], undefined)
    const { id } = await latest()
    const second = await keyed(name, of).post(path, body)
    t.equal(second.headers['idempotency-replayed'], 'true')
    t.equal(second.body, first.body)
    t.equal(count('cats'), 200)
    t.equal((await latest()).id, id, 'a replay is no import')
    expectError(t, await keyed(name, of).post(path, numbered(201)), 422, 'IDEMPOTENCY_KEY_REUSED')
    const ndjson = asFile(of, { 'idempotency-key': name, 'content-type': 'application/x-ndjson' })
    expectError(t, await ndjson.post(path, body), 422, 'IDEMPOTENCY_KEY_REUSED')
    expectError(t, await keyed(`${name} 2`, of).post(path, body), 400, 'IMPORT_FAILED', '/sku')
  }
})

t.test('an upsert counts what it has changed, also in a replay', async (t) => {
  db.exec("INSERT INTO cats VALUES ('tom', 'Tim', NULL)")
  const body = 'sku,name\ntom,Tom\nada,Ada\n'
  const result = { rows: 2, created: 1, updated: 1, atomic: true, dryRun: false }
  for (let count = 0; count < 2; count++) expectData(t, await keyed('upsert').post(`${url}&mode=upsert`, body), result)
  expectData(t, await asFile(token).post(`${url}&mode=upsert&dryRun=true`, body), {
    ...result,
    created: 0,
    updated: 2,
    atomic: true,
    dryRun: true
  })
})

t.test('the key of a failed import can be used again', async (t) => {
  const body = 'sku,name\na,Rex\n'
  expectError(t, await keyed('failed').post(url, body), 409, 'REFUSED_BY_TRIGGER')
  expectData(t, await keyed('failed').post(url, 'sku,name\na,Tom\n'), {
    rows: 1,
    created: 1,
    updated: 0,
    atomic: true,
    dryRun: false
  })
})

t.test('a file without records is imported', async (t) => {
  expectData(t, await keyed('empty').post(url, 'sku,name\n'), {
    rows: 0,
    created: 0,
    updated: 0,
    atomic: true,
    dryRun: false
  })
})

t.test("'skip' is refused, because an atomic import leaves no part", async (t) => {
  expectError(t, await asFile(token).post(`${url}&skip=1`, numbered(2)), 400, 'VALIDATION_FAILED', '/skip')
  expectData(t, await asFile(token).post(`${url}&skip=0`, numbered(2)), {
    rows: 2,
    created: 2,
    updated: 0,
    atomic: true,
    dryRun: false
  })
})
