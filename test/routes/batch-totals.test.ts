import t from 'tap'
import { asAdmin, asToken, createDatabase, dataOf, expectError, importTable, startApp } from '../helpers.ts'

// Totals are cached, because no trigger of the file can change the number of rows.
const file = createDatabase(t, 'CREATE TABLE items (id INTEGER PRIMARY KEY, sku TEXT UNIQUE, n INTEGER)')
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
await importTable(admin, 'items')
const token = await asToken(app, admin)

const run = async (...operations: readonly object[]) => dataOf(await token.post('/data/_batch', { operations }))
const totalOf = async () => dataOf(await token.get('/data/items')).total

t.test('each operation of a batch updates the cached totals', async (t) => {
  t.equal(await totalOf(), 0)
  const values = { sku: 'a', n: 1 }
  await run({ op: 'create', table: 'items', values })
  t.equal(await totalOf(), 1)
  await run({ op: 'create', table: 'items', values, onConflict: 'ignore' })
  t.equal(await totalOf(), 1, 'ignored')
  await run({ op: 'create', table: 'items', values: { sku: 'b' }, onConflict: 'ignore' })
  t.equal(await totalOf(), 2)
  await run({ op: 'upsert', table: 'items', on: ['sku'], values })
  t.equal(await totalOf(), 2, 'updated')
  await run({ op: 'upsert', table: 'items', on: ['sku'], values: { sku: 'c', n: 1 } })
  t.equal(await totalOf(), 3)
  await run({ op: 'update', table: 'items', filter: {}, maxAffected: 3, values: { n: 2 } })
  await run({ op: 'delete', table: 'items', filter: { where: { n: { eq: 2 } } }, maxAffected: 3 })
  t.equal(await totalOf(), 0)
})

t.test('a failed batch changes no total', async (t) => {
  await run({ op: 'create', table: 'items', values: { sku: 'x' } })
  const operations = [
    { op: 'delete', table: 'items', filter: {}, maxAffected: 9 },
    { op: 'update', table: 'items', pk: 99, values: { n: 1 } }
  ]
  expectError(t, await token.post('/data/_batch', { operations }), 404, 'RECORD_NOT_FOUND')
  t.equal(await totalOf(), 1)
})
