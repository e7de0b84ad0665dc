import t from 'tap'
import {
  asAdmin,
  asToken,
  createDatabase,
  createTable,
  dataOf,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'
import { openServed } from '../served.ts'

const file = createDatabase(
  t,
  `CREATE TABLE items (id INTEGER PRIMARY KEY, sku TEXT UNIQUE, name TEXT COLLATE NOCASE, color TEXT, n INTEGER DEFAULT 7,
     secret TEXT);
   CREATE UNIQUE INDEX items_name_color ON items (name COLLATE BINARY, color);
   CREATE UNIQUE INDEX items_partial ON items (n) WHERE n > 100;
   CREATE UNIQUE INDEX items_expression ON items (lower(color), id);
   CREATE UNIQUE INDEX items_id ON items (n, id);
   CREATE UNIQUE INDEX items_secret ON items (secret);
   CREATE TABLE pairs (a TEXT COLLATE NOCASE, b INTEGER, n INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
   CREATE TABLE folded (id INTEGER PRIMARY KEY, name TEXT);
   CREATE UNIQUE INDEX folded_exact ON folded (name);
   CREATE UNIQUE INDEX folded_nocase ON folded (name COLLATE NOCASE);
   CREATE TABLE codes (code TEXT PRIMARY KEY, mail TEXT UNIQUE NOT NULL, n INTEGER NOT NULL);
   CREATE TABLE logged (id INTEGER PRIMARY KEY, name TEXT UNIQUE, log TEXT DEFAULT '');
   CREATE TRIGGER inserted AFTER INSERT ON logged BEGIN UPDATE logged SET log = log || 'i' WHERE id = new.id; END;
   CREATE TRIGGER changed AFTER UPDATE OF name ON logged BEGIN UPDATE logged SET log = log || 'u' WHERE id = new.id; END;
   CREATE TRIGGER ignored BEFORE INSERT ON logged WHEN new.name = 'ignore' BEGIN SELECT RAISE(IGNORE); END;
   CREATE TRIGGER undone AFTER INSERT ON logged WHEN new.name = 'undo' BEGIN DELETE FROM logged WHERE id = new.id; END;
   CREATE TABLE lenient (id INTEGER PRIMARY KEY, code TEXT UNIQUE ON CONFLICT IGNORE);
   CREATE TABLE parents (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
   CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents (id) ON DELETE CASCADE);
   INSERT INTO parents VALUES (1, 'p');
   INSERT INTO children VALUES (1, 1);
   CREATE VIEW shown AS SELECT * FROM items;`
)
const time = { now: 1_700_000_000_000 }
const app = await startApp(t, { env: { DATABASE: file }, clock: () => time.now })
const admin = await asAdmin(app)
const ids = new Map<string, number>()
for (const name of ['items', 'pairs', 'folded', 'codes', 'logged', 'parents', 'children', 'shown', 'lenient']) {
  ids.set(name, (await importTable(admin, name)).id)
}
dataOf(await admin.put(`/admin/tables/${ids.get('items')}`, { fields: [{ name: 'secret', isHidden: true }] }))
const token = await asToken(app, admin)

type Body = Readonly<Record<string, unknown>>

const send = (table: string, on: string, body: Body, headers = {}) =>
  app.inject({
    method: 'POST',
    url: `/data/${table}/records?upsert=${on}`,
    headers: { ...token.headers, ...headers },
    payload: body
  })
const upsert = async (...args: Parameters<typeof send>) => dataOf(await send(...args))
const totalOf = async (table: string) => dataOf(await token.get(`/data/${table}`)).total

t.test('creates a record, then changes the fields that are sent', async (t) => {
  t.strictSame(await upsert('items', 'sku', { sku: 'a', name: 'cup' }), {
    created: true,
    record: { id: 1, sku: 'a', name: 'cup', color: null, n: 7 }
  })
  t.strictSame(await upsert('items', 'sku', { sku: 'a', color: 'red' }), {
    created: false,
    record: { id: 1, sku: 'a', name: 'cup', color: 'red', n: 7 }
  })
  t.match(await upsert('items', 'sku', { sku: 'a' }), { created: false, record: { color: 'red' } })
  t.match(await upsert('items', 'id', { id: 1, n: null }), { created: false, record: { sku: 'a', n: null } })
  t.match(await upsert('items', 'id', { id: 5 }), { created: true, record: { id: 5, n: 7 } })
  t.equal(await totalOf('items'), 2)
})

t.test('finds the record by the collation of the index', async (t) => {
  t.match(await upsert('items', 'color,name', { name: 'Jar', color: 'x' }), { created: true })
  t.match(await upsert('items', 'name,color', { name: 'jar', color: 'x', n: 1 }), { created: true })
  t.match(await upsert('items', 'name,color', { name: 'jar', color: 'x', n: 2 }), { created: false, record: { n: 2 } })
  t.match(await upsert('pairs', 'a,b', { a: 'x', b: 1, n: 1 }), { created: true })
  t.match(await upsert('pairs', 'b,a', { a: 'X', b: 1, n: 2 }), { created: false, record: { a: 'x', n: 2 } })
})

t.test('of two indexes with the same fields, the one that finds the record is changed', async (t) => {
  t.match(await upsert('folded', 'name', { name: 'foo' }), { created: true })
  t.match(await upsert('folded', 'name', { name: 'foo' }), { created: false })
  expectError(t, await send('folded', 'name', { name: 'FOO' }), 409, 'UNIQUE_VIOLATION', '/name')
  t.equal(await totalOf('folded'), 1)
})

t.test('NULL conflicts with nothing', async (t) => {
  const first = await upsert('items', 'sku', { sku: null })
  const second = await upsert('items', 'sku', { sku: null })
  t.match([first, second], [{ created: true }, { created: true }])
  t.not(first.record.id, second.record.id)
})

t.test('returns the record as triggers leave it', async (t) => {
  t.match(await upsert('logged', 'name', { name: 'one' }), { created: true, record: { log: 'i' } })
  t.match(await upsert('logged', 'id', { id: 1, name: 'two' }), { created: false, record: { log: 'iu' } })
  t.match(await upsert('logged', 'name', { name: null }), { created: true, record: { name: null } })
  expectError(t, await send('logged', 'name', { name: 'ignore' }), 409, 'REFUSED_BY_TRIGGER')
  expectError(t, await send('logged', 'name', { name: 'undo' }), 409, 'REFUSED_BY_TRIGGER')
})

t.test('deletes no record that is in its way', async (t) => {
  t.match(await upsert('parents', 'code', { code: 'p' }), { created: false, record: { id: 1 } })
  t.match(await upsert('parents', 'id', { id: 1, code: 'q' }), { created: false, record: { code: 'q' } })
  t.equal(await totalOf('children'), 1)
  await upsert('parents', 'id', { id: 2, code: 'r' })
  expectError(t, await send('parents', 'id', { id: 2, code: 'q' }), 409, 'UNIQUE_VIOLATION', '/code')
  expectError(t, await send('children', 'id', { id: 9, parent: 99 }), 409, 'FOREIGN_KEY_VIOLATION', '/parent')
})

t.test('the key of a record that exists cannot change', async (t) => {
  await upsert('codes', 'mail', { code: 'a', mail: 'a@x', n: 1 })
  t.match(await upsert('codes', 'mail', { code: 'a', mail: 'a@x', n: 2 }), { created: false, record: { n: 2 } })
  expectError(t, await send('codes', 'mail', { code: 'b', mail: 'a@x', n: 3 }), 400, 'VALIDATION_FAILED', '/code')
  t.match(dataOf(await token.get('/data/codes/records/a')), { n: 2 })
  expectError(t, await send('codes', 'code', { code: 'a', n: 1 }), 400, 'VALIDATION_FAILED', '/mail')
})

t.test('a key that is NULL is generated, or stays', async (t) => {
  const created = await upsert('parents', 'code', { id: null, code: 'generated' })
  t.match(created, { created: true })
  const again = await upsert('parents', 'code', { id: null, code: 'generated' })
  t.strictSame(again, { created: false, record: created.record })
})

t.test('a constraint that is declared ON CONFLICT IGNORE refuses an upsert', async (t) => {
  await upsert('lenient', 'id', { id: 1, code: 'a' })
  expectError(t, await send('lenient', 'id', { id: 2, code: 'a' }), 409, 'UNIQUE_VIOLATION')
})

t.test('only fields of a unique index identify a record', async (t) => {
  for (const on of ['name', 'n', 'secret', 'nothing', 'color,id', 'sku,sku,name', 'name,name', 'id,n', '']) {
    const response = await send('items', on, { sku: 'a', name: 'x', color: 'y', n: 200 })
    expectError(t, response, 400, 'VALIDATION_FAILED')
    t.notMatch(response.body, /secret'/.test(on) ? /items_secret/ : /\bsecret\b(?!')/)
    if (on !== '') t.equal(response.json().error.hint, 'Send one of these lists of fields: id; name,color; sku.', on)
  }
  expectError(t, await send('items', 'sku', { name: 'x' }), 400, 'VALIDATION_FAILED', '/sku')
  expectError(t, await send('items', 'sku', { sku: 'z', colour: 'x' }), 400, 'VALIDATION_FAILED', '/colour')
  expectError(t, await send('shown', 'id', { id: 1 }), 403, 'TABLE_READ_ONLY')
})

