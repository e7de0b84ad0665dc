import t, { type Test } from 'tap'
import type { ErrorCode } from '../../schemas/error.ts'
import {
  asAdmin,
  asToken,
  bearer,
  client,
  createDatabase,
  createTable,
  dataOf,
  expectError,
  importTable,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { onlyOnFile, RANDOM_DEFAULT } from '../served.ts'

const file = createDatabase(
  t,
  `CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT NOT NULL, total REAL DEFAULT 0, secret TEXT DEFAULT 'hidden');
   CREATE TABLE lines (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders (id), sku TEXT,
     n INTEGER CHECK (n >= 0), UNIQUE (order_id, sku));
   CREATE TABLE stock (sku TEXT PRIMARY KEY NOT NULL, n INTEGER, color TEXT) WITHOUT ROWID;
   CREATE TABLE places (a TEXT, b INTEGER, n INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
   CREATE TABLE untyped (k PRIMARY KEY, n INTEGER);
   CREATE TABLE copies (id INTEGER PRIMARY KEY, k);
   CREATE TABLE logged (id INTEGER PRIMARY KEY, name TEXT, changes INTEGER DEFAULT 0);
   CREATE TRIGGER counted AFTER INSERT ON logged BEGIN UPDATE logged SET changes = 1 WHERE id = new.id; END;
   CREATE TRIGGER refused BEFORE UPDATE OF name ON logged WHEN new.name = 'ignore' BEGIN SELECT RAISE(IGNORE); END;
   CREATE TABLE unused (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
   CREATE TABLE defaults (id INTEGER PRIMARY KEY, code TEXT UNIQUE DEFAULT 'x', n INTEGER DEFAULT 1);
   CREATE TABLE single (k TEXT PRIMARY KEY NOT NULL DEFAULT 'only') WITHOUT ROWID;
   CREATE TABLE computed (a TEXT NOT NULL DEFAULT (lower(hex(randomblob(8)))), b TEXT NOT NULL DEFAULT word, v UNIQUE,
     PRIMARY KEY (a, b)) WITHOUT ROWID;
   CREATE TRIGGER changed AFTER INSERT ON computed WHEN new.v = 1 BEGIN UPDATE computed SET v = 2 WHERE a = new.a; END;
   CREATE TRIGGER removed AFTER INSERT ON computed WHEN new.v = 7 BEGIN DELETE FROM computed WHERE a = new.a; END;
   CREATE TRIGGER skipped BEFORE INSERT ON computed WHEN new.v = 8 BEGIN SELECT RAISE(IGNORE); END;
   CREATE TABLE expressed (a TEXT NOT NULL DEFAULT (lower('A')), b TEXT NOT NULL DEFAULT word, v UNIQUE,
     PRIMARY KEY (a, b)) WITHOUT ROWID;
   CREATE TABLE marks (id INTEGER PRIMARY KEY, "what?" TEXT, n INTEGER, code TEXT UNIQUE);
   CREATE TABLE lenient (id INTEGER PRIMARY KEY, code TEXT UNIQUE ON CONFLICT IGNORE);
   CREATE VIEW big AS SELECT * FROM stock WHERE n > 100;
   INSERT INTO stock VALUES ('cup', 10, 'red'), ('mug', 20, 'red'), ('jar', 30, 'blue');
   INSERT INTO logged VALUES (1, 'one', 0);
   CREATE TABLE many (id INTEGER PRIMARY KEY, n INTEGER, m INTEGER);
   CREATE INDEX many_n ON many (n);
   INSERT INTO many SELECT value, value % 1000, value FROM generate_series(1, 100001);`.replace(
    'SELECT value, value % 1000, value FROM generate_series(1, 100001)',
    `WITH i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 100001) SELECT i, i % 1000, i FROM i`
  )
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const NAMES = [
  'orders',
  'lines',
  'stock',
  'places',
  'untyped',
  'copies',
  'logged',
  'big',
  'many',
  'defaults',
  'single',
  'computed',
  'expressed',
  'marks',
  'lenient'
]
const ids = new Map<string, number>()
for (const name of NAMES) ids.set(name, (await importTable(admin, name)).id)
dataOf(await admin.put(`/admin/tables/${ids.get('orders')}`, { fields: [{ name: 'secret', isHidden: true }] }))
const token = await asToken(app, admin)

type Input = Readonly<Record<string, unknown>>

const batch = (...operations: readonly Input[]) => token.post('/data/_batch', { operations })
const results = async (...operations: readonly Input[]) => dataOf(await batch(...operations)).results
const rowsOf = async (table: string, query = '') => dataOf(await token.get(`/data/${table}?size=100${query}`)).rows
const pathsOf = (response: TestResponse) => response.json().error.details.map(({ path }: { path: string }) => path)

const refuse = async (t: Test, operations: readonly Input[], status: number, code: ErrorCode, ...paths: string[]) => {
  const response = await batch(...operations)
  expectError(t, response, status, code)
  t.strictSame(pathsOf(response), paths)
  return response.json().error
}

t.test('an upsert by fields that are not unique names them in the operation', async (t) => {
  const upsert = { op: 'upsert', table: 'stock', on: ['n'], values: { sku: 'cap', n: 1 } }
  await refuse(t, [upsert], 400, 'VALIDATION_FAILED', '/operations/0', '/operations/0/on')
  t.match(await results({ ...upsert, on: ['sku'] }), [{ created: true }])
  await results({ op: 'delete', table: 'stock', pk: 'cap' })
})

t.test('an increment in a batch has the data of the single call', async (t) => {
  const increment = { pk: 'cup', field: 'n', count: 0 }
  const single = dataOf(await token.post('/data/stock/incr', increment))
  t.strictSame(await results({ op: 'incr', table: 'stock', ...increment }), [single])
})

t.test('each operation has the result of the single call', async (t) => {
  t.strictSame(
    await results(
      { op: 'create', table: 'orders', values: { customer: 'Ann' } },
      { op: 'update', table: 'ORDERS', pk: 1, values: { total: 5 } },
      { op: 'upsert', table: 'stock', values: { sku: 'pot', n: 1 } },
      { op: 'upsert', table: 'stock', on: ['sku'], values: { sku: 'pot', n: 2 } },
      { op: 'incr', table: 'stock', pk: 'pot', field: 'n' },
      { op: 'incr', table: 'stock', pk: 'pot', field: 'n', count: -2 },
      { op: 'delete', table: 'stock', pk: 'mug' },
      { op: 'create', table: 'logged', values: { name: 'two' } }
    ),
    [
      { id: 1, customer: 'Ann', total: 0 },
      { success: true },
      { created: true, record: { sku: 'pot', n: 1, color: null } },
      { created: false, record: { sku: 'pot', n: 2, color: null } },
      { success: true },
      { success: true },
      { success: true },
      { id: 2, name: 'two', changes: 1 }
    ]
  )
  t.match(await rowsOf('stock'), [{ sku: 'cup' }, { sku: 'jar' }, { sku: 'pot', n: 1 }])
  t.match(await rowsOf('orders'), [{ id: 1, total: 5 }])
  t.strictSame(await results(), [], 'no operation')
})

t.test('a batch has all effects or none', async (t) => {
  const before = [await rowsOf('orders'), await rowsOf('stock'), await rowsOf('lines')]
  const valid = [
    { op: 'create', table: 'orders', values: { customer: 'Bob' } },
    { op: 'incr', table: 'stock', pk: 'cup', field: 'n', count: 5 },
    { op: 'delete', table: 'stock', pk: 'jar' }
  ]
  const at = '/operations/3'
  const values = { order_id: 1, sku: 'cup', n: 1 }
  await refuse(
    t,
    [...valid, { op: 'create', table: 'orders', values: {} }],
    400,
    'VALIDATION_FAILED',
    at,
    `${at}/values/customer`
  )
  await refuse(
    t,
    [...valid, { op: 'update', table: 'orders', pk: 99, values: { total: 1 } }],
    404,
    'RECORD_NOT_FOUND',
    at
  )
  await refuse(t, [...valid, { op: 'delete', table: 'stock', pk: 'cap' }], 404, 'RECORD_NOT_FOUND', at)
  await refuse(t, [...valid, { op: 'incr', table: 'stock', pk: 'cup', field: 'color' }], 400, 'NOT_INCREMENTABLE', at)
  await refuse(
    t,
    [...valid, { op: 'incr', table: 'stock', pk: 'cup', field: 'n', count: 0.5 }],
    400,
    'VALIDATION_FAILED',
    at,
    `${at}/count`
  )
  await refuse(
    t,
    [...valid, { op: 'create', table: 'lines', values: { ...values, n: -1 } }],
    400,
    'CONSTRAINT_VIOLATION',
    at,
    `${at}/values/n`
  )
  await refuse(
    t,
    [...valid, { op: 'create', table: 'lines', values: { ...values, order_id: 77 } }],
    409,
    'FOREIGN_KEY_VIOLATION',
    at,
    `${at}/values/order_id`
  )
  await refuse(
    t,
    [...valid, { op: 'create', table: 'lines', values }, { op: 'create', table: 'lines', values }],
    409,
    'UNIQUE_VIOLATION',
    '/operations/4',
    '/operations/4/values/order_id',
    '/operations/4/values/sku'
  )
  await refuse(
    t,
    [...valid, { op: 'update', table: 'logged', pk: 1, values: { name: 'ignore' } }],
    409,
    'REFUSED_BY_TRIGGER',
    at
  )
  await refuse(t, [...valid, { op: 'create', table: 'nowhere', values: {} }], 404, 'TABLE_NOT_FOUND', at)
  await refuse(t, [...valid, { op: 'delete', table: 'big', pk: '1' }], 403, 'TABLE_READ_ONLY', at)
  t.strictSame([await rowsOf('orders'), await rowsOf('stock'), await rowsOf('lines')], before)
  t.equal((await batch(...valid)).statusCode, 200)
})

t.test('a key is a text, a number, a list or an object', async (t) => {
  const place = { a: 'x,y', b: 1, n: 0 }
  dataOf(await token.post('/data/places/records', place))
  dataOf(await token.post('/data/single/records', { k: 'true' }))
  const incr = (pk: unknown) => ({ op: 'incr', table: 'places', pk, field: 'n' })
  const url = `/data/places/records/${['x,y', '1'].map(encodeURIComponent).join()}`
  const forms = ['x%2Cy,1', ['x,y', 1], ['x,y', '1'], { a: 'x,y', b: 1 }, { b: '1', a: 'x,y' }]
  await results(...forms.map(incr))
  for (const pk of forms) dataOf(await token.post('/data/places/incr', { pk, field: 'n' }))
  t.equal(dataOf(await token.get(url)).n, 10)
  await results(
    { op: 'update', table: 'places', pk: { a: 'x,y', b: 1 }, values: { n: 1 } },
    { op: 'delete', table: 'places', pk: ['x,y', 1] },
    { op: 'delete', table: 'single', pk: [true] }
  )
  expectError(t, await token.get(url), 404, 'RECORD_NOT_FOUND')

  const at = '/operations/0'
  const twoFields = "'pk' must have a value for each of the 2 fields of the key, and no other."
  const oneField = "'pk' must have a value for the field of the key, and no other."
  const anyForm = "'pk' must be a string, a number, a list of them, or an object with the fields of the key."
  for (const [table, pk, message] of [
    ['places', ['x,y'], twoFields],
    ['places', ['x,y', 1, 2], twoFields],
    ['places', [], twoFields],
    ['places', { a: 'x,y' }, twoFields],
    ['places', { a: 'x,y', c: 1 }, twoFields],
    ['places', { a: 'x,y', b: 1, n: 1 }, twoFields],
    ['single', {}, oneField],
    ['single', { secret: 1 }, oneField],
    ['places', ['x,y', null], anyForm],
    ['places', [['x,y'], 1], anyForm],
    ['single', null, anyForm]
  ] as const) {
    const { details } = await refuse(t, [{ op: 'delete', table, pk }], 400, 'VALIDATION_FAILED', at, `${at}/pk`)
    t.ok(
      details.some((detail: { message: string }) => detail.message === message),
      JSON.stringify(details)
    )
  }
  await refuse(t, [{ op: 'delete', table: 'places', pk: ['x', 2 ** 60] }], 400, 'VALIDATION_FAILED', at, `${at}/pk`)
})

t.test('a value of an earlier result is exact', async (t) => {
  const id = '9223372036854775807'
  const last = (field: string) => ({ $result: 0, field })
  t.match(
    await results(
      { op: 'create', table: 'orders', values: { id, customer: '' } },
      { op: 'create', table: 'lines', values: { id: last('id'), order_id: last('id'), sku: last('customer') } },
      { op: 'update', table: 'orders', pk: last('id'), values: { customer: 'Eva' } }
    ),
    [{ id }, { id, order_id: id, sku: '' }, { success: true }]
  )
  const [, copy] = await results(
    { op: 'create', table: 'untyped', values: { k: 5, n: 1 } },
    { op: 'create', table: 'copies', values: { k: last('k') } },
    { op: 'delete', table: 'lines', pk: id },
    { op: 'delete', table: 'orders', pk: id }
  )
  t.strictSame(copy, { id: 1, k: 5 }, 'an integer in a field without a type stays an integer')
  t.equal((await token.get('/data/copies/records/1')).body, '{"success":true,"data":{"id":1,"k":5}}')
})

t.test('a value or a key can be that of an earlier result', async (t) => {
  const [order, line, , upserted] = await results(
    { op: 'create', table: 'orders', values: { customer: 'Eve' } },
    { op: 'create', table: 'lines', values: { order_id: { $result: 0, field: 'id' }, sku: 'a', n: 1 } },
    { op: 'incr', table: 'lines', pk: { $result: 1, field: 'id' }, field: 'n', count: 4 },
    { op: 'upsert', table: 'stock', values: { sku: { $result: 1, field: 'sku' }, n: { $result: 1, field: 'n' } } },
    { op: 'update', table: 'stock', pk: { $result: 3, field: 'sku' }, values: { color: { $result: 1, field: 'sku' } } },
    { op: 'create', table: 'logged', values: { name: { $result: 0, field: 'customer' } } },
    {
      op: 'update',
      table: 'orders',
      pk: { $result: 0, field: 'id' },
      values: { customer: { $result: 5, field: 'name' } }
    },
    { op: 'upsert', table: 'logged', on: ['id'], values: { id: { $result: 5, field: 'id' }, name: 'Eva' } }
  )
  t.equal(line.order_id, order.id)
  t.strictSame(upserted.record, { sku: 'a', n: 1, color: null })
  t.match(dataOf(await token.get(`/data/lines/records/${line.id}`)), { n: 5 })
  t.match(dataOf(await token.get('/data/stock/records/a')), { color: 'a' })
  t.match(await rowsOf('logged', '&q=Ev'), [{ name: 'Eva', changes: 1 }])
  t.match(
    await results(
      { op: 'create', table: 'stock', values: { sku: 'gone' } },
      { op: 'delete', table: 'stock', pk: { $result: 0, field: 'sku' } }
    ),
    [{ sku: 'gone' }, { success: true }]
  )

  const first = { op: 'create', table: 'orders', values: { customer: 'x' } }
  const at = '/operations/1'
  const line1 = (order_id: unknown, sku: unknown = 'x') => ({ op: 'create', table: 'lines', values: { order_id, sku } })
  const bad = (path: string, ...operations: readonly Input[]) =>
    refuse(t, operations, 400, 'VALIDATION_FAILED', path.split('/', 3).join('/'), path)
  await bad(`${at}/values/order_id`, first, line1({ $result: 1, field: 'id' }))
  await bad(`${at}/values/order_id`, first, line1({ $result: 2, field: 'id' }), first)
  await bad(`${at}/values/order_id`, first, line1({ $result: '0', field: 'id' }))
  await bad(`${at}/values/order_id`, first, line1({ $result: 0 }))
  await bad(`${at}/values/order_id`, first, line1({ $result: 0, field: 'id', more: 1 }))
  await bad(`${at}/values/order_id`, first, line1({ $result: 0, field: 'nothing' }))
  await bad(`${at}/values/order_id`, first, line1({ $result: 0, field: 'secret' }))
  await bad(`${at}/values/order_id`, first, line1({ $result: 0, field: 'customer' }))
  await bad(
    `${at}/values/order_id`,
    { op: 'incr', table: 'stock', pk: 'cup', field: 'n' },
    line1({ $result: 0, field: 'n' })
  )
  await bad(`${at}/values/order_id`, { ...first, onConflict: 'ignore' }, line1({ $result: 0, field: 'id' }))
  await bad(`${at}/pk`, first, { op: 'delete', table: 'stock', pk: { $result: 0, field: 'id' } })
  await bad(`${at}/pk`, first, { op: 'delete', table: 'places', pk: { $result: 0, field: 'id' } })
  await bad(`${at}/pk`, first, { op: 'delete', table: 'untyped', pk: { $result: 0, field: 'id' } })
  await bad(`${at}/pk`, first, { op: 'delete', table: 'stock', pk: [['x']] })
  await bad(`${at}/values/sku`, first, {
    op: 'update',
    table: 'stock',
    pk: 'cup',
    values: { sku: { $result: 0, field: 'customer' }, n: 1 }
  })
  await refuse(
    t,
    [first, { op: 'delete', table: 'lines', pk: { $result: 0, field: 'id' } }],
    404,
    'RECORD_NOT_FOUND',
    at
  )
  await refuse(
    t,
    [
      first,
      { op: 'create', table: 'lines', values: { order_id: { $result: 0, field: 'id' }, sku: 'x' } },
      { op: 'delete', table: 'orders', pk: { $result: 0, field: 'id' } }
    ],
    409,
    'FOREIGN_KEY_VIOLATION',
    '/operations/2'
  )
  await bad('/operations/0/values/customer', { ...first, values: { customer: { $result: 0, field: 'customer' } } })
})

t.test('a later operation uses a key that SQLite computes', onlyOnFile(RANDOM_DEFAULT), async (t) => {
  const computed = (values: object) => ({ op: 'create' as const, table: 'computed', values })
  const copy = (field: string) => ({
    op: 'create' as const,
    table: 'marks',
    values: { 'what?': { $result: 0, field } }
  })
  const [created, ...copies] = await results(computed({ v: 1 }), copy('a'), copy('b'))
  t.match(created, { a: /^[0-9a-f]{16}$/, b: 'word', v: 2 }, 'the record after its triggers')
  t.match(copies, [{ 'what?': created.a }, { 'what?': 'word' }])
  const upsert = { op: 'upsert' as const, table: 'computed', on: ['v'], values: { v: null } }
  const [upserted, , other] = await results(upsert, copy('b'), copy('a'))
  t.match(upserted, { created: true, record: { v: null } })
  t.equal(other['what?'], upserted.record.a)
  await refuse(t, [computed({ v: 7 }), copy('a')], 409, 'REFUSED_BY_TRIGGER', '/operations/0')
  await refuse(t, [computed({ v: 8 }), copy('a')], 409, 'REFUSED_BY_TRIGGER', '/operations/0')
  await refuse(t, [{ ...upsert, values: { v: 8 } }, copy('a')], 409, 'REFUSED_BY_TRIGGER', '/operations/0')
  t.match(await results(computed({ a: 'sent', v: 3 }), copy('a')), [{ a: 'sent' }, { 'what?': 'sent' }])
})

t.test('a repeated batch has the results of the first one', async (t) => {
  const operations = [
    { op: 'create', table: 'logged', values: { name: 'first' } },
    { op: 'create', table: 'logged', values: { name: 'second' }, onConflict: 'ignore' },
    { op: 'create', table: 'expressed', values: { v: 21 } },
    { op: 'create', table: 'expressed', values: { v: 22, b: 'x' }, onConflict: 'ignore' },
    { op: 'create', table: 'expressed', values: { v: 22 }, onConflict: 'ignore' },
    { op: 'upsert', table: 'marks', on: ['code'], values: { code: 'receipt', n: 1 } },
    { op: 'upsert', table: 'marks', on: ['code'], values: { code: 'receipt', n: { $result: 0, field: 'changes' } } },
    { op: 'upsert', table: 'marks', on: ['code'], values: { code: null } },
    { op: 'create', table: 'marks', values: { n: 1 } },
    { op: 'upsert', table: 'marks', on: ['code'], values: { code: { $result: 8, field: 'code' }, n: 2 } },
    { op: 'upsert', table: 'marks', on: ['code'], values: { code: { $result: 5, field: 'code' }, n: 3 } },
    { op: 'update', table: 'logged', pk: { $result: 0, field: 'id' }, values: { changes: 9 } },
    { op: 'update', table: 'marks', filter: { where: { code: { eq: 'receipt' } } }, maxAffected: 5, values: { n: 7 } },
    { op: 'incr', table: 'logged', pk: { $result: 0, field: 'id' }, field: 'changes' },
    { op: 'delete', table: 'marks', filter: { where: { code: { eq: 'receipt' } } }, maxAffected: 5 },
    { op: 'delete', table: 'logged', pk: { $result: 0, field: 'id' } }
  ]
  const keyed = client(app, { ...token.headers, 'idempotency-key': 'all operations' })
  const first = await keyed.post('/data/_batch', { operations })
  const [created, second, , , ignored] = dataOf(first).results
  t.match(created, { name: 'first', changes: 1 })
  t.match(second, { name: 'second', changes: 1 }, 'the record after its triggers')
  t.strictSame(ignored, { ignored: true })
  t.match(dataOf(first).results.slice(9, 11), [
    { created: true, record: { code: null, n: 2 } },
    { created: false, record: { code: 'receipt', n: 3 } }
  ])
  const again = await keyed.post('/data/_batch', { operations })
  t.equal(again.headers['idempotency-replayed'], 'true')
  t.equal(again.body, first.body)
})

t.test('a value of an earlier result may be NULL, and names may have a question mark', async (t) => {
  const first = { op: 'create' as const, table: 'marks', values: { 'what?': '?' } }
  const [created, copy] = await results(first, {
    op: 'upsert',
    table: 'marks',
    on: ['code'],
    values: { 'what?': { $result: 0, field: 'what?' }, n: { $result: 0, field: 'n' }, code: 'c?' }
  })
  t.match(copy, { created: true, record: { 'what?': '?', n: null } })
  const key = { $result: 0, field: 'id' }
  const update = { op: 'update' as const, table: 'marks', pk: key, values: { 'what?': 'x', n: 3 } }
  const incr = { op: 'incr' as const, table: 'marks', pk: key, field: 'n' }
  await results({ ...first, values: { id: 900, code: 'z' } }, update, incr)
  const [, unnamed, changed] = await results(
    first,
    {
      op: 'upsert',
      table: 'marks',
      on: ['code'],
      values: { code: { $result: 0, field: 'code' }, n: 8 }
    },
    { op: 'update', table: 'marks', pk: { $result: 1, field: 'id' }, values: { n: 9 } }
  )
  t.match([unnamed, changed], [{ created: true, record: { code: null, n: 8 } }, { success: true }])
  const byId = async (id: number) => (await rowsOf('marks')).find((row: { readonly id: number }) => row.id === id)
  t.match(await byId(900), { 'what?': 'x', n: 4 })
  t.ok(created.id < 900)
  // A unique NULL conflicts with nothing: each upsert creates a record.
  const upsert = { op: 'upsert' as const, table: 'marks', on: ['code'], values: { code: null } }
  const [one, two] = await results(upsert, { ...update, values: { n: 5 } })
  t.match([one, two], [{ created: true }, { success: true }])
  t.match(await byId(one.record.id), { n: 5 })
})

t.test('a `$result` is neither a part of an object nor a value of another type', async (t) => {
  const fields = ['o:object', 'l:array', 'n:integer'].map((field) => field.split(':'))
  await createTable(admin, { name: 'docs', fields: fields.map(([name, jsonType]) => ({ name, jsonType }) as never) })
  const first = { op: 'create', table: 'docs', values: { o: { a: 1 }, l: [1] } }
  const second = (o: unknown) => ({ op: 'create', table: 'docs', values: { o } })
  const nested = { a: { $result: 0, field: 'n' } }
  t.match(await results(first, second({ $result: 0, field: 'o' }), second(nested)), [
    {},
    { o: { a: 1 } },
    { o: nested }
  ])
  const path = '/operations/1/values/o'
  await refuse(t, [first, second({ $result: 0, field: 'l' })], 400, 'VALIDATION_FAILED', '/operations/1', path)
  const required = { op: 'create', table: 'orders', values: { customer: { $result: 0, field: 'color' } } }
  const sku = { op: 'create', table: 'stock', values: { sku: 'plain' } }
  const customer = '/operations/1/values/customer'
  await refuse(t, [sku, required], 400, 'CONSTRAINT_VIOLATION', '/operations/1', customer)
})

t.test('a field named `__proto__` is not ignored', async (t) => {
  const order = '{"op":"create","table":"orders","values":{"customer":"x"}}'
  for (const values of ['{"sku":"p","__proto__":"x"}', '{"sku":"p","__proto__":{"$result":0,"field":"customer"}}']) {
    const payload = `{"operations":[${order},{"op":"create","table":"stock","values":${values}}]}`
    const headers = { ...token.headers, 'content-type': 'application/json' }
    const response = await app.inject({ method: 'POST', url: '/data/_batch', headers, payload })
    expectError(t, response, 400, 'VALIDATION_FAILED')
    t.strictSame(pathsOf(response), ['/operations/1', '/operations/1/values/__proto__'])
  }
})

t.test('a change that an earlier operation makes impossible finds no record', async (t) => {
  await results({ op: 'create', table: 'defaults', values: { id: 50, code: 'y' } })
  const remove = { op: 'delete', table: 'defaults', pk: 50 }
  const largest = { op: 'update', table: 'defaults', pk: 50, values: { n: '9223372036854775807' } }
  const incr = { op: 'incr', table: 'defaults', pk: 50, field: 'n' }
  const at = '/operations/1'
  await refuse(t, [remove, remove], 404, 'RECORD_NOT_FOUND', at)
  await refuse(t, [remove, largest], 404, 'RECORD_NOT_FOUND', at)
  await refuse(t, [remove, incr], 404, 'RECORD_NOT_FOUND', at)
  await refuse(t, [largest, incr], 404, 'RECORD_NOT_FOUND', at)
  await refuse(t, [{ ...incr, field: 'code' }], 400, 'NOT_INCREMENTABLE', '/operations/0')
  t.strictSame(await results(incr, remove), [{ success: true }, { success: true }])
  const ignored = { op: 'create', table: 'lenient', values: { code: 'a' } }
  await refuse(t, [ignored, ignored], 409, 'UNIQUE_VIOLATION', at, `${at}/values/code`)
})

t.test('of two batches that upsert the same new key, one creates the record', async (t) => {
  const upsert = (n: number) => batch({ op: 'upsert', table: 'stock', values: { sku: 'race', n } })
  const responses = await Promise.all(Array.from({ length: 20 }, (_, n) => upsert(n)))
  const created = responses.map((response) => dataOf(response).results[0].created)
  t.equal(created.filter(Boolean).length, 1)
  dataOf(await token.delete('/data/stock/records/race'))
})

t.test('the last of 1,000 operations can fail', async (t) => {
  const before = dataOf(await token.get('/data/orders')).total
  const create = { op: 'create', table: 'orders', values: { customer: 'x' } }
  const operations = Array.from({ length: 999 }, () => create)
  await refuse(
    t,
    [...operations, { op: 'delete', table: 'stock', pk: 'none' }],
    404,
    'RECORD_NOT_FOUND',
    '/operations/999'
  )
  t.equal(dataOf(await token.get('/data/orders')).total, before)
})

t.test('a key can be a number, or the text of several fields', async (t) => {
  await results(
    { op: 'create', table: 'places', values: { a: 'x,y', b: 1, n: 1 } },
    { op: 'incr', table: 'places', pk: 'x%2Cy,1', field: 'n' },
    { op: 'update', table: 'places', pk: 'x%2Cy,1', values: { n: 7 } }
  )
  t.strictSame(await rowsOf('places'), [{ a: 'x,y', b: 1, n: 7 }])
  await refuse(
    t,
    [{ op: 'delete', table: 'orders', pk: 2 ** 53 }],
    400,
    'VALIDATION_FAILED',
    '/operations/0',
    '/operations/0/pk'
  )
  t.match(await results({ op: 'delete', table: 'places', pk: 'x%2Cy,1' }), [{ success: true }])
})

t.test('a create can ignore a conflict', async (t) => {
  const create = (values: object, onConflict?: string) => ({
    op: 'create',
    table: 'stock',
    values,
    ...(onConflict && { onConflict })
  })
  const before = dataOf(await token.get('/data/stock')).total
  t.strictSame(await results(create({ sku: 'cup', n: 99 }, 'ignore'), create({ sku: 'new', n: 1 }, 'ignore')), [
    { ignored: true },
    { sku: 'new', n: 1, color: null }
  ])
  t.match(dataOf(await token.get('/data/stock')), { total: before + 1 })
  t.equal(dataOf(await token.get('/data/stock/records/cup')).n !== 99, true)
  t.match(await results({ op: 'create', table: 'logged', values: {}, onConflict: 'ignore' }), [{ name: null }])
  const empty = { op: 'create', table: 'defaults', values: {}, onConflict: 'ignore' }
  t.strictSame(await results(empty, empty), [{ id: 1, code: 'x', n: 1 }, { ignored: true }])
  t.match(await results({ ...empty, table: 'single' }), [{ k: 'only' }])
  await refuse(
    t,
    [create({ sku: 'cup' }, 'error')],
    409,
    'UNIQUE_VIOLATION',
    '/operations/0',
    '/operations/0/values/sku'
  )
  await refuse(
    t,
    [{ op: 'create', table: 'lines', values: { order_id: 1, n: -1 }, onConflict: 'ignore' }],
    400,
    'CONSTRAINT_VIOLATION',
    '/operations/0',
    '/operations/0/values/n'
  )
})

t.test('an update or a delete can take a filter', async (t) => {
  const red = { where: { color: { eq: 'crimson' } } }
  const create = (sku: string) => ({ op: 'create', table: 'stock', values: { sku, n: 1, color: 'crimson' } })
  const total = async () => dataOf(await token.get('/data/stock')).total
  const before = await total()
  t.strictSame(
    (
      await results(create('f1'), create('f2'), {
        op: 'update',
        table: 'stock',
        filter: red,
        maxAffected: 2,
        values: { n: 5 }
      })
    )[2],
    { success: true, affected: 2 }
  )
  t.match(await rowsOf('stock', '&q=crimson'), [{ n: 5 }, { n: 5 }])
  const at = '/operations/0'
  await refuse(
    t,
    [{ op: 'update', table: 'stock', filter: red, maxAffected: 1, values: { n: 6 } }],
    409,
    'TOO_MANY_AFFECTED',
    at
  )
  await refuse(t, [{ op: 'delete', table: 'stock', filter: red, maxAffected: 1 }], 409, 'TOO_MANY_AFFECTED', at)
  t.match(await rowsOf('stock', '&q=crimson'), [{ n: 5 }, { n: 5 }])
  t.strictSame(await results({ op: 'delete', table: 'stock', filter: red, maxAffected: 10 }), [
    { success: true, affected: 2 }
  ])
  t.strictSame(await results({ op: 'delete', table: 'stock', filter: red, maxAffected: 10 }), [
    { success: true, affected: 0 }
  ])
  t.equal(await total(), before)

  await refuse(
    t,
    [{ op: 'update', table: 'stock', filter: red, values: { n: 1 } }],
    400,
    'VALIDATION_FAILED',
    at,
    `${at}/maxAffected`
  )
  await refuse(
    t,
    [{ op: 'update', table: 'stock', pk: 'cup', filter: red, maxAffected: 1, values: { n: 1 } }],
    400,
    'VALIDATION_FAILED',
    at,
    `${at}/pk`
  )
  await refuse(
    t,
    [{ op: 'delete', table: 'stock', filter: { where: { colour: { eq: 1 } } }, maxAffected: 1 }],
    400,
    'VALIDATION_FAILED',
    at,
    `${at}/filter/where/colour`
  )
  await refuse(
    t,
    [{ op: 'update', table: 'stock', filter: red, maxAffected: 1, values: { sku: 'x' } }],
    400,
    'VALIDATION_FAILED',
    at,
    `${at}/values/sku`
  )
  await refuse(
    t,
    [{ op: 'update', table: 'stock', filter: red, maxAffected: 1, values: {} }],
    400,
    'VALIDATION_FAILED',
    at,
    `${at}/values`
  )
  await refuse(
    t,
    [{ op: 'update', table: 'lines', filter: {}, maxAffected: 100, values: { n: -1 } }],
    400,
    'CONSTRAINT_VIOLATION',
    at,
    `${at}/values/n`
  )
  await refuse(t, [{ op: 'delete', table: 'orders', filter: {}, maxAffected: 100 }], 409, 'FOREIGN_KEY_VIOLATION', at)
  await refuse(t, [{ op: 'delete', table: 'big', filter: {}, maxAffected: 100 }], 403, 'TABLE_READ_ONLY', at)
})

t.test('a filter without an index reads all records, and each of its conditions counts', async (t) => {
  const change = (filter: object) => ({ op: 'update', table: 'many', filter, maxAffected: 200, values: { m: 7 } })
  t.strictSame(await results(change({ where: { n: { eq: 7 } } })), [{ success: true, affected: 100 }])
  t.strictSame(await results(change({ where: { m: { eq: 7 } } })), [{ success: true, affected: 100 }])
  const any = Array.from({ length: 9 }, (_, index) => ({ where: { m: { eq: index } } }))
  const { hint } = await refuse(t, [change({ any })], 409, 'FILTER_NOT_INDEXED', '/operations/0')
  t.match(hint, /^Query the records/)
  await refuse(t, [change({ where: { m: { ne: 1 } }, any })], 409, 'FILTER_NOT_INDEXED', '/operations/0')
  const { hint: index } = await refuse(
    t,
    [change({ where: { m: { eq: 7 } }, any })],
    409,
    'FILTER_NOT_INDEXED',
    '/operations/0'
  )
  t.match(index, /^Create an index on 'm'/)

  const grants = [{ tables: ['many'], actions: ['read', 'update'], rows: { where: { m: { gte: 0 } } } }]
  dataOf(await admin.post('/admin/roles', { name: 'of many', grants }))
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'key', role: 'of many' }))
  const limited = await client(app, bearer(token)).post('/data/_batch', { operations: [change({ any })] })
  expectError(t, limited, 409, 'FILTER_NOT_INDEXED')
  t.match(limited.json().error.message, /has many records/)
})

