import t from 'tap'
import type { Claims, Grant } from '../../schemas/role.ts'
import { asAdmin, bearer, client, createDatabase, dataOf, expectError, importTable, startApp } from '../helpers.ts'

const file = createDatabase(
  t,
  `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, region TEXT);
   CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id),
     state TEXT NOT NULL DEFAULT 'new', total REAL, note TEXT, secret TEXT DEFAULT 'hush');
   CREATE TABLE lines (order_id INTEGER REFERENCES orders (id), number INTEGER, title TEXT, PRIMARY KEY (order_id, number));
   CREATE TABLE parts (id INTEGER PRIMARY KEY, order_id INTEGER, number INTEGER,
     FOREIGN KEY (order_id, number) REFERENCES lines (order_id, number));
   CREATE TABLE doubled (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES customers (id) REFERENCES orders (id));
   CREATE TABLE plain (id INTEGER PRIMARY KEY, customer_id INTEGER, code TEXT UNIQUE);
   CREATE TABLE coded (code TEXT PRIMARY KEY, customer_id INTEGER);
   CREATE TABLE bare (id INTEGER PRIMARY KEY, title TEXT);
   CREATE VIEW totals AS SELECT id, customer_id, total FROM orders;
   INSERT INTO customers VALUES (1, 'Ann', 'north'), (2, 'Bob', 'south');
   INSERT INTO orders (id, customer_id, state, total, note) VALUES (1, 1, 'new', 5, 'x'), (2, 2, 'new', 7, 'y'),
     (3, 1, 'archived', 9, 'z'), (4, 1, 'paid', 11, NULL);
   INSERT INTO lines VALUES (1, 1, 'tea'), (1, 2, 'milk'), (2, 1, 'salt'), (3, 1, 'soap');
   INSERT INTO parts VALUES (1, 1, 1), (2, 2, 1), (3, NULL, 1), (4, 1, 2);
   INSERT INTO doubled VALUES (1, 1);
   INSERT INTO plain VALUES (1, 1, 'a'), (2, 2, 'b');
   INSERT INTO bare VALUES (1, 'free');`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const ids: Record<string, number> = {}
for (const name of ['customers', 'orders', 'lines', 'parts', 'doubled', 'plain', 'coded', 'bare', 'totals'])
  ids[name] = (await importTable(admin, name)).id

const isOwn = { customer_id: { eq: { $claim: 'customer' } } }
const own = { where: isOwn }

const GRANTS: readonly Grant[] = [
  {
    tables: ['orders'],
    actions: ['read', 'create', 'update'],
    rows: { where: { ...isOwn, state: { ne: 'archived' } } },
    fields: { read: ['id', 'state', 'total', 'customer_id'], write: ['state', 'note'] },
    presets: { customer_id: { $claim: 'customer' } }
  },
  { tables: ['lines'], actions: ['read'], rows: { via: { order_id: own } } },
  { tables: ['parts'], actions: ['read'], rows: { via: { 'order_id,number': { via: { order_id: own } } } } },
  { tables: ['doubled'], actions: ['read'], rows: { via: { owner: { where: { id: { gt: 0 } } } } } },
  { tables: ['*'], actions: ['read', 'create'], rows: own }
]

let made = 0
const newRole = async (grants: readonly Grant[] = GRANTS) => {
  made += 1
  return dataOf(await admin.post('/admin/roles', { name: `role ${made}`, grants }))
}

const newToken = async (role: { readonly name: string }, claims: Claims = { customer: 1 }) => {
  const issued = dataOf(await admin.post('/admin/tokens', { name: 'key', role: role.name, claims }))
  return { id: issued.id, ...client(app, bearer(issued.token)) }
}

const role = await newRole()
const ann = await newToken(role)

t.test('a key sees the rows and fields of its grant', async (t) => {
  t.strictSame(dataOf(await ann.get('/data/orders?order=id')).rows, [
    { id: 1, customer_id: 1, state: 'new', total: 5 },
    { id: 4, customer_id: 1, state: 'paid', total: 11 }
  ])
  expectError(t, await ann.get('/data/orders/records/3'), 404, 'RECORD_NOT_FOUND')
  const { body } = await ann.get('/data/orders/export')
  t.equal(body.split('\r\n')[0]?.replace(/^\uFEFF/, ''), '"id","customer_id","state","total"')
})

t.test('other fields do not exist, and no error names them', async (t) => {
  for (const url of [
    '/data/orders?order=note',
    '/data/orders?filter={"where":{"note":{"eq":"x"}}}',
    '/data/orders?fields=secret',
    '/data/orders/export?fields=note',
    '/data/orders?filter={"where":{"notes":{"eq":"x"}}}'
  ]) {
    const response = await ann.get(url)
    expectError(t, response, 400, 'VALIDATION_FAILED')
    t.notMatch(response.json().error.hint ?? '', /note|secret/)
  }
  expectError(
    t,
    await ann.post('/data/orders/aggregate', { compute: { a: { max: 'secret' } } }),
    400,
    'VALIDATION_FAILED'
  )
  t.notMatch((await ann.post('/data/orders/records', { secrets: 1 })).body, /'secret'/)
})

t.test('a schema has the fields, and says which can be set', async (t) => {
  const { fields, searchIndex, foreignKeys } = dataOf(await ann.get('/data/orders/schema'))
  t.match(fields, [
    { name: 'id', isReadonly: true },
    { name: 'customer_id', isReadonly: true, isRequired: false },
    { name: 'state', isReadonly: false },
    { name: 'total', isReadonly: true }
  ])
  t.equal(fields.length, 4)
  t.strictSame(searchIndex, { state: 'off', indexed: 0, total: 0 })
  t.strictSame(foreignKeys, [], 'the key cannot read customers by the rule of its grant')
})

t.test('the document of a key has its fields', async (t) => {
  const { components } = (await ann.get('/data/_openapi.json')).json()
  const { Orders, OrdersCreate, OrdersUpdate } = components.schemas
  t.strictSame(Object.keys(Orders.properties), ['id', 'customer_id', 'state', 'total'])
  t.strictSame(Object.keys(OrdersCreate.properties), ['state', 'note'])
  t.notOk(OrdersCreate.required, 'a preset is not required')
  t.strictSame(Object.keys(OrdersUpdate.properties), ['state', 'note'])
})

t.test('the document of a key follows its role', async (t) => {
  const role = await newRole([{ tables: ['bare'], actions: ['read'], fields: { read: ['id'] } }])
  const key = await newToken(role)
  const fields = async () =>
    Object.keys((await key.get('/data/_openapi.json')).json().components.schemas.Bare.properties)
  t.strictSame(await fields(), ['id'])
  dataOf(await admin.put(`/admin/roles/${role.id}`, { grants: [{ tables: ['bare'], actions: ['read'] }] }))
  t.strictSame(await fields(), ['id', 'title'])
})

t.test('presets are filled in, and cannot be sent', async (t) => {
  const created = dataOf(await ann.post('/data/orders/records', { state: 'paid', note: 'new' }))
  t.strictSame(Object.keys(created), ['id', 'customer_id', 'state', 'total'])
  t.match(dataOf(await admin.get(`/admin/tables/${ids.orders}/data/${created.id}`)), { customer_id: 1, note: 'new' })
  expectError(t, await ann.post('/data/orders/records', { customer_id: 1 }), 400, 'VALIDATION_FAILED', '/customer_id')
  expectError(t, await ann.post('/data/orders/records', { total: 1 }), 400, 'VALIDATION_FAILED', '/total')
  expectError(t, await ann.post('/data/orders/records', { state: 'archived' }), 403, 'ROW_NOT_ALLOWED')

  const csv = client(app, { ...ann.headers, 'content-type': 'text/csv' })
  t.match(dataOf(await csv.post('/data/orders/import', 'state,note\nnew,imported\n')), { created: 1 })
  const imported = `/admin/tables/${ids.orders}/data?filter={"where":{"note":{"eq":"imported"}}}`
  t.match(dataOf(await admin.get(imported)).rows, [{ customer_id: 1, secret: 'hush' }])
  expectError(t, await csv.post('/data/orders/import', 'state,customer_id\nnew,1\n'), 400, 'IMPORT_FAILED')
  expectError(t, await csv.post('/data/orders/import', 'state,secret\nnew,1\n'), 400, 'IMPORT_FAILED')
  expectError(t, await csv.post('/data/orders/import', 'state\narchived\n'), 403, 'ROW_NOT_ALLOWED')
})

t.test('an upsert fills presets in only if it creates', async (t) => {
  const grant: Grant = {
    tables: ['plain'],
    actions: ['read', 'create', 'update'],
    presets: { customer_id: { $claim: 'customer' } }
  }
  const key = await newToken(await newRole([grant]), { customer: 7 })
  const upsert = async (values: object) => dataOf(await key.post('/data/plain/records?upsert=code', values)).record
  t.match(await upsert({ code: 'a' }), { id: 1, customer_id: 1 })
  t.match(await upsert({ code: 'new' }), { customer_id: 7 })
  const csv = client(app, { ...key.headers, 'content-type': 'text/csv' })
  t.match(dataOf(await csv.post('/data/plain/import?mode=upsert&on=code', 'code\nb\nnewer\n')), { created: 1 })
  t.match(dataOf(await key.get('/data/plain?filter={"where":{"code":{"in":["b","newer"]}}}&order=code')).rows, [
    { customer_id: 2 },
    { customer_id: 7 }
  ])
})

t.test('only the fields of the grant can be changed', async (t) => {
  const url = '/data/orders/records/1'
  t.match(dataOf(await ann.put(`${url}?return=record`, { state: 'open', note: 'n' })), { record: { state: 'open' } })
  for (const [name, value] of Object.entries({ total: 1, customer_id: 2, secret: 'x' }))
    expectError(t, await ann.put(url, { [name]: value }), 400, 'VALIDATION_FAILED', `/${name}`)
  expectError(t, await ann.put(url, { state: 'archived' }), 403, 'ROW_NOT_ALLOWED')
  expectError(t, await ann.post('/data/orders/incr', { pk: 1, field: 'total' }), 400, 'NOT_INCREMENTABLE')
  expectError(t, await ann.delete(url), 403, 'ACTION_NOT_ALLOWED')
})

t.test('the entity tag is that of the fields that the key sees', async (t) => {
  const tagOf = async (key: typeof ann) => String((await key.get('/data/orders/records/1')).headers.etag)
  const mine = await tagOf(ann)
  const all = await newToken(await newRole([{ tables: ['orders'], actions: ['read', 'update'] }]))
  t.not(mine, await tagOf(all))
  const change = (tag: string) =>
    app.inject({
      method: 'PUT',
      url: '/data/orders/records/1',
      headers: { ...ann.headers, 'if-match': tag },
      payload: { note: 'tagged' }
    })
  const refused = await change(await tagOf(all))
  expectError(t, refused, 412, 'PRECONDITION_FAILED')
  t.equal(refused.headers.etag, undefined)
  t.equal((await change(mine)).statusCode, 200)
  t.equal(await tagOf(ann), mine, 'a field that the key does not see has changed')
})

t.test('a rule follows foreign keys, whatever the key may see of the parents', async (t) => {
  t.strictSame(dataOf(await ann.get('/data/lines?order=order_id,number')).rows, [
    { order_id: 1, number: 1, title: 'tea' },
    { order_id: 1, number: 2, title: 'milk' },
    { order_id: 3, number: 1, title: 'soap' }
  ])
  const { rows } = dataOf(await ann.get('/data/parts?order=id'))
  t.strictSame(
    rows.map(({ id }: { readonly id: number }) => id),
    [1, 4]
  )
  expectError(t, await ann.get('/data/doubled'), 403, 'ACTION_NOT_ALLOWED')
})

t.test('a grant of its own wins over *, which covers no SQL view and no table without its fields', async (t) => {
  t.match(dataOf(await ann.get('/data/plain')).total, 1)
  expectError(t, await ann.get('/data/bare'), 403, 'ACTION_NOT_ALLOWED')
  expectError(t, await ann.get('/data/totals'), 403, 'ACTION_NOT_ALLOWED')
  const byName = await newToken(await newRole([{ tables: ['totals'], actions: ['read'], rows: own }]), { customer: 2 })
  t.match(dataOf(await byName.get('/data/totals')).rows, [{ id: 2, total: 7 }])
})

t.test('a claim that is missing, or does not fit, opens nothing, and /data/_me says so', async (t) => {
  const missing = await newToken(role, {})
  expectError(t, await missing.get('/data/orders'), 403, 'ACTION_NOT_ALLOWED')
  const { tables, closed } = dataOf(await missing.get('/data/_me'))
  t.strictSame(tables, [])
  t.match(
    closed.find((one: { table: string }) => one.table === 'orders'),
    { reason: "The token has no claim 'customer'." }
  )

  const misfit = await newToken(role, { customer: 'Ann' })
  expectError(t, await misfit.get('/data/orders'), 403, 'ACTION_NOT_ALLOWED')
  const reasons = dataOf(await misfit.get('/data/_me')).closed
  t.match(
    reasons.find((one: { table: string }) => one.table === 'orders'),
    { reason: /^A claim does not have the type/ }
  )
  t.notMatch(JSON.stringify(reasons), /customer_id/)

  const me = dataOf(await ann.get('/data/_me'))
  t.match(me, { role: role.name, claims: { customer: 1 }, permissions: { tables: [], actions: [] } })
  t.strictSame(me.tables, ['orders', 'lines', 'parts', 'plain', 'coded'])
  t.strictSame(me.closed.map(({ table }: { readonly table: string }) => table).sort(), [
    'bare',
    'customers',
    'doubled',
    'lines',
    'parts'
  ])
})

t.test('a claim can be a list', async (t) => {
  const rows = { where: { customer_id: { in: { $claim: 'customers' } } } }
  const key = await newToken(await newRole([{ tables: ['plain'], actions: ['read'], rows }]), { customers: [1, 2] })
  t.equal(dataOf(await key.get('/data/plain?filter={"where":{"code":{"in":["a","b"]}}}')).total, 2)
  const text = await newToken(await newRole([{ tables: ['plain'], actions: ['read'], rows }]), { customers: 1 })
  expectError(t, await text.get('/data/plain'), 403, 'ACTION_NOT_ALLOWED')
})

t.test('claims can stand in a list, and a grant without one of its fields opens nothing', async (t) => {
  const rows = { where: { customer_id: { in: [{ $claim: 'customer' }, 9] } } }
  const key = await newToken(
    await newRole([
      { tables: ['plain'], actions: ['read'], rows },
      { tables: ['bare'], actions: ['read'], fields: { read: ['customer_id'] } }
    ])
  )
  t.equal(dataOf(await key.get('/data/plain?filter={"where":{"code":{"in":["a","b"]}}}')).total, 1)
  expectError(t, await key.get('/data/bare'), 403, 'ACTION_NOT_ALLOWED')
  t.match(dataOf(await key.get('/data/_me')).closed, [{ table: 'bare' }])
  dataOf(await admin.put(`/admin/tables/${ids.bare}`, { isPublished: false }))
  t.strictSame(dataOf(await key.get('/data/_me')).closed, [])
  dataOf(await admin.put(`/admin/tables/${ids.bare}`, { isPublished: true }))
})

t.test('records with a text as their key are imported within the rule', async (t) => {
  const grant: Grant = { tables: ['coded'], actions: ['create'], rows: own }
  const key = await newToken(await newRole([grant]))
  const csv = client(app, { ...key.headers, 'content-type': 'text/csv' })
  expectError(t, await csv.post('/data/coded/import', 'code,customer_id\na,1\nb,2\n'), 403, 'ROW_NOT_ALLOWED')
  t.match(dataOf(await csv.post('/data/coded/import', 'code,customer_id\na,1\nb,1\n')), { created: 2 })
})

t.test('a change that returns the record keeps to the rules of both actions', async (t) => {
  const key = await newToken(
    await newRole([
      { tables: ['plain'], actions: ['read'], rows: own },
      { tables: ['plain'], actions: ['update'], rows: { where: { code: { ne: 'a' } } } }
    ])
  )
  expectError(t, await key.put('/data/plain/records/2?return=record', { code: 'b' }), 404, 'RECORD_NOT_FOUND')
  t.equal((await key.put('/data/plain/records/2', { code: 'b' })).statusCode, 200)
  expectError(t, await key.put('/data/plain/records/1', { code: 'a' }), 404, 'RECORD_NOT_FOUND')
})

t.test('a role without fields.write lets only the fields be set that can be read', async (t) => {
  const grant: Grant = { tables: ['orders'], actions: ['read', 'create', 'update'], fields: { read: ['state'] } }
  const key = await newToken(await newRole([grant]))
  const { components } = (await key.get('/data/_openapi.json')).json()
  t.strictSame(Object.keys(components.schemas.OrdersCreate.properties), ['id', 'state'])
  t.strictSame(Object.keys(components.schemas.OrdersUpdate.properties), ['state'])
  expectError(t, await key.put('/data/orders/records/1', { note: 'x' }), 400, 'VALIDATION_FAILED', '/note')
})

t.test('a key that cannot read a record cannot compare its changes with it', async (t) => {
  const key = await newToken(
    await newRole([
      { tables: ['orders'], actions: ['read'], rows: own },
      { tables: ['orders'], actions: ['update', 'delete'], fields: { write: ['note'] } }
    ])
  )
  for (const total of [7, 8])
    expectError(t, await key.put('/data/orders/records/2', { note: 'x', total }), 400, 'VALIDATION_FAILED', '/total')
  const { etag } = (await admin.get(`/admin/tables/${ids.orders}/data/2`)).headers
  const change = (method: 'PUT' | 'DELETE', url: string, payload: object) =>
    app.inject({ method, url, headers: { ...key.headers, 'if-match': String(etag) }, payload })
  for (const pk of [2, 77]) {
    expectError(t, await change('PUT', `/data/orders/records/${pk}`, { note: 'x' }), 412, 'PRECONDITION_FAILED')
    expectError(t, await change('DELETE', `/data/orders/records/${pk}`, {}), 412, 'PRECONDITION_FAILED')
  }
  t.equal((await key.put('/data/orders/records/2', { note: 'x' })).statusCode, 200, 'its rule of updates has it')
})

t.test('a broken reference in a preset does not name the field', async (t) => {
  const grant: Grant = {
    tables: ['orders'],
    actions: ['read', 'create'],
    fields: { read: ['state'], write: ['state'] },
    presets: { customer_id: { $claim: 'customer' } }
  }
  const key = await newToken(await newRole([grant]), { customer: 99 })
  const response = await key.post('/data/orders/records', { state: 'new' })
  expectError(t, response, 409, 'FOREIGN_KEY_VIOLATION')
  t.notMatch(response.body, /customer_id/)
})

t.test('the document of a key changes with its role', async (t) => {
  const role = await newRole([{ tables: ['bare'], actions: ['read', 'create'] }])
  const key = await newToken(role)
  const before = await key.get('/data/_openapi.json')
  t.match(before.body, /BareCreate/)
  dataOf(await admin.put(`/admin/roles/${role.id}`, { grants: [{ tables: ['bare'], actions: ['read'] }] }))
  const after = await key.get('/data/_openapi.json')
  t.notMatch(after.body, /BareCreate/)
  t.not(after.headers.etag, before.headers.etag)
})

t.test('a table that is not published does not exist, also for a role with *', async (t) => {
  dataOf(await admin.put(`/admin/tables/${ids.doubled}`, { isPublished: false }))
  const key = await newToken(await newRole([{ tables: ['*'], actions: ['read'], rows: own }]))
  for (const table of ['doubled', 'absent']) expectError(t, await key.get(`/data/${table}`), 404, 'TABLE_NOT_FOUND')
  dataOf(await admin.put(`/admin/tables/${ids.doubled}`, { isPublished: true }))
})

t.test('a change of a role, or of claims, holds from the next request', async (t) => {
  const changed = await newRole([{ tables: ['plain'], actions: ['read'], rows: own }])
  const key = await newToken(changed)
  t.match(dataOf(await key.get('/data/plain?size=1')).rows, [{ customer_id: 1 }])
  dataOf(await admin.put(`/admin/tokens/${key.id}`, { claims: { customer: 2 } }))
  t.match(dataOf(await key.get('/data/plain?size=1')).rows, [{ customer_id: 2 }])
  dataOf(await admin.put(`/admin/roles/${changed.id}`, { grants: [{ tables: ['bare'], actions: ['read'] }] }))
  expectError(t, await key.get('/data/plain'), 403, 'ACTION_NOT_ALLOWED')
  t.equal(dataOf(await key.get('/data/bare')).total, 1)
})

t.test('a retry under other claims, or another grant, gets no result', async (t) => {
  const grants: readonly Grant[] = [{ tables: ['bare'], actions: ['read', 'create'] }]
  const changed = await newRole(grants)
  const key = await newToken(changed)
  const create = () =>
    app.inject({
      method: 'POST',
      url: '/data/bare/records',
      headers: { ...key.headers, 'idempotency-key': 'once' },
      payload: { title: 'once' }
    })
  const first = await create()
  t.equal(first.statusCode, 200)
  t.equal((await create()).body, first.body)
  dataOf(await admin.put(`/admin/tokens/${key.id}`, { claims: { customer: 2 } }))
  expectError(t, await create(), 422, 'IDEMPOTENCY_KEY_REUSED')
  dataOf(await admin.put(`/admin/tokens/${key.id}`, { claims: { customer: 1 } }))
  t.equal((await create()).body, first.body)
  dataOf(
    await admin.put(`/admin/roles/${changed.id}`, { grants: [...grants, { tables: ['plain'], actions: ['read'] }] })
  )
  expectError(t, await create(), 422, 'IDEMPOTENCY_KEY_REUSED')
})

t.test('a key with a role that can create, but not read, gets what its grant shows', async (t) => {
  const grant: Grant = { tables: ['bare'], actions: ['create', 'update'], fields: { read: ['id'], write: ['title'] } }
  const key = await newToken(await newRole([grant]))
  const created = dataOf(await key.post('/data/bare/records', { title: 'blind' }))
  t.strictSame(Object.keys(created), ['id'])
  expectError(t, await key.get(`/data/bare/records/${created.id}`), 403, 'ACTION_NOT_ALLOWED')
})

t.test('an upsert changes no record that the key cannot read', async (t) => {
  const key = await newToken(
    await newRole([
      { tables: ['plain'], actions: ['read'], rows: own },
      { tables: ['plain'], actions: ['create', 'update'] }
    ])
  )
  const others = { id: 2, code: 'b', customer_id: 2 }
  expectError(t, await key.post('/data/plain/records?upsert=id', others), 409, 'UNIQUE_VIOLATION')
  t.equal(
    (await key.put('/data/plain/records/2', { code: 'b' })).statusCode,
    200,
    'its rule of updates has all records'
  )
  t.match(dataOf(await key.post('/data/plain/records?upsert=id', { id: 1, code: 'a' })), { record: { id: 1 } })
})