t.test('an index that another program creates counts at once', async (t) => {
  expectError(t, await send('children', 'parent', { parent: 1 }), 400, 'VALIDATION_FAILED', '/upsert')
  openServed(t, file).exec('CREATE UNIQUE INDEX children_parent ON children (parent)')
  for (let attempt = 0; (await send('children', 'parent', { parent: 1 })).statusCode !== 200; attempt += 1) {
    if (attempt > 200) throw new Error('The index does not count.')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.match(await upsert('children', 'parent', { parent: 1 }), { created: false })
})

t.test('`If-None-Match: *` only creates', async (t) => {
  const only = { 'if-none-match': '*' }
  t.match(await upsert('items', 'sku', { sku: 'new', n: 1 }, only), { created: true, record: { n: 1 } })
  const refused = await send('items', 'sku', { sku: 'new', n: 2 }, only)
  expectError(t, refused, 412, 'PRECONDITION_FAILED')
  t.match(await upsert('items', 'sku', { sku: 'new' }), { created: false, record: { n: 1 } })
  expectError(t, await send('items', 'sku', { sku: 'new' }, { 'if-none-match': '"x"' }), 400, 'VALIDATION_FAILED')
})

t.test('sets the times of creation and change', async (t) => {
  await createTable(admin, {
    name: 'timed',
    autoTimestamps: true,
    fields: [{ name: 'name', jsonType: 'string' } as never]
  })
  const created = await upsert('timed', 'id', { id: 1, name: 'a' })
  t.match(created, { created: true, record: { created_at: time.now, updated_at: time.now } })
  const before = time.now
  time.now += 1000
  t.match((await upsert('timed', 'id', { id: 1, name: 'b' })).record, { created_at: before, updated_at: time.now })
  time.now += 1000
  t.match((await upsert('timed', 'id', { id: 1 })).record, { updated_at: time.now - 1000 }, 'nothing has changed')
})

t.test('needs the rights to create and to update, and shows no more than a token may read', async (t) => {
  const body = { sku: 'a', n: 3 }
  for (const [actions, status] of [
    [['create'], 403],
    [['update', 'read'], 403],
    [['create', 'update'], 200]
  ] as const) {
    const client = await asToken(app, admin, { tables: ['items'], actions: [...actions] })
    const response = await client.post('/data/items/records?upsert=sku', body)
    t.equal(response.statusCode, status, actions.join())
    if (status === 200) t.strictSame(dataOf(response), { created: false, record: { id: 1, sku: 'a', n: 3 } })
  }
})

t.test('administrators upsert with the hidden fields', async (t) => {
  const response = await admin.post(`/admin/tables/${ids.get('items')}/data?upsert=secret`, { secret: 's', n: 1 })
  t.match(dataOf(response), { created: true, record: { secret: 's' } })
  const again = await admin.post(`/admin/tables/${ids.get('items')}/data?upsert=secret`, { secret: 's', n: 2 })
  t.match(dataOf(again), { created: false, record: { secret: 's', n: 2 } })
})