t.test('an operation takes its own members only', async (t) => {
  const at = '/operations/0'
  const invalid = (operation: Input, ...names: string[]) =>
    refuse(t, [operation], 400, 'VALIDATION_FAILED', at, ...names.map((name) => `${at}/${name}`))
  await invalid({ op: 'create', table: 'stock' }, 'values')
  expectError(t, await token.post('/data/_batch', {}), 400, 'VALIDATION_FAILED', '/operations')
  await invalid({ op: 'create', table: 'stock', pk: '1', values: { sku: 'x' } }, 'pk')
  await invalid({ op: 'create', table: 'stock', values: { sku: 'x' }, filter: {} }, 'filter')
  await invalid({ op: 'update', table: 'stock', values: {} }, 'pk')
  await invalid({ op: 'update', table: 'stock', pk: 'cup', values: { n: 1 }, maxAffected: 1 }, 'maxAffected')
  await invalid({ op: 'delete', table: 'stock' }, 'pk')
  await invalid({ op: 'incr', table: 'stock', pk: 'cup' }, 'field')
  await invalid({ op: 'upsert', table: 'stock', values: { sku: 'x' }, onConflict: 'ignore' }, 'onConflict')
  const closed = await batch({ op: 'merge', table: 'stock', values: {} })
  expectError(t, closed, 400, 'VALIDATION_FAILED', '/operations/0/op')
})

