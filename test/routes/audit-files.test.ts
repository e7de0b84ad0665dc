import t from 'tap'
import { auditSince, fillAudit } from '../audit.ts'
import { asAdmin, asToken, client, createTable, dataOf, expectError, startApp, type TestResponse } from '../helpers.ts'
import { FULL_DISK, onlyOnFile } from '../served.ts'

const app = await startApp(t)
const admin = await asAdmin(app)
const token = await asToken(app, admin)
const { id } = await createTable(admin, {
  name: 'cats',
  fields: [
    { name: 'name', jsonType: 'string' },
    { name: 'lives', jsonType: 'integer' }
  ]
})
const since = await auditSince(admin)
const csvOf = ({ headers }: typeof admin) => client(app, { ...headers, 'content-type': 'text/csv' })
const FILE = 'name,lives\nMimi,9\nTom,7\n'

const by = (response: TestResponse, callerName: string) => ({
  callerName,
  address: '127.0.0.1',
  requestId: response.headers['x-request-id'],
  target: 'cats',
  targetId: id,
  count: 1
})

t.test('an import has its number of records, and none of their values', async (t) => {
  const imported = await csvOf(admin).post(`/admin/tables/${id}/import?file=cats.csv`, FILE)
  t.equal(dataOf(imported).created, 2)
  const [row, ...others] = await since()
  t.match(row, { ...by(imported, 'admin'), action: 'import' })
  t.strictSame(row?.summary, { rows: 2, isUpsert: false, isNewTable: false, format: 'csv', file: 'cats.csv' })
  t.strictSame(others, [])
})

t.test('imports of a token: an upsert, the rest of a file, and one in a transaction', async (t) => {
  const csv = csvOf(token)
  const upserted = await csv.post('/data/cats/import?mode=upsert', 'id,lives\n1,8\n')
  const rest = await csv.post('/data/cats/import?skip=1', FILE)
  const atomic = await csv.post('/data/cats/import?atomic=true', FILE)
  const summary = { rows: 1, isUpsert: false, isNewTable: false, format: 'csv', file: null }
  t.match(await since(), [
    { ...by(upserted, 'test'), action: 'import', summary: { ...summary, isUpsert: true } },
    { ...by(rest, 'test'), action: 'import', summary },
    { ...by(atomic, 'test'), action: 'import', summary: { ...summary, rows: 2 } }
  ])
})

t.test('an import that is repeated with its key has one row', async (t) => {
  const csv = client(app, { ...token.headers, 'content-type': 'text/csv', 'idempotency-key': 'once' })
  for (const replayed of [undefined, 'true']) {
    const response = await csv.post('/data/cats/import?atomic=true', FILE)
    t.equal(dataOf(response).created, 2)
    t.equal(response.headers['idempotency-replayed'], replayed)
  }
  t.match(await since(), { length: 1 })
})

t.test('a dry run and a file with errors have no row', async (t) => {
  t.equal(dataOf(await csvOf(admin).post(`/admin/tables/${id}/import?dryRun=true`, FILE)).created, 2)
  const wrong = await csvOf(admin).post(`/admin/tables/${id}/import`, 'name,lives\nMimi,many\n')
  expectError(t, wrong, 400, 'IMPORT_FAILED')
  t.strictSame(await since(), [])
})

t.test('a table from a file has a row for the import, and one for the table', async (t) => {
  const created = await csvOf(admin).post('/admin/tables/from-file?name=dogs', FILE)
  dataOf(created)
  const row = { requestId: created.headers['x-request-id'], callerName: 'admin', target: 'dogs', targetId: null }
  t.match(await since(), [
    { ...row, action: 'import', summary: { rows: 2, isNewTable: true } },
    { ...row, action: 'table.create', summary: { isPublished: false, fields: ['id', 'name', 'lives'] } }
  ])
})

t.test('an export has its format and fields, and no values of its filter', async (t) => {
  const whole = await admin.get(`/admin/tables/${id}/export`)
  const filter = encodeURIComponent(JSON.stringify({ where: { name: { eq: 'Mimi' } } }))
  const some = await token.get(`/data/cats/export?format=ndjson&fields=name,lives&filter=${filter}`)
  const found = await token.get('/data/cats/export?q=Mimi')
  for (const response of [whole, some, found]) t.equal(response.statusCode, 200)
  await app.database.write([])
  const [first, second, third, ...others] = await since()
  t.match(first, { ...by(whole, 'admin'), action: 'export' })
  t.strictSame(first?.summary, { format: 'csv', isFiltered: false })
  t.match(second, { ...by(some, 'test'), action: 'export', callerKind: 'token' })
  t.strictSame(second?.summary, { format: 'ndjson', fields: ['name', 'lives'], isFiltered: true })
  t.match(third, { ...by(found, 'test'), action: 'export', summary: { isFiltered: true } })
  t.strictSame(others, [])
})

t.test('a refused export has no row', async (t) => {
  expectError(t, await token.get('/data/cats/export?fields=none'), 400, 'VALIDATION_FAILED')
  expectError(t, await token.get('/data/missing/export'), 404, 'TABLE_NOT_FOUND')
  t.strictSame(await since(), [])
})

t.test('on a full disk, an export works without its row, and an import fails', onlyOnFile(FULL_DISK), async (t) => {
  const free = await fillAudit(app.database)
  t.match((await token.get('/data/cats/export?order=name')).body, /Mimi/)
  const total = async () => dataOf(await admin.get(`/admin/tables/${id}/data`)).total
  const before = await total()
  expectError(t, await csvOf(token).post('/data/cats/import', FILE), 507, 'DISK_FULL')
  t.equal(await total(), before)
  await free()
  t.match((await token.get('/data/cats/export?order=name')).body, /Mimi/)
  t.equal(dataOf(await csvOf(token).post('/data/cats/import', FILE)).created, 2)
  await app.database.write([])
  t.match(await since(), [{ action: 'export' }, { action: 'import' }])
})
