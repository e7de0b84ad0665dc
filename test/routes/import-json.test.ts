import t from 'tap'
import {
  asAdmin,
  bearer,
  client,
  createDatabase,
  createTable,
  dataOf,
  expectData,
  expectError,
  importTable,
  issueToken,
  logIn,
  startApp
} from '../helpers.ts'

const WIDE = '9223372036854775807'

const file = createDatabase(t, `CREATE TABLE words (word TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID;`)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const items = await createTable(admin, {
  name: 'items',
  fields: [
    { name: 'name', jsonType: 'string', nullable: false },
    { name: 'n', jsonType: 'integer' },
    { name: 'tags', jsonType: 'array' }
  ]
})
const words = await importTable(admin, 'words')
const permissions = { tables: ['*'], actions: ['read' as const, 'write' as const] }
const JSON_FILE = { 'content-type': 'application/json; charset=utf-8' }
const token = client(app, { ...bearer(await issueToken(admin, permissions)), ...JSON_FILE })
const asAdministrator = client(app, { ...(await logIn(app)), ...JSON_FILE })
const url = '/data/items/import'

const totalOf = async ({ id }: { id: number }) => dataOf(await admin.get(`/admin/tables/${id}/data`)).total
const imported = (rows: number, updated = 0) => ({
  rows,
  created: rows - updated,
  updated,
  atomic: rows <= 5000,
  dryRun: false
})

t.test('a JSON array is imported, with lines of its own for a record or without any', async (t) => {
  const pretty = JSON.stringify(
    [
      { id: 1, name: 'a,]}"', tags: [{ a: 1 }] },
      { id: 2, name: 'b', n: null }
    ],
    null,
    2
  )
  expectData(t, await token.post(`${url}?dryRun=true`, pretty), { ...imported(2), dryRun: true })
  t.equal(await totalOf(items), 0)
  expectData(t, await token.post(url, pretty), imported(2))
  t.strictSame(dataOf(await token.get('/data/items/records/1')), { id: 1, name: 'a,]}"', n: null, tags: [{ a: 1 }] })
  expectData(t, await token.post(`${url}?mode=upsert`, '[{"id":2,"name":"c"},{"id":3,"name":"d"}]'), imported(2, 1))
  expectData(t, await asAdministrator.post(`/admin/tables/${items.id}/import`, '[{"name":"e"}]'), imported(1))
  expectData(t, await token.post(url, '[]'), imported(0))
  t.equal(await totalOf(items), 4)
})

t.test('integers keep all digits, in the format of the token', async (t) => {
  expectData(t, await token.post(url, `[{"id":50,"name":"wide","n":${WIDE}}]`), imported(1))
  t.equal(dataOf(await token.get('/data/items/records/50')).n, WIDE)
  const issued = dataOf(await admin.post('/admin/tokens', { name: 'strings', permissions, integers: 'string' }))
  const strings = client(app, { ...bearer(issued.token), ...JSON_FILE })
  expectData(t, await strings.post(`${url}?dryRun=true`, '[{"name":"x","n":"5"}]'), { ...imported(1), dryRun: true })
  expectError(t, await token.post(`${url}?dryRun=true`, '[{"name":"x","n":"5"}]'), 400, 'IMPORT_FAILED', '/n')
})

t.test('errors have the number of the record', async (t) => {
  const before = await totalOf(items)
  const wrong = await token.post(
    url,
    '[{"id":50,"name":"x","n":1},\n{"id":60,"name":null,"n":1},{"id":61,"name":"x","n":"y"}]'
  )
  expectError(t, wrong, 400, 'IMPORT_FAILED', '/id')
  const { details, total } = wrong.json().error
  t.equal(total, 3)
  t.strictSame(
    details.map(({ record, column, code }: Record<string, unknown>) => [record, column, code]),
    [
      [1, 'id', 'unique'],
      [2, 'name', 'required'],
      [3, 'n', 'type']
    ]
  )
  t.notOk(details.some((detail: object) => 'line' in detail))
  const unread = await token.post(url, '[{"name":"x"},{"name":"y"')
  t.match(unread.json().error.details, [{ path: '', code: 'syntax', record: 2, message: /ends before/ }])
  expectError(t, await token.post(url, '{"name":"x"}'), 400, 'IMPORT_FAILED', '')
  t.equal(await totalOf(items), before)
})

t.test('the records of one line are stored in steps, also in a table without a rowid', async (t) => {
  const rows = Array.from({ length: 12_000 }, (_, n) => ({ word: `word ${(n * 7919) % 12_000}`, n }))
  expectData(t, await token.post('/data/words/import', JSON.stringify(rows)), imported(rows.length))
  t.equal(await totalOf(words), rows.length)
  const [latest] = dataOf(await admin.get('/admin/imports'))
  t.match(latest, { table: 'words', format: 'json', state: 'done', storedRows: rows.length, totalRows: rows.length })
})

t.test('an import with an Idempotency-Key is carried out once', async (t) => {
  const once = client(app, { ...token.headers, 'idempotency-key': 'json-1' })
  const body = '[{"id":70,"name":"once"}]'
  expectData(t, await once.post(`${url}?atomic=true`, body), imported(1))
  const repeated = await once.post(`${url}?atomic=true`, body)
  expectData(t, repeated, imported(1))
  t.equal(repeated.headers['idempotency-replayed'], 'true')
  expectError(t, await once.post(`${url}?atomic=true`, '[{"id":71,"name":"x"}]'), 422, 'IDEMPOTENCY_KEY_REUSED')
})

t.test('a table is created from a JSON array', async (t) => {
  const create = (name: string, body: string, query = '') =>
    asAdministrator.post(`/admin/tables/from-file?name=${name}&label=${name}${query}`, body)
  const body = `[{"id":1,"n":${WIDE},"note":"x"},\n{"id":2,"tags":["y"],"ok":true}]`
  const preview = dataOf(await create('things', body, '&dryRun=true'))
  const fields = [
    { name: 'id', jsonType: 'integer' },
    { name: 'n', jsonType: 'integer' },
    { name: 'note', jsonType: 'string' },
    { name: 'tags', jsonType: 'array' },
    { name: 'ok', jsonType: 'boolean' }
  ]
  t.match(preview, { fields, created: 2, dryRun: true })
  const { table, created } = dataOf(await create('things', body))
  t.equal(created, 2)
  t.strictSame(dataOf(await admin.get(`/admin/tables/${table.id}/data`)).rows, [
    { id: 1, n: WIDE, note: 'x', tags: null, ok: null },
    { id: 2, n: null, note: null, tags: ['y'], ok: true }
  ])

  const wrong = await create('others', '[{"id":1},2]')
  expectError(t, wrong, 400, 'IMPORT_FAILED', '')
  t.match(wrong.json().error.details, [{ record: 2, code: 'type' }])
  const late = await create('others', `[${'{"n":1},'.repeat(1500)}{"n":"x"}]`)
  t.match(late.json().error.details, [{ path: '/n', record: 1501, column: 'n' }])
  const names = dataOf(await admin.get('/admin/tables')).map(({ name }: { name: string }) => name)
  t.notOk(names.includes('others'))
})