t.test('a batch is bounded', async (t) => {
  const incr = { op: 'incr', table: 'stock', pk: 'cup', field: 'n' }
  const { n } = dataOf(await token.get('/data/stock/records/cup'))
  t.equal((await batch(...Array.from({ length: 1000 }, () => incr))).statusCode, 200)
  t.match(dataOf(await token.get('/data/stock/records/cup')), { n: n + 1000 })
  expectError(t, await batch(...Array.from({ length: 1001 }, () => incr)), 413, 'TOO_MANY_OPERATIONS')
  const note = 'x'.repeat(2 ** 21)
  const large = { op: 'upsert', table: 'stock', values: { sku: 'cup', color: note } }
  t.equal((await batch(large, large)).statusCode, 200, 'more than BODY_LIMIT')
  expectError(t, await batch(...Array.from({ length: 8 }, () => large)), 413, 'BODY_TOO_LARGE')
  const parts = (count: number) => ({
    op: 'create',
    table: 'orders',
    values: { customer: 'x', o: Array.from({ length: count }, () => []) }
  })
  expectError(t, await batch(parts(30_000)), 400, 'VALIDATION_FAILED', '/operations/0')
  expectError(t, await batch(parts(200_000)), 400, 'VALIDATION_FAILED', '')
  const repeated = await app.inject({
    method: 'POST',
    url: '/data/_batch',
    headers: { ...token.headers, 'content-type': 'application/json' },
    payload: '{"operations":[],"operations":[]}'
  })
  expectError(t, repeated, 400, 'VALIDATION_FAILED')
})

