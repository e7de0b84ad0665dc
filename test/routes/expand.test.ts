import t from 'tap'
import {
  asAdmin,
  asToken,
  bearer,
  client,
  createDatabase,
  dataOf,
  expectData,
  expectError,
  importTable,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { onlyOnFile } from '../served.ts'

const file = createDatabase(
  t,
  `PRAGMA foreign_keys = OFF;
   CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT, secret TEXT) STRICT;
   CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, country TEXT REFERENCES country, boss INTEGER REFERENCES customer (id),
     big INTEGER) STRICT;
   CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id), stock_id INTEGER REFERENCES stock (id),
     place TEXT REFERENCES place (zip), day TEXT);
   CREATE TABLE stock (id INTEGER PRIMARY KEY, n INTEGER);
   CREATE TABLE place (id INTEGER PRIMARY KEY, zip TEXT);
   CREATE TABLE odd (id INTEGER PRIMARY KEY, expand INTEGER REFERENCES stock (id));
   CREATE TABLE chain (id INTEGER PRIMARY KEY, next INTEGER REFERENCES chain (id), "a.b" INTEGER REFERENCES chain (id));
   CREATE TABLE dots (id INTEGER PRIMARY KEY, c INTEGER REFERENCES stock (id), "c.x" INTEGER REFERENCES customer (id));
   INSERT INTO dots VALUES (1, 5, 1);
   CREATE TABLE label (code TEXT PRIMARY KEY, n INTEGER);
   CREATE TABLE labelled (id INTEGER PRIMARY KEY, label INTEGER REFERENCES label (code));
   INSERT INTO label VALUES ('01', 1), ('1', 2);
   INSERT INTO labelled VALUES (1, 1), (2, 2);
   INSERT INTO country VALUES ('DE', 'Germany', 'x');
   INSERT INTO customer VALUES (1, 'Ann', 'DE', NULL, 9007199254740993), (2, 'Bob', NULL, 1, 1);
   INSERT INTO orders VALUES (1, 1, NULL, NULL, '2026-01-01'), (2, 2, 5, NULL, '2026-01-02'), (3, NULL, NULL, NULL, NULL);
   INSERT INTO stock VALUES (5, 5);
   INSERT INTO chain VALUES (1, 1, 1);`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const tables: Record<string, { id: number }> = {}
for (const name of ['country', 'customer', 'orders', 'stock', 'place', 'odd', 'chain', 'dots', 'label', 'labelled'])
  tables[name] = await importTable(admin, name)
const url = (name: string) => `/admin/tables/${tables[name]?.id}`
const token = await asToken(app, admin)

const rowsOf = (response: TestResponse) => dataOf(response).rows
const query = (body: object, table = 'orders') => token.post(`/data/${table}/query`, body)

const germany = { code: 'DE', name: 'Germany', secret: 'x' }
const ann = { id: 1, name: 'Ann', country: 'DE', boss: null, big: '9007199254740993' }
const bob = { id: 2, name: 'Bob', country: null, boss: 1, big: 1 }

t.test('a query adds the records to which a field refers', async (t) => {
  const rows = rowsOf(await query({ expand: ['customer_id'], fields: ['day'] }))
  t.strictSame(rows, [
    { id: 1, day: '2026-01-01', expand: { customer_id: ann } },
    { id: 2, day: '2026-01-02', expand: { customer_id: bob } },
    { id: 3, day: null, expand: { customer_id: null } }
  ])
  const list = rowsOf(await token.get('/data/orders?expand=customer_id&fields=day'))
  t.strictSame(list, rows)
  expectData(t, await admin.get(`${url('orders')}/data?expand=customer_id&fields=day&size=1`), {
    rows: rows.slice(0, 1),
    total: 3,
    page: 1,
    size: 1
  })
})

t.test('references of added records are expanded up to a depth of 3', async (t) => {
  const paths = ['customer_id.country', 'customer_id.boss.country', 'stock_id']
  const [, second] = rowsOf(await query({ expand: paths }))
  t.strictSame(second.expand, {
    customer_id: { ...bob, expand: { country: null, boss: { ...ann, expand: { country: germany } } } },
    stock_id: { id: 5, n: 5 }
  })
  expectError(t, await query({ expand: ['customer_id.boss.boss.country'] }), 400, 'VALIDATION_FAILED')
})

t.test('a path can name the fields of the added record', async (t) => {
  const rowOf = async (expand: string[], table = 'orders') =>
    rowsOf(await query({ expand, fields: [], size: 1 }, table))[0].expand
  const { id, name, big } = ann
  t.strictSame(await rowOf(['customer_id(name)']), { customer_id: { id, name } }, 'with the key')
  t.strictSame(await rowOf(['customer_id( big ,name)', 'customer_id(name)']), { customer_id: { id, name, big } })
  t.strictSame(await rowOf(['customer_id(name)', 'customer_id.country(name)']), {
    customer_id: { id, name, expand: { country: { code: 'DE', name: 'Germany' } } }
  })
  t.strictSame(await rowOf(['customer_id(name)', 'customer_id']), { customer_id: ann }, 'the whole record wins')
  const list = await token.get('/data/orders?expand=customer_id(name,big),stock_id&fields=id&size=1')
  t.strictSame(rowsOf(list), [{ id: 1, expand: { customer_id: { id, name, big }, stock_id: null } }])
})

t.test('the fields of an added record must exist and be visible', async (t) => {
  for (const path of [
    'customer_id(nothing)',
    'customer_id(name',
    'customer_id()',
    'customer_id(name).country',
    'day(id)'
  ])
    expectError(t, await query({ expand: [path] }), 400, 'VALIDATION_FAILED')
  const secret = { expand: ['customer_id.country(secret)'], size: 1 }
  t.equal((await query(secret)).statusCode, 200)
  await admin.put(url('country'), { fields: [{ name: 'secret', isHidden: true }] })
  expectError(t, await query(secret), 400, 'VALIDATION_FAILED')
  t.equal((await admin.post(`${url('orders')}/query`, secret)).statusCode, 200)
  await admin.put(url('country'), { fields: [{ name: 'secret', isHidden: false }] })
})

t.test('a name with dots is the name of a field', async (t) => {
  const [row] = rowsOf(await query({ expand: ['a.b', 'next.a.b'] }, 'chain'))
  const one = { id: 1, next: 1, 'a.b': 1 }
  t.strictSame(row, { ...one, expand: { 'a.b': one, next: { ...one, expand: { 'a.b': one } } } })
})

t.test('of two fields with which a path begins, the longer name counts', async (t) => {
  t.match(rowsOf(await query({ expand: ['c.x'] }, 'dots')), [{ expand: { 'c.x': { name: 'Ann' } } }])
  t.match(rowsOf(await query({ filter: { where: { 'c.x.name': { eq: 'Ann' } } } }, 'dots')), [{ id: 1 }])
})

t.test('at most ten references are expanded, counting those on the way', async (t) => {
  const names = ['next', 'a.b']
  const three = names.flatMap((a) => names.flatMap((b) => names.map((c) => `${a}.${b}.${c}`)))
  t.equal((await query({ expand: three.slice(0, 5) }, 'chain')).statusCode, 200)
  expectError(t, await query({ expand: three.slice(0, 7) }, 'chain'), 400, 'VALIDATION_FAILED')
  const order = (count: number) => ({
    order: three
      .slice(0, count)
      .map((path) => `${path}.id`)
      .join(',')
  })
  t.equal((await query(order(4), 'chain')).statusCode, 200)
  expectError(t, await query(order(7), 'chain'), 400, 'VALIDATION_FAILED')
})

t.test('a path must begin with a field that refers to a unique field', async (t) => {
  for (const path of ['day', 'nothing', 'place', '', 'customer_id.name'])
    expectError(t, await query({ expand: [path] }), 400, 'VALIDATION_FAILED')
  expectError(t, await query({ expand: ['expand'] }, 'odd'), 400, 'VALIDATION_FAILED')
})

t.test('hidden fields of the target stay hidden, and a hidden reference is unknown', async (t) => {
  const hide = (name: string, isHidden: boolean) => ({ fields: [{ name, isHidden }] })
  await admin.put(url('country'), hide('secret', true))
  const [row] = rowsOf(await query({ expand: ['customer_id.country'], size: 1 }))
  t.strictSame(row.expand.customer_id.expand, { country: { code: 'DE', name: 'Germany' } })
  await admin.put(url('country'), hide('secret', false))
  await admin.put(url('orders'), hide('customer_id', true))
  expectError(t, await query({ expand: ['customer_id'] }), 400, 'VALIDATION_FAILED')
  t.equal((await admin.post(`${url('orders')}/query`, { expand: ['customer_id'] })).statusCode, 200)
  await admin.put(url('orders'), hide('customer_id', false))
})

t.test('the target must be published, and the token needs the action read on it', async (t) => {
  const some = await asToken(app, admin, { tables: ['orders'], actions: ['read'] })
  const response = await some.post('/data/orders/query', { expand: ['customer_id'] })
  expectError(t, response, 403, 'ACTION_NOT_ALLOWED')
  t.notMatch(response.body, /customer'/, 'the table is not named')
  t.equal((await query({ expand: ['customer_id'] })).statusCode, 200)
  await admin.put(url('customer'), { isPublished: false })
  const unpublished = await query({ expand: ['customer_id'] })
  expectError(t, unpublished, 400, 'VALIDATION_FAILED')
  t.equal((await admin.post(`${url('orders')}/query`, { expand: ['customer_id'] })).statusCode, 200)
  await admin.delete(`${url('customer')}?confirm=true`)
  const unregistered = await query({ expand: ['customer_id'] })
  t.strictSame({ ...unregistered.json().error, requestId: '' }, { ...unpublished.json().error, requestId: '' })
  expectError(t, await admin.post(`${url('orders')}/query`, { expand: ['customer_id'] }), 400, 'VALIDATION_FAILED')
})

t.test('a reference is compared in the type of the target, as a foreign key is', async (t) => {
  t.strictSame(rowsOf(await query({ expand: ['label'] }, 'labelled')), [
    { id: 1, label: 1, expand: { label: { code: '1', n: 2 } } },
    { id: 2, label: 2, expand: { label: null } }
  ])
})

t.test(
  'the SQL for the added records has at most 128 KiB',
  onlyOnFile('The SQL for the engine of a cluster is longer.'),
  async (t) => {
    const columns = Array.from({ length: 90 }, (_, index) => `c${index} INTEGER`).join(', ')
    const wide = `CREATE TABLE wide (id INTEGER PRIMARY KEY, a INTEGER REFERENCES wide (id), ${columns})`
    const other = createDatabase(t, wide)
    const service = await startApp(t, { env: { DATABASE: other } })
    const owner = await asAdmin(service)
    await importTable(owner, 'wide')
    const reader = await asToken(service, owner)
    t.equal((await reader.post('/data/wide/query', { expand: ['a.a'] })).statusCode, 200)
    expectError(t, await reader.post('/data/wide/query', { expand: ['a.a.a'] }), 400, 'VALIDATION_FAILED', '/expand')

    const { scan } = service.database
    service.database.scan = async (statement, caller) => {
      service.database.scan = scan
      for (let index = 0; index < 20; index++)
        dataOf(await reader.post('/data/wide/query', { expand: ['a'], fields: [`c${index}`] }))
      return scan(statement, caller)
    }
    const response = await reader.post('/data/wide/query', { expand: ['a'], order: 'c1' })
    t.equal(response.statusCode, 200, 'also if the cache no longer has the SQL after a wait')
  }
)

t.test('the right to the added records is checked again after a wait', async (t) => {
  const permissions = { tables: ['orders', 'stock'], actions: ['read' as const] }
  const { id, token: secret } = dataOf(await admin.post('/admin/tokens', { name: 'waiting', permissions }))
  const waiting = client(app, bearer(secret))
  /** Sends a query that needs a reader thread, and calls `act` before it gets one. */
  const queryAfter = async (act: () => Promise<unknown>) => {
    const { scan } = app.database
    app.database.scan = async (statement, caller) => {
      app.database.scan = scan
      await act()
      return scan(statement, caller)
    }
    return waiting.post('/data/orders/query', { expand: ['stock_id'], order: 'day' })
  }
  const change = (tables: string[]) => admin.put(`/admin/tokens/${id}`, { permissions: { ...permissions, tables } })
  const rows = rowsOf(await queryAfter(async () => {}))
  t.same(rows[2].expand, { stock_id: { id: 5, n: 5 } })
  expectError(t, await queryAfter(() => change(['orders'])), 403, 'ACTION_NOT_ALLOWED')
  await change(['orders', 'stock'])
  const setFields = (isHidden: boolean) => admin.put(url('stock'), { fields: [{ name: 'n', isHidden }] })
  expectError(t, await queryAfter(() => setFields(true)), 409, 'TABLE_CHANGED')
  dataOf(await setFields(false))
  t.same(rowsOf(await queryAfter(async () => {})), rows)
})
