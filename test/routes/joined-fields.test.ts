import t from 'tap'
import type { Statement } from '../../services/sql/statement.ts'
import {
  asAdmin,
  asToken,
  createDatabase,
  dataOf,
  expectError,
  importTable,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { openServed } from '../served.ts'

const file = createDatabase(
  t,
  `PRAGMA foreign_keys = OFF;
   CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT COLLATE NOCASE, secret TEXT) STRICT;
   CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, country TEXT REFERENCES country,
     boss INTEGER REFERENCES customer (id), big INTEGER) STRICT;
   CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id), place TEXT REFERENCES place (zip),
     total REAL);
   CREATE TABLE place (id INTEGER PRIMARY KEY, zip TEXT);
   CREATE TABLE plain (a TEXT, b TEXT, customer_id INTEGER REFERENCES customer (id), PRIMARY KEY (a, b)) WITHOUT ROWID;
   CREATE TABLE line (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders (id), "order_id.total" TEXT);
   INSERT INTO country VALUES ('DE', 'germany', 'x'), ('FR', 'France', 'y');
   INSERT INTO customer VALUES (1, 'ann', 'DE', NULL, 9007199254740993), (2, 'Bob', 'FR', 1, 1), (3, 'CAT', NULL, 2, 2);
   INSERT INTO orders VALUES (1, 3, NULL, 1), (2, 2, NULL, 2), (3, 1, NULL, 3), (4, NULL, NULL, 4),
     (5, 99, NULL, 5), (6, 1, NULL, 6);
   INSERT INTO plain VALUES ('a', '1', 2), ('b', '2', 1), ('c', '3', NULL);
   INSERT INTO line VALUES (1, 1, 'c'), (2, 2, 'b'), (3, 3, 'a');`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const tables: Record<string, { id: number }> = {}
for (const name of ['country', 'customer', 'orders', 'place', 'plain', 'line'])
  tables[name] = await importTable(admin, name)
const url = (name: string) => `/admin/tables/${tables[name]?.id}`
const token = await asToken(app, admin)

const idsOf = (response: TestResponse) => dataOf(response).rows.map(({ id, a }: { id?: number; a?: string }) => id ?? a)
const query = (body: object, table = 'orders') => token.post(`/data/${table}/query`, body)
const where = (condition: object) => ({ filter: { where: condition } })

t.test('a filter compares a field of the record to which a field refers', async (t) => {
  const cases: [object, number[]][] = [
    [{ 'customer_id.country': { eq: 'DE' } }, [3, 6]],
    [{ 'customer_id.country.name': { eq: 'GERMANY' } }, [3, 6]],
    [{ 'customer_id.boss.country.name': { startsWith: 'ger' } }, [2]],
    [{ 'customer_id.big': { gt: '9007199254740992' } }, [3, 6]],
    [{ 'customer_id.country': { in: ['FR', 'DE'] } }, [2, 3, 6]],
    [{ 'customer_id.country': { eq: 'DE' }, total: { gt: 3 } }, [6]]
  ]
  for (const [condition, ids] of cases) {
    t.strictSame(idsOf(await query(where(condition))), ids, JSON.stringify(condition))
    const text = encodeURIComponent(JSON.stringify(where(condition).filter))
    const list = await token.get(`/data/orders?filter=${text}`)
    t.strictSame([idsOf(list), dataOf(list).total], [ids, ids.length])
  }
})

t.test('a record that is missing has no values', async (t) => {
  t.strictSame(idsOf(await query(where({ 'customer_id.country': { isNull: true } }))), [1, 4, 5])
  t.strictSame(idsOf(await query(where({ 'customer_id.country': { ne: 'DE' } }))), [1, 2, 4, 5])
  t.strictSame(
    idsOf(await query({ filter: { none: [where({ 'customer_id.country': { eq: 'DE' } }).filter] } })),
    [1, 2, 4, 5]
  )
})

t.test('an order has the collation of the field, and missing records come first', async (t) => {
  t.strictSame(idsOf(await query({ order: 'customer_id.name,-id' })), [5, 4, 6, 3, 2, 1])
  t.strictSame(idsOf(await query({ order: '-customer_id.country.name' })), [3, 6, 2, 1, 4, 5])
  t.strictSame(idsOf(await query({ order: 'customer_id.country.name desc,total desc' })), [6, 3, 2, 5, 4, 1])
  t.strictSame(idsOf(await token.get('/data/plain?order=customer_id.name.desc')), ['a', 'b', 'c'])
})

t.test('a direction at the end belongs to the field before it', async (t) => {
  const byName = idsOf(await query({ order: '-customer_id.name' }))
  for (const order of [
    'customer_id.name.desc',
    'customer_id.name desc',
    'customer_id.name,desc',
    ' - customer_id.name'
  ])
    t.strictSame(idsOf(await query({ order })), byName, order)
  t.equal((await query({ order: 'customer_id.boss.boss.boss.desc' })).statusCode, 200, 'the last boss is a value')
  const some = await asToken(app, admin, { tables: ['orders', 'customer'], actions: ['read'] })
  t.equal((await some.get('/data/orders?order=customer_id.country.desc')).statusCode, 200, 'the country is a value')
  await admin.put(url('orders'), { fields: [{ name: 'total', isHidden: true }] })
  expectError(t, await query({ order: 'total,desc' }), 400, 'VALIDATION_FAILED')
  t.equal((await query({ order: 'customer_id.big,desc' })).statusCode, 200)
  await admin.put(url('orders'), { fields: [{ name: 'total', isHidden: false }] })
})

t.test('a field with the name of a path wins', async (t) => {
  t.strictSame(idsOf(await query(where({ 'order_id.total': { eq: 'c' } }), 'line')), [1])
  t.strictSame(idsOf(await query({ order: 'order_id.total' }, 'line')), [3, 2, 1])
  t.strictSame(idsOf(await query({ order: '-order_id.customer_id.name' }, 'line')), [1, 2, 3])
})

t.test('cursors walk through an order by a field of another record', async (t) => {
  for (const order of ['customer_id.name', '-customer_id.name', '-customer_id.country.name,-total']) {
    const whole = idsOf(await query({ order }))
    const walked: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { rows, next } = dataOf(await query({ order, cursor, size: 1 }))
      walked.push(...rows.map(({ id }: { id: number }) => id))
      cursor = next
    }
    t.strictSame(walked, whole, order)
  }
  const { next } = dataOf(await query({ order: 'customer_id.name', cursor: '', size: 1 }))
  const other = await query({ order: 'customer_id.boss.name', cursor: next, size: 1 })
  expectError(t, other, 400, 'CURSOR_OF_OTHER_QUERY')
})

t.test('totals, searches, aggregates and exports take the same names', async (t) => {
  const german = where({ 'customer_id.country': { eq: 'DE' } })
  const counted = await query({ ...german, q: '6', total: true, order: '-customer_id.name' })
  t.match(dataOf(counted), { total: 1, rows: [{ id: 6 }] })
  const ordered = await token.get('/data/plain?order=-customer_id.name&filter={"where":{"customer_id.id":{"gt":0}}}')
  t.match(dataOf(ordered), { total: 2, rows: [{ a: 'a' }, { a: 'b' }] })
  const sum = await token.post('/data/orders/aggregate', { ...german, compute: { sum: { sum: 'total' } } })
  t.strictSame(dataOf(sum).rows, [{ sum: 9 }])
  const filter = encodeURIComponent(JSON.stringify(german.filter))
  const file = await token.get(`/data/orders/export?fields=id&order=-total&filter=${filter}`)
  t.equal(file.body, '"id"\r\n6\r\n3\r\n')
  const page = await token.get('/data/orders/export?fields=id&order=-customer_id.name&size=2&page=1')
  t.equal(page.body, '"id"\r\n1\r\n2\r\n')
})

t.test('a name that leads to no field is unknown', async (t) => {
  for (const name of ['customer_id.nothing', 'total.name', 'place.id', 'customer_id.name.x', 'customer_id.']) {
    expectError(t, await query(where({ [name]: { eq: 1 } })), 400, 'VALIDATION_FAILED')
    expectError(t, await query({ order: name }), 400, 'VALIDATION_FAILED')
  }
  expectError(t, await query(where({ 'customer_id.big': { eq: 'text' } })), 400, 'VALIDATION_FAILED')
  const batch = {
    operations: [{ op: 'delete', table: 'orders', ...where({ 'customer_id.name': { eq: 'x' } }), maxAffected: 1 }]
  }
  expectError(t, await token.post('/data/_batch', batch), 400, 'VALIDATION_FAILED')
})

t.test('references are followed to a depth of 3, ten in a request', async (t) => {
  t.equal((await query({ order: 'customer_id.boss.boss.name' })).statusCode, 200)
  const deep = await query({ order: 'customer_id.boss.boss.boss.name' })
  expectError(t, deep, 400, 'VALIDATION_FAILED')
  t.match(deep.json().error.details, [{ path: '/order', code: 'depth' }])
})

t.test('a token needs the action read on each table, which must be published', async (t) => {
  const some = await asToken(app, admin, { tables: ['orders'], actions: ['read'] })
  const both = await asToken(app, admin, { tables: ['orders', 'customer'], actions: ['read'] })
  const byName = { order: 'customer_id.name' }
  const german = where({ 'customer_id.country': { eq: 'DE' } })
  for (const body of [byName, german]) {
    expectError(t, await some.post('/data/orders/query', body), 403, 'ACTION_NOT_ALLOWED')
    t.equal((await both.post('/data/orders/query', body)).statusCode, 200)
  }
  expectError(
    t,
    await both.post('/data/orders/query', { order: 'customer_id.country.name' }),
    403,
    'ACTION_NOT_ALLOWED'
  )
  await admin.put(url('customer'), { isPublished: false })
  expectError(t, await both.post('/data/orders/query', byName), 400, 'VALIDATION_FAILED')
  t.equal((await admin.post(`${url('orders')}/query`, byName)).statusCode, 200)
  await admin.put(url('customer'), { isPublished: true })
})

t.test('hidden fields of the other table stay hidden', async (t) => {
  const secret = where({ 'customer_id.country.secret': { eq: 'x' } })
  t.strictSame(idsOf(await query(secret)), [3, 6])
  await admin.put(url('country'), { fields: [{ name: 'secret', isHidden: true }] })
  const hidden = await query(secret)
  const unknown = await query(where({ 'customer_id.country.nothing': { eq: 'x' } }))
  t.equal(
    hidden.body.replaceAll('secret', 'nothing').replace(/"requestId":"[^"]*"/, ''),
    unknown.body.replace(/"requestId":"[^"]*"/, '')
  )
  t.strictSame(idsOf(await admin.post(`${url('orders')}/query`, secret)), [3, 6])
})

t.test('each record of the selected table is read once, and the guard reads the length of long texts', async (t) => {
  const sqlite = openServed(t, file, { readonly: true })
  sqlite.function('alive', () => 1)
  const statements: Statement[] = []
  const { scan } = app.database
  app.database.scan = (statement, caller) => {
    statements.push(statement)
    return scan(statement, caller)
  }
  t.teardown(() => Object.assign(app.database, { scan }))
  const german = where({ 'customer_id.country': { eq: 'DE' } })
  dataOf(await token.post('/data/orders/aggregate', { ...german, compute: { n: { count: true } } }))
  const { sql, params } = statements[0] as Statement
  const steps = sqlite.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...params) as { detail: string }[]
  t.match(steps.map(({ detail }) => detail).filter((detail) => /^(SCAN|SEARCH) /.test(detail))[0], /^SCAN orders/)
  t.equal((await query({ order: 'customer_id.name' })).statusCode, 200)
  t.match(statements[1]?.sql, /octet_length\("_rowhouse_join_0"\."name"\)/)
})