t.test('a token needs the right to each operation, and nothing is changed without it', async (t) => {
  const operations: Readonly<Record<string, readonly [Input, readonly string[]]>> = {
    create: [{ op: 'create', table: 'orders', values: { customer: 'x' } }, ['create']],
    ignore: [{ op: 'create', table: 'orders', values: { customer: 'x' }, onConflict: 'ignore' }, ['create']],
    update: [{ op: 'update', table: 'orders', pk: 1, values: { total: 1 } }, ['update']],
    incr: [{ op: 'incr', table: 'orders', pk: 1, field: 'total' }, ['update']],
    delete: [
      { op: 'delete', table: 'stock', filter: { where: { n: { eq: -5 } } }, maxAffected: 1 },
      ['delete', 'read']
    ],
    filter: [{ op: 'update', table: 'stock', filter: {}, maxAffected: 100, values: { n: 1 } }, ['update', 'read']],
    upsert: [{ op: 'upsert', table: 'stock', values: { sku: 'cup', n: 4 } }, ['create', 'update']]
  }
  const ACTIONS = ['read', 'create', 'update', 'delete']
  for (const [name, [operation, needed]] of Object.entries(operations)) {
    for (let mask = 1; mask < 2 ** ACTIONS.length; mask += 1) {
      const actions = ACTIONS.filter((_, bit) => mask & (2 ** bit)) as ('read' | 'create')[]
      const client = await asToken(app, admin, { tables: ['orders', 'stock'], actions })
      const response = await client.post('/data/_batch', { operations: [operation] })
      const isAllowed = needed.every((action) => actions.some((granted) => granted === action))
      t.equal(response.statusCode, isAllowed ? 200 : 403, `${name} with ${actions}`)
      if (!isAllowed) t.equal(response.json().error.details[0].path, '/operations/0')
    }
  }
  const elsewhere = await asToken(app, admin, { tables: ['stock'], actions: ['read', 'write'] })
  const before = await rowsOf('stock')
  const response = await elsewhere.post('/data/_batch', {
    operations: [{ op: 'incr', table: 'stock', pk: 'cup', field: 'n' }, operations.create?.[0]]
  })
  expectError(t, response, 403, 'ACTION_NOT_ALLOWED')
  t.strictSame(await rowsOf('stock'), before)
})

