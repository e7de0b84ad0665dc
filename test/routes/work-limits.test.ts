import t, { type Test } from 'tap'
import {
  asAdmin,
  asToken,
  bearer,
  client,
  createDatabase,
  dataOf,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'

const numbers = (count: number) =>
  `(WITH n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT ${count}) SELECT n FROM n)`

const file = createDatabase(
  t,
  `CREATE TABLE films (id INTEGER PRIMARY KEY, title TEXT, color TEXT, year INTEGER, note TEXT);
   CREATE INDEX films_color ON films (color);
   INSERT INTO films SELECT n, 'Film ' || n, 'c' || (n % 1000), n % 100, NULL FROM ${numbers(99_000)};
   CREATE TABLE makers (id INTEGER PRIMARY KEY, code TEXT UNIQUE, boss INTEGER REFERENCES makers (id) ON DELETE CASCADE);
   CREATE INDEX makers_boss ON makers (boss);
   INSERT INTO makers SELECT n, 'm' || n, iif(n % 500 = 1, n, n - 1) FROM ${numbers(4000)};
   CREATE TABLE parts (id INTEGER PRIMARY KEY, maker INTEGER REFERENCES makers (id) ON DELETE CASCADE,
     code TEXT REFERENCES makers (code) ON UPDATE CASCADE);
   CREATE INDEX parts_maker ON parts (maker);
   INSERT INTO parts SELECT n, n % 4000 + 1, 'm' || (n % 4000 + 1) FROM ${numbers(40_000)};
   CREATE TABLE owners (id INTEGER PRIMARY KEY, name TEXT);
   INSERT INTO owners SELECT n, 'o' || n FROM ${numbers(2000)};
   CREATE TABLE pets (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES owners (id) ON DELETE SET NULL);
   INSERT INTO pets SELECT n, n % 1000 + 1 FROM ${numbers(60_000)};
   CREATE TABLE pairs (a INTEGER, b TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
   INSERT INTO pairs SELECT n, 'b' FROM ${numbers(10)};
   CREATE TABLE uses (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, FOREIGN KEY (a, b) REFERENCES pairs ON DELETE CASCADE);
   CREATE INDEX uses_pair ON uses (b, a);
   INSERT INTO uses SELECT n, n % 10 + 1, 'b' FROM ${numbers(30_000)};
   CREATE TABLE texts (id INTEGER PRIMARY KEY, body TEXT, n INTEGER);
   INSERT INTO texts (id, n) VALUES (1, 0);
   CREATE TABLE long (id INTEGER PRIMARY KEY, body TEXT, n INTEGER);
   INSERT INTO long SELECT n, printf('%.*c', 300000, 'a'), 0 FROM ${numbers(3)};`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const ids = new Map<string, number>()
for (const name of ['films', 'makers', 'parts', 'owners', 'pets', 'pairs', 'uses', 'texts', 'long'])
  ids.set(name, (await importTable(admin, name)).id)
dataOf(await admin.put(`/admin/tables/${ids.get('texts')}`, { searchIndex: true }))
const token = await asToken(app, admin)

type Input = Readonly<Record<string, unknown>>
const batch = (operations: readonly Input[]) => token.post('/data/_batch', { operations })
const repeat = (count: number, make: (index: number) => Input) =>
  Array.from({ length: count }, (_, index) => make(index))
const update = (where: object, maxAffected = 10) => ({
  op: 'update',
  table: 'films',
  filter: { where },
  maxAffected,
  values: { note: 'x' }
})
const remove = (table: string) => (index: number) => ({ op: 'delete', table, pk: index + 1 })

const allow = async (t: Test, operations: readonly Input[]) => {
  const response = await batch(operations)
  t.equal(response.statusCode, 200, response.body.slice(0, 300))
}

t.test('a long text that a filter searches counts more than a short one', async (t) => {
  const containing = (text: string) => [
    { op: 'update', table: 'long', filter: { where: { body: { contains: text } } }, maxAffected: 3, values: { n: 1 } }
  ]
  await allow(t, containing(`${'a'.repeat(100)}b`))
  expectError(t, await batch(containing(`${'a'.repeat(60_000)}b`)), 409, 'FILTER_NOT_INDEXED')
})

t.test('the filters of a batch are limited together', async (t) => {
  const scan = (index: number) => update({ year: { eq: 1000 + index } })
  await allow(t, repeat(2, scan))
  const response = await batch(repeat(1000, scan))
  expectError(t, response, 413, 'TOO_MUCH_WORK', '/operations/2')
  t.match(response.json().error.hint, /Create an index on 'year'/)
  await allow(
    t,
    repeat(200, (index) => update({ color: { eq: `d${index}` } }))
  )
  await allow(t, [update({ color: { eq: 'c1' } }, 200), update({ id: { gt: 98_000 } }, 1000)])
  expectError(t, await batch(repeat(2, () => update({ id: { gte: 1 } }))), 409, 'TOO_MANY_AFFECTED')
})

t.test('an index does not bound a filter by a range of the whole table', async (t) => {
  const contains = { title: { contains: 'nothing' } }
  await allow(t, [update({ id: { gte: 0 }, ...contains })])
  expectError(t, await batch(repeat(3, () => update({ id: { gte: 0 }, ...contains }))), 413, 'TOO_MUCH_WORK')
  await allow(
    t,
    repeat(20, () => update({ id: { gte: 98_900 }, ...contains }))
  )
  const listed = { in: Array.from({ length: 200 }, (_, index) => index + 1) }
  await allow(
    t,
    repeat(20, () => update({ id: listed, ...contains }))
  )
  expectError(t, await batch(repeat(3, () => update({ year: listed, ...contains }))), 413, 'TOO_MUCH_WORK')
})

t.test('each condition of a filter counts', async (t) => {
  const any = repeat(99, (index) => ({ where: { title: { contains: `nothing ${index}` } } }))
  const filter = (parts: object) => ({ ...update({}), filter: parts })
  const response = await batch([filter({ any })])
  expectError(t, response, 409, 'FILTER_NOT_INDEXED', '/operations/0')
  t.match(response.json().error.hint, /^Query the records/)
  await allow(t, [filter({ where: { color: { eq: 'c7' } }, any })])
  await allow(t, [filter({ where: { title: { contains: 'nothing' } } })])
})

t.test('earlier operations of the batch count', async (t) => {
  const created = repeat(999, () => ({ op: 'create', table: 'owners', values: { name: 'new' } }))
  const all = { op: 'delete', table: 'owners', filter: { where: { name: { eq: 'new' } } }, maxAffected: 1000 }
  expectError(t, await batch([...created, all]), 409, 'REFERENCE_NOT_INDEXED')
  await allow(t, [...created.slice(0, 3), { ...all, maxAffected: 3 }])
})

t.test('records that refer to a deleted one are read if no index finds them', async (t) => {
  await allow(
    t,
    repeat(2, (index) => remove('owners')(1500 + index))
  )
  const response = await batch(repeat(1000, remove('owners')))
  expectError(t, response, 413, 'TOO_MUCH_WORK')
  t.match(response.json().error.hint, /Create an index on its foreign key of 'pets'/)
  const filtered = { op: 'delete', table: 'owners', filter: {}, maxAffected: 2000 }
  expectError(t, await batch([filtered]), 409, 'REFERENCE_NOT_INDEXED', '/operations/0')
  const asAdministrator = await admin.post('/admin/batch', { operations: [filtered] })
  t.match(asAdministrator.json().error.hint, "Create an index on 'owner' of 'pets'.")
  const noRead = await asToken(app, admin, { tables: ['owners'], actions: ['delete', 'read'] })
  const hidden = await noRead.post('/data/_batch', { operations: [filtered] })
  expectError(t, hidden, 409, 'REFERENCE_NOT_INDEXED')
  t.notMatch(hidden.body, /pets/)
  const grants = [{ tables: ['owners', 'pets'], actions: ['delete', 'read'] }]
  dataOf(await admin.post('/admin/roles', { name: 'keeper', grants }))
  const issued = dataOf(await admin.post('/admin/tokens', { name: 'keeper', role: 'keeper' }))
  const limited = await client(app, bearer(issued.token)).post('/data/_batch', { operations: [filtered] })
  t.match(limited.json().error.message, /until its records are read for each record\.$/)

  dataOf(await admin.post(`/admin/tables/${ids.get('pets')}/indexes`, { fields: ['owner'] }))
  await allow(
    t,
    repeat(20, (index) => remove('owners')(index))
  )
})

t.test('rows that the actions of foreign keys change are counted, also in cycles', async (t) => {
  t.equal((await token.delete('/data/makers/records/498')).statusCode, 200, 'at the end of a chain')
  const unindexed = await token.delete('/data/makers/records/501')
  expectError(t, unindexed, 409, 'REFERENCE_NOT_INDEXED')
  t.match(unindexed.json().error.message, /^No index serves the table 'parts', which refers to 'makers'\./)
  const rename = { op: 'update', table: 'makers', pk: 2000, values: { code: 'renamed' } }
  await allow(t, [rename])
  expectError(
    t,
    await batch(repeat(30, (index) => ({ ...rename, values: { code: `r${index}` } }))),
    413,
    'TOO_MUCH_WORK'
  )
  await allow(
    t,
    repeat(10, () => ({ ...rename, values: { boss: 2000 } }))
  )
  dataOf(await admin.post(`/admin/tables/${ids.get('parts')}/indexes`, { fields: ['code'] }))
  t.equal((await token.delete('/data/makers/records/501')).statusCode, 200)
  expectError(t, await batch(repeat(5, (index) => remove('makers')(index * 500 + 1000))), 413, 'TOO_MUCH_WORK')
  await allow(t, [{ op: 'delete', table: 'pairs', pk: '1,b' }])
  expectError(
    t,
    await batch(repeat(9, (index) => ({ op: 'delete', table: 'pairs', pk: `${index + 2},b` }))),
    413,
    'TOO_MUCH_WORK'
  )
})

t.test('texts for a search index are limited by their bytes', async (t) => {
  const create = (length: number, table = 'texts', field = 'body') => ({
    op: 'create',
    table,
    values: { [field]: 'x'.repeat(length) }
  })
  await allow(t, [create(100_000)])
  expectError(t, await batch(repeat(3, () => create(100_000))), 413, 'TOO_MUCH_WORK')
  expectError(t, await batch(repeat(3, () => create(4_000_000))), 413, 'TOO_MUCH_WORK')
  await allow(
    t,
    repeat(3, () => create(400_000, 'films', 'note'))
  )
  expectError(t, await token.post('/data/texts/records', { body: 'x'.repeat(300_000) }), 413, 'TOO_MUCH_WORK')
  const upsert = { op: 'upsert', table: 'texts', values: { id: 500, body: 'x'.repeat(150_000) } }
  await allow(t, [upsert])
  expectError(
    t,
    await batch([upsert, { ...upsert, values: { id: 501, body: upsert.values.body } }]),
    413,
    'TOO_MUCH_WORK'
  )
  await allow(
    t,
    repeat(20, () => ({ op: 'update', table: 'texts', pk: 500, values: { n: 1 } }))
  )
  expectError(
    t,
    await batch(repeat(10, () => ({ op: 'update', table: 'texts', pk: 500, values: { body: 'y'.repeat(30_000) } }))),
    413,
    'TOO_MUCH_WORK'
  )
})
