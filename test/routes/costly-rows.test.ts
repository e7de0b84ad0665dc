import t from 'tap'
import {
  asAdmin,
  asToken,
  client,
  createDatabase,
  dataOf,
  expectData,
  expectError,
  importTable,
  logIn,
  startApp
} from '../helpers.ts'

// A row whose trigger takes long holds the writer thread. Nothing can stop the trigger of one row.

/** A trigger that takes about 1 ms for every 10,000 iterations. */
const slowTrigger = (table: string, event: string, iterations = 20_000) =>
  `CREATE TRIGGER ${table}_${event} AFTER ${event} ON ${table} BEGIN
    INSERT INTO log SELECT count(*) FROM (
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${iterations}) SELECT i FROM n);
  END;`

const ROWS = 2000
const rows = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS}) SELECT i, i % 7 FROM n`

const tables = [
  'updated',
  'deleted',
  'imported',
  'atomic',
  'batched',
  'quick',
  'plain',
  'parents',
  'alone',
  'slow',
  'few',
  'mixed',
  'paused'
]
const file = createDatabase(
  t,
  `CREATE TABLE log (n);
   ${tables.map((name) => `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO ${name} ${rows};`).join('\n')}
   CREATE TABLE children (id INTEGER PRIMARY KEY, parent REFERENCES parents ON DELETE CASCADE);
   CREATE INDEX children_parent ON children (parent);
   INSERT INTO children SELECT id, id FROM parents;
   ${slowTrigger('updated', 'UPDATE')}
   ${slowTrigger('deleted', 'DELETE')}
   ${slowTrigger('children', 'DELETE')}
   ${slowTrigger('imported', 'INSERT')}
   ${slowTrigger('atomic', 'INSERT')}
   ${slowTrigger('batched', 'INSERT')}
   ${slowTrigger('quick', 'INSERT', 1)}
   ${slowTrigger('slow', 'INSERT', 300_000)}
   ${slowTrigger('few', 'INSERT', 300_000)}
   ${slowTrigger('mixed', 'INSERT', 1)}
   CREATE TRIGGER paused AFTER INSERT ON paused WHEN new.id = ${ROWS + 1} BEGIN
     INSERT INTO log SELECT count(*) FROM (
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT i FROM n);
   END;
   ${slowTrigger('alone', 'UPDATE', 8_000_000)}`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const ids: Record<string, number> = {}
for (const name of tables) ids[name] = (await importTable(admin, name)).id
const token = await asToken(app, admin, { tables: [...tables], actions: ['read', 'create', 'update', 'delete'] })
const csv = client(app, { ...(await logIn(app)), 'content-type': 'text/csv' })

const batch = (...operations: object[]) => token.post('/data/_batch', { operations })
const all = { where: { n: { gte: 0 } } }
const some = (count: number) => ({ where: { id: { lte: count } } })
const update = (filter: object) =>
  batch({ op: 'update', table: 'updated', filter, maxAffected: 10_000, values: { n: 9 } })
const remove = (table: string, filter: object) => batch({ op: 'delete', table, filter, maxAffected: 10_000 })
const totalOf = async (table: string) => dataOf(await token.get(`/data/${table}?size=1`)).total

const refusals: readonly (readonly [string, string, (filter: object) => ReturnType<typeof update>])[] = [
  ['update', 'updated', update],
  ['delete', 'deleted', (filter) => remove('deleted', filter)],
  ['delete with a cascade', 'parents', (filter) => remove('parents', filter)]
]
for (const [name, table, send] of refusals) {
  t.test(`a filtered ${name} is stopped inside its statement, and then refused before it runs`, async (t) => {
    const stopped = await send(all)
    expectError(t, stopped, 413, 'TOO_MUCH_WORK')
    t.match(stopped.json().error.message, 'took too long')
    const refused = await send(all)
    expectError(t, refused, 413, 'TOO_MUCH_WORK')
    t.match(refused.json().error.message, new RegExp(`A record of '${table}' took .* ms in the last changes`))
    t.equal(await totalOf(table), ROWS, 'nothing was changed')
    dataOf(await send(some(3)))
  })
}

const lines = (count: number) => `n\n${'1\n'.repeat(count)}`
const importInto = (table: string, count: number, query = '') =>
  csv.post(`/admin/tables/${ids[table]}/import${query}`, lines(count))

t.test('a file is stored in one transaction only if its rows cost little', async (t) => {
  const imported = { rows: 400, created: 400, updated: 0, dryRun: false }
  expectData(t, await importInto('imported', 400), { ...imported, atomic: false })
  expectData(t, await importInto('imported', 400), { ...imported, atomic: false })
  expectData(t, await importInto('imported', 5), { ...imported, rows: 5, created: 5, atomic: true })
  expectData(t, await importInto('quick', 400), { ...imported, atomic: false })
  expectData(t, await importInto('quick', 400), { ...imported, atomic: true })
  expectData(t, await importInto('plain', 400), { ...imported, atomic: true })
})

t.test('a step that takes too long is stored again as smaller ones', async (t) => {
  expectData(t, await importInto('slow', 51), { rows: 51, created: 51, updated: 0, atomic: false, dryRun: false })
  t.equal(await totalOf('slow'), ROWS + 51)
})

t.test('a small file that takes too long is stored in steps', async (t) => {
  expectData(t, await importInto('few', 40), { rows: 40, created: 40, updated: 0, atomic: false, dryRun: false })
  t.equal(await totalOf('few'), ROWS + 40)
})

t.test('a single slow change says too little to refuse others', async () => {
  dataOf(await token.post('/data/paused/records', { n: 1 }))
  const create = { op: 'create', table: 'paused', values: { n: 1 } }
  dataOf(await batch(...Array.from({ length: 20 }, () => create)))
})

t.test('the time of another table does not count as the cost of a row', async () => {
  const create = (table: string) => ({ op: 'create', table, values: { n: 1 } })
  const others = Array.from({ length: 990 }, () => create('plain'))
  dataOf(await batch(create('mixed'), ...others))
  dataOf(await batch(...Array.from({ length: 200 }, () => create('mixed'))))
})

t.test('an atomic import is stopped, and then refused before it runs', async (t) => {
  expectError(t, await importInto('atomic', 2000, '?atomic=true'), 413, 'TOO_MUCH_WORK')
  const refused = await importInto('atomic', 2000, '?atomic=true')
  expectError(t, refused, 413, 'TOO_MUCH_WORK')
  t.match(refused.json().error.message, /A record of 'atomic' took/)
  t.equal(await totalOf('atomic'), ROWS)
  dataOf(await importInto('atomic', 20, '?atomic=true'))
})

t.test('the records of a batch are refused together', async (t) => {
  const create = { op: 'create', table: 'batched', values: { n: 1 } }
  const creates = (count: number) => batch(...Array.from({ length: count }, () => create))
  dataOf(await creates(10))
  expectError(t, await creates(500), 413, 'TOO_MUCH_WORK')
  dataOf(await creates(5))
})

t.test('a single record whose trigger takes too long is refused when that is known', async (t) => {
  const change = () => token.put('/data/alone/records/1', { n: 5 })
  dataOf(await change())
  expectError(t, await change(), 413, 'TOO_MUCH_WORK')
})