t.test('an upsert shows no more than a token may read', async (t) => {
  const upsert = { op: 'upsert', table: 'stock', values: { sku: 'cup', n: 4 } }
  const fieldsFor = async (...actions: ('read' | 'create' | 'update')[]) => {
    const client = await asToken(app, admin, { tables: ['stock'], actions })
    return Object.keys(dataOf(await client.post('/data/_batch', { operations: [upsert] })).results[0].record)
  }
  t.strictSame(await fieldsFor('create', 'update'), ['sku', 'n'])
  t.strictSame(await fieldsFor('create', 'update', 'read'), ['sku', 'n', 'color'])
})

t.test('tables that are read-only or not published are refused', async (t) => {
  const url = `/admin/tables/${ids.get('places')}`
  const create = { op: 'create', table: 'places', values: { a: 'z', b: 1 } }
  dataOf(await admin.put(url, { isEditable: false }))
  await refuse(t, [create], 403, 'TABLE_READ_ONLY', '/operations/0')
  dataOf(await admin.put(url, { isPublished: false }))
  await refuse(t, [create], 404, 'TABLE_NOT_FOUND', '/operations/0')
  dataOf(await admin.put(url, { isPublished: true, isEditable: true }))
  t.equal((await batch(create)).statusCode, 200)
})

