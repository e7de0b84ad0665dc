import t from 'tap'
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
import { openServed } from '../served.ts'

const file = createDatabase(
  t,
  `PRAGMA foreign_keys = OFF;
   CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, code TEXT UNIQUE, boss INTEGER REFERENCES customer (id));
   CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer, paid_by INTEGER REFERENCES customer);
   CREATE TABLE note (id INTEGER PRIMARY KEY, code TEXT REFERENCES customer (code));
   CREATE TABLE line (order_id INTEGER, sku TEXT, PRIMARY KEY (order_id, sku)) WITHOUT ROWID;
   CREATE TABLE parcel (id INTEGER PRIMARY KEY, o INTEGER, s TEXT, FOREIGN KEY (o, s) REFERENCES line (order_id, sku));
   CREATE TABLE label (code TEXT PRIMARY KEY);
   CREATE TABLE labelled (id INTEGER PRIMARY KEY, label INTEGER REFERENCES label);
   INSERT INTO customer VALUES (1, 'Ann', 'a', NULL), (2, 'Bob', NULL, 1), (3, 'Cat', 'c', 1);
   INSERT INTO orders VALUES (1, 1, 2), (2, 1, 1), (3, 2, 1);
   INSERT INTO note VALUES (1, 'a'), (2, NULL);
   INSERT INTO line VALUES (1, 'pen'), (1, 'ink,red');
   INSERT INTO parcel VALUES (1, 1, 'pen'), (2, 1, 'pen'), (3, 1, NULL);
   INSERT INTO label VALUES ('1'), ('01');
   INSERT INTO labelled VALUES (1, 1);`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const tables: Record<string, { id: number }> = {}
for (const name of ['customer', 'orders', 'note', 'line', 'parcel', 'label', 'labelled'])
  tables[name] = await importTable(admin, name)
const url = (name: string) => `/admin/tables/${tables[name]?.id}`
const token = await asToken(app, admin)

const counts = async (table: string, pk: string, by = token) =>
  dataOf(await by.get(`/data/${table}/records/${pk}/referring`)).map(
    ({ table, fields, count }: { table: string; fields: string[]; count: number }) => `${table}.${fields}: ${count}`
  )

const toAnn = ['customer.boss: 2', 'note.code: 1', 'orders.customer_id: 2', 'orders.paid_by: 2']

t.test('the records that refer to a record are counted for each foreign key', async (t) => {
  t.strictSame(await counts('customer', '1'), toAnn)
  t.strictSame(await counts('customer', '2'), [
    'customer.boss: 0',
    'note.code: 0',
    'orders.customer_id: 1',
    'orders.paid_by: 1'
  ])
  t.strictSame(dataOf(await admin.get(`${url('customer')}/data/1/referring`))[1], {
    table: 'note',
    fields: ['code'],
    targetFields: ['code'],
    count: 1
  })
  t.strictSame(await counts('orders', '1'), [], 'nothing refers to orders')
})

t.test('a composite key in the path and in a foreign key', async (t) => {
  t.strictSame(await counts('line', '1,pen'), ['parcel.o,s: 2'])
  t.strictSame(await counts('line', '1,ink%2Cred'), ['parcel.o,s: 0'])
  t.strictSame(await counts('line', encodeURIComponent('1,pen')), ['parcel.o,s: 2'])
})

t.test('each count is that of the filter by the same value', async (t) => {
  for (const code of ['1', '01']) {
    const [row] = dataOf(await token.get(`/data/label/records/${code}/referring`))
    const filter = { where: { label: { eq: Number(code) } } }
    const found = dataOf(await token.post('/data/labelled/query', { filter, total: true }))
    t.equal(row.count, found.total)
  }
})

t.test('a token counts only what it can read', async (t) => {
  const some = await asToken(app, admin, { tables: ['customer', 'orders'], actions: ['read'] })
  t.strictSame(
    await counts('customer', '1', some),
    toAnn.filter((text) => !text.startsWith('note'))
  )
  await admin.put(url('orders'), { fields: [{ name: 'paid_by', isHidden: true }] })
  await admin.put(url('customer'), { fields: [{ name: 'code', isHidden: true }] })
  t.strictSame(await counts('customer', '1'), ['customer.boss: 2', 'orders.customer_id: 2'])
  t.equal(dataOf(await admin.get(`${url('customer')}/data/1/referring`)).length, 4)
  await admin.put(url('orders'), { isPublished: false })
  t.strictSame(await counts('customer', '1'), ['customer.boss: 2'])
  const writer = await asToken(app, admin, { tables: ['*'], actions: ['create'] })
  expectError(t, await writer.get('/data/customer/records/1/referring'), 403, 'ACTION_NOT_ALLOWED')
})

t.test('the record must exist', async (t) => {
  for (const pk of ['9', 'x'])
    expectError(t, await token.get(`/data/customer/records/${pk}/referring`), 404, 'RECORD_NOT_FOUND')
  expectError(t, await token.get('/data/nothing/records/1/referring'), 404, 'TABLE_NOT_FOUND')
})

t.test('what the caller can read is checked again after a wait', async (t) => {
  const permissions = { tables: ['customer', 'note'], actions: ['read' as const] }
  const { id, token: secret } = dataOf(await admin.post('/admin/tokens', { name: 'waiting', permissions }))
  const waiting = client(app, bearer(secret))
  /** Counts, and calls `act` before the first count gets a reader thread. */
  const countAfter = (act: () => Promise<unknown>) => {
    const { scan } = app.database
    app.database.scan = async (statement, caller) => {
      app.database.scan = scan
      await act()
      return scan(statement, caller)
    }
    return waiting.get('/data/customer/records/1/referring')
  }
  await admin.put(url('customer'), { fields: [{ name: 'code', isHidden: false }] })
  t.equal((await countAfter(async () => {})).statusCode, 200)
  const hide = (isHidden: boolean) => admin.put(url('note'), { fields: [{ name: 'code', isHidden }] })
  expectError(t, await countAfter(() => hide(true)), 409, 'TABLE_CHANGED')
  await hide(false)
  const narrow = { permissions: { ...permissions, tables: ['customer'] } }
  expectError(t, await countAfter(() => admin.put(`/admin/tokens/${id}`, narrow)), 409, 'TABLE_CHANGED')
})

t.test('a table whose choices cannot be read is left out', async (t) => {
  const other = openServed(t, file)
  other.exec("UPDATE _rowhouse_tables SET choices = '{' WHERE name = 'note'")
  while ((await token.get('/data/note')).statusCode === 200) await new Promise((done) => setTimeout(done, 50))
  t.strictSame(await counts('customer', '1'), ['customer.boss: 2'])
})