t.test('administrators run batches on all tables, with the hidden fields', async (t) => {
  const run = (...operations: readonly Input[]) => admin.post('/admin/batch', { operations })
  dataOf(await admin.put(`/admin/tables/${ids.get('places')}`, { isPublished: false }))
  const response = await run(
    { op: 'create', table: 'orders', values: { customer: 'Zoe', secret: 's' } },
    { op: 'upsert', table: 'places', on: ['b', 'a'], values: { a: 'q', b: 2 } }
  )
  t.match(dataOf(response).results, [{ secret: 's' }, { created: true, record: { a: 'q', b: 2 } }])
  expectError(t, await run({ op: 'create', table: 'unused', values: {} }), 404, 'TABLE_NOT_FOUND')
  dataOf(await admin.put(`/admin/tables/${ids.get('places')}`, { isPublished: true }))
})

t.test('a token with other integers gets the results in its form', async (t) => {
  const wide = '9007199254740993'
  const issue = async (integers: string) =>
    `Bearer ${dataOf(await admin.post('/admin/tokens', { name: 't', integers, permissions: { tables: ['*'], actions: ['write', 'read'] } })).token}`
  const send = async (integers: string, payload: string) => {
    const headers = { authorization: await issue(integers), 'content-type': 'application/json' }
    return app.inject({ method: 'POST', url: '/data/_batch', headers, payload })
  }
  const operations = (pk: string, n: string) =>
    `{"operations":[{"op":"create","table":"orders","values":{"id":${pk},"customer":"w"}},{"op":"incr","table":"stock","pk":"jug","field":"n","count":${n}},{"op":"delete","table":"orders","pk":${pk}}]}`
  await batch({ op: 'upsert', table: 'stock', values: { sku: 'jug', n: 0 } })
  t.match((await send('number', operations(wide, wide))).body, `"id":${wide},`)
  t.match((await send('string', operations(`"${wide}"`, `"-${wide}"`))).body, `"id":"${wide}",`)
  t.match(dataOf(await token.get('/data/stock/records/jug')), { n: 0 })
})

t.test('an operation can require the entity tag of its record', async (t) => {
  const url = '/data/stock/records/tagged'
  await batch({ op: 'upsert', table: 'stock', values: { sku: 'tagged', n: 1 } })
  const tagOf = async () => String((await token.get(url)).headers.etag)
  const ifMatch = await tagOf()
  const update = { op: 'update', table: 'stock', pk: 'tagged', values: { n: 2 }, ifMatch }
  const incr = { op: 'incr', table: 'stock', pk: 'tagged', field: 'n' }
  await refuse(t, [incr, update], 412, 'PRECONDITION_FAILED', '/operations/1')
  await refuse(t, [{ ...incr, ifMatch: '"other"' }], 412, 'PRECONDITION_FAILED', '/operations/0')
  await refuse(
    t,
    [{ op: 'delete', table: 'stock', pk: 'tagged', ifMatch: `W/${ifMatch}` }],
    412,
    'PRECONDITION_FAILED',
    '/operations/0'
  )
  for (const malformed of ['other', '"x",'.repeat(9)])
    await refuse(t, [{ ...update, ifMatch: malformed }], 400, 'VALIDATION_FAILED', '/operations/0/ifMatch')
  await refuse(t, [{ ...update, ifMatch: '"x",'.repeat(8) }], 412, 'PRECONDITION_FAILED', '/operations/0')
  t.equal((await batch({ ...incr, ifMatch: '"other"' })).headers.etag, ifMatch, 'the present tag')
  t.strictSame(await results(update, { ...incr, ifMatch: '*' }), [{ success: true }, { success: true }])
  t.strictSame(await results({ op: 'delete', table: 'stock', pk: 'tagged', ifMatch: `"other", ${await tagOf()}` }), [
    { success: true }
  ])
})

t.test('a result of an upsert has no field that the token may not read', async (t) => {
  const writer = await asToken(app, admin, { tables: ['stock', 'logged'], actions: ['create', 'update'] })
  await batch({ op: 'upsert', table: 'stock', values: { sku: 'quiet', n: 77 } })
  const copy = (field: string) =>
    writer.post('/data/_batch', {
      operations: [
        { op: 'upsert', table: 'stock', values: { sku: 'quiet', color: 'grey' } },
        { op: 'create', table: 'logged', values: { [field === 'n' ? 'changes' : 'name']: { $result: 0, field } } }
      ]
    })
  expectError(t, await copy('n'), 400, 'VALIDATION_FAILED', '/operations/1')
  t.match(dataOf(await copy('color')).results, [{ record: { sku: 'quiet', color: 'grey' } }, { name: 'grey' }])
})

t.test('a result can be no read-only field of an update, and its reference is checked', async (t) => {
  const url = '/admin/tables'
  dataOf(
    await admin.post(url, {
      name: 'timed',
      label: '',
      autoTimestamps: true,
      fields: [{ name: 'n', jsonType: 'integer' }]
    })
  )
  const first = { op: 'create', table: 'timed', values: { n: 1 } }
  const [{ id }] = await results(first)
  const values = { n: 2, created_at: { $result: 0, field: 'created_at' } }
  const path = '/operations/1/values/created_at'
  await refuse(
    t,
    [first, { op: 'update', table: 'timed', pk: id, values }],
    400,
    'VALIDATION_FAILED',
    '/operations/1',
    path
  )
  const line = { op: 'create', table: 'lines', values: { order_id: { $result: 0, field: 'n' }, sku: 'x' } }
  await refuse(t, [{ ...first, values: { n: 987 } }, line], 409, 'FOREIGN_KEY_VIOLATION', '/operations/1')
})
