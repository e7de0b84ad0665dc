import t from 'tap'
import type { Grant } from '../../../schemas/role.ts'
import type { Permissions } from '../../../schemas/token.ts'
import { asAdmin, asKey, createDatabase, dataOf, expectError, importTable, startApp } from '../../helpers.ts'
import { openServed } from '../../served.ts'

const file = createDatabase(
  t,
  `CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'new',
     total REAL, note TEXT, secret TEXT);
   CREATE TABLE lines (order_id INTEGER, name TEXT, n INTEGER, PRIMARY KEY (order_id, name));
   CREATE TABLE gone (id INTEGER PRIMARY KEY);
   CREATE TABLE broken (id INTEGER PRIMARY KEY);
   CREATE TABLE hidden (id INTEGER PRIMARY KEY);
   CREATE TABLE fixed (id INTEGER PRIMARY KEY, a TEXT);
   CREATE VIEW overflow AS SELECT id, abs(-9223372036854775807 - id) AS n FROM orders;
   CREATE VIEW totals AS SELECT total FROM orders;
   INSERT INTO orders VALUES (1, 17, 'new', 5, NULL, 's'), (2, 18, 'new', 7, NULL, 's'), (3, 17, 'archived', 9, NULL, 's');
   INSERT INTO lines VALUES (1, 'a,b', 5);`
)
let now = 1_767_225_600_000
const app = await startApp(t, { env: { DATABASE: file }, clock: () => now })
const admin = await asAdmin(app)
const ids: Record<string, number> = {}
for (const name of ['orders', 'lines', 'gone', 'broken', 'hidden', 'fixed', 'totals'])
  ids[name] = (await importTable(admin, name)).id
dataOf(await admin.put(`/admin/tables/${ids.orders}`, { fields: [{ name: 'secret', isHidden: true }] }))
dataOf(await admin.put(`/admin/tables/${ids.hidden}`, { isPublished: false }))
dataOf(await admin.put(`/admin/tables/${ids.fixed}`, { isEditable: false }))

const GRANTS: readonly Grant[] = [
  { tables: ['*'], actions: ['read'], rows: { where: { owner: { eq: 1 } } } },
  {
    tables: ['orders'],
    actions: ['read', 'create', 'update'],
    rows: { where: { customer_id: { eq: { $claim: 'customer' } }, state: { ne: 'archived' } } },
    fields: { read: ['id', 'state', 'total', 'customer_id'], write: ['state', 'note'] },
    presets: { customer_id: { $claim: 'customer' }, total: 0 }
  }
]
dataOf(await admin.post('/admin/roles', { name: 'customer', grants: GRANTS }))

const issue = async (body: object): Promise<number> =>
  dataOf(await admin.post('/admin/tokens', { name: 'key', ...body })).id

const ada = await issue({ role: 'customer', claims: { customer: 17 } })
const withPermissions = (permissions: Permissions) => issue({ permissions })

const ask = (id: number, question: object) => admin.post(`/admin/tokens/${id}/explain`, question)

const explain = async (id: number, table: string, action: string, key?: string) =>
  dataOf(await ask(id, { table, action, ...(key !== undefined && { key }) }))

const grant = { role: 'customer', position: 2, tables: ['orders'], actions: ['read', 'create', 'update'] }
const rows = "Records where customer_id equals 17 and state is not 'archived'."
const readable = ['id', 'customer_id', 'state', 'total']

t.test('a role that opens an action is explained by its grant', async (t) => {
  t.strictSame(await explain(ada, 'orders', 'read'), {
    allowed: true,
    reason: "Grant 2 of the role 'customer' opens the action 'read' on the table 'orders'.",
    grant,
    rows,
    readable,
    writable: [],
    presets: []
  })
  t.match(await explain(ada, 'Orders', 'update'), { allowed: true, grant, rows, readable, writable: ['state', 'note'] })
  t.match(await explain(ada, 'orders', 'create'), {
    allowed: true,
    writable: ['state', 'note'],
    presets: [
      { field: 'customer_id', value: '17' },
      { field: 'total', value: '0' }
    ]
  })
})

t.test('an action without a grant is refused', async (t) => {
  t.strictSame(await explain(ada, 'orders', 'delete'), {
    allowed: false,
    reason: "The role does not open the action 'delete' on the table 'orders'.",
    rows: 'No records.',
    readable: [],
    writable: [],
    presets: []
  })
})

t.test('a grant that opens nothing says why', async (t) => {
  const without = await issue({ role: 'customer' })
  t.match(await explain(without, 'orders', 'create'), {
    allowed: false,
    reason: "Grant 2 of the role 'customer' opens nothing in the table 'orders': The token has no claim 'customer'.",
    grant,
    rows: "Records where customer_id equals the missing claim 'customer' and state is not 'archived'.",
    readable: [],
    presets: [{ value: "the missing claim 'customer'" }, { value: '0' }]
  })
  t.match(await explain(without, 'orders', 'read', '1'), { record: { exists: true, isVisible: false } })
  const { allowed, reason } = await explain(ada, 'lines', 'read')
  t.equal(allowed, false)
  t.match(
    reason,
    /^Grant 1 of the role 'customer' opens nothing in the table 'lines': 'rows.where.owner' is not a field/
  )
})

t.test('permissions decide for a token without a role', async (t) => {
  const reader = await withPermissions({ tables: ['orders'], actions: ['read', 'update'] })
  t.strictSame(await explain(reader, 'orders', 'update', '3'), {
    allowed: true,
    reason: "The permissions of the token include the action 'update' on the table 'orders'.",
    rows: 'All records.',
    readable: ['id', 'customer_id', 'state', 'total', 'note'],
    writable: ['customer_id', 'state', 'total', 'note'],
    presets: [],
    record: { key: '3', exists: true, isVisible: true }
  })
  t.match(await explain(reader, 'orders', 'delete'), {
    allowed: false,
    reason: "The token needs the action 'delete' (or 'write') on the table 'orders'.",
    rows: 'No records.'
  })
  t.match(await explain(reader, 'lines', 'read'), {
    allowed: false,
    reason: "The token's tables do not include the table 'lines'."
  })
})

t.test('a record is inside or outside of the rule, or does not exist', async (t) => {
  const recordOf = async (key: string) => (await explain(ada, 'orders', 'read', key)).record
  t.same(await recordOf('1'), { key: '1', exists: true, isVisible: true })
  t.same(await recordOf('2'), { key: '2', exists: true, isVisible: false })
  t.same(await recordOf('3'), { key: '3', exists: true, isVisible: false })
  t.same(await recordOf('4'), { key: '4', exists: false, isVisible: false })
  t.same(await recordOf('x'), { key: 'x', exists: false, isVisible: false })
  const all = await withPermissions({ tables: ['*'], actions: ['read'] })
  t.match(await explain(all, 'lines', 'read', '1,a%2Cb'), { record: { exists: true, isVisible: true } })
  t.match(await explain(all, 'lines', 'read', '1'), { record: { exists: false } })
  t.match(await explain(all, 'totals', 'read', '1'), { allowed: true, record: { exists: false, isVisible: false } })
})

t.test('a record is for the actions that use one, and for a token that is accepted', async (t) => {
  const recordOf = async (id: number, action: string) => (await explain(id, 'orders', action, '1')).record
  t.match(await recordOf(ada, 'update'), { isVisible: true })
  t.match(await recordOf(ada, 'delete'), { exists: true, isVisible: false })
  t.equal(await recordOf(ada, 'create'), undefined)
  const expiring = await issue({ role: 'customer', claims: { customer: 17 }, expiresAt: now + 1 })
  t.match(await recordOf(expiring, 'read'), { isVisible: true })
  now += 1
  t.match(await recordOf(expiring, 'read'), { exists: true, isVisible: false })
})

t.test('the fields of a response, and those that can be set, are those of the action', async (t) => {
  const writer = await withPermissions({ tables: ['lines'], actions: ['create', 'update', 'delete'] })
  const both = await withPermissions({ tables: ['lines'], actions: ['read', 'update', 'delete', 'schema'] })
  const all = ['order_id', 'name', 'n']
  t.match(await explain(writer, 'lines', 'create'), { readable: all, writable: all })
  t.match(await explain(writer, 'lines', 'update'), { readable: [], writable: ['n'] })
  t.match(await explain(both, 'lines', 'update'), { readable: all, writable: ['n'] })
  t.match(await explain(writer, 'lines', 'delete'), { readable: [], writable: [] })
  t.match(await explain(both, 'lines', 'schema'), { readable: [], writable: [] })
})

t.test('a record that cannot be computed is not a missing record', async (t) => {
  dataOf(await admin.post('/admin/tables/import', { name: 'overflow', primaryKey: 'id' }))
  const all = await withPermissions({ tables: ['overflow'], actions: ['read'] })
  expectError(t, await ask(all, { table: 'overflow', action: 'read', key: '1' }), 409, 'STRUCTURE_CHANGED')
  t.match(await explain(all, 'overflow', 'read', '9'), { record: { exists: false, isVisible: false } })
})

t.test('tables that tokens cannot use, or change, are named', async (t) => {
  const all = await withPermissions({ tables: ['*'], actions: ['read', 'write'] })
  t.match(await explain(all, 'hidden', 'read', '1'), {
    allowed: false,
    reason: "The table 'hidden' is not published.",
    rows: 'No records.',
    record: { exists: false, isVisible: false }
  })
  t.match(await explain(all, 'fixed', 'read'), { allowed: true })
  t.match(await explain(all, 'fixed', 'schema'), { allowed: false, reason: /'fixed' cannot be changed through tokens/ })
  t.match(await explain(all, 'totals', 'update'), { allowed: false, reason: /is a view/ })
})

t.test('tables that cannot be read are named, without their records', async (t) => {
  const all = await withPermissions({ tables: ['*'], actions: ['read'] })
  const expected = { allowed: false, rows: 'No records.', readable: [], record: undefined }
  const other = openServed(t, file)
  other.exec(
    "ALTER TABLE gone RENAME COLUMN id TO other; UPDATE _rowhouse_tables SET choices = '{' WHERE name = 'broken'"
  )
  await app.database.write([])
  while (app.tables.find('broken')?.structure !== null) await new Promise((resolve) => setImmediate(resolve))
  t.match(await explain(all, 'gone', 'read', '1'), { ...expected, reason: /^The stored table 'gone' does not exist/ })
  t.match(await explain(all, 'broken', 'read', '1'), { ...expected, reason: /'broken'.* cannot be read/ })
})

t.test('a token that is inactive or has expired is named', async (t) => {
  const id = await issue({ role: 'customer', claims: { customer: 17 }, expiresAt: now + 10 })
  t.match(await explain(id, 'orders', 'read'), { allowed: true })
  now += 10
  t.match(await explain(id, 'orders', 'read', '1'), {
    allowed: false,
    reason: /has expired/,
    grant,
    rows,
    readable,
    record: { isVisible: false }
  })
  dataOf(await admin.put(`/admin/tokens/${id}`, { isActive: false }))
  t.match(await explain(id, 'orders', 'read'), { allowed: false, reason: /is not active/ })
})

t.test('unknown tokens, tables and actions are refused', async (t) => {
  expectError(t, await ask(999, { table: 'orders', action: 'read' }), 404, 'TOKEN_NOT_FOUND')
  expectError(t, await ask(ada, { table: 'nothing', action: 'read' }), 404, 'TABLE_NOT_FOUND')
  expectError(t, await ask(ada, { table: 'orders', action: 'write' }), 400, 'VALIDATION_FAILED', '/action')
  expectError(t, await ask(ada, { table: 'orders' }), 400, 'VALIDATION_FAILED', '/action')
  expectError(t, await ask(ada, { table: 'orders', action: 'read', other: 1 }), 400, 'VALIDATION_FAILED', '/other')
})

t.test('an admin key needs the scope `tokens`, and `records:read` for a record', async (t) => {
  const question = { table: 'orders', action: 'read' }
  const url = `/admin/tokens/${ada}/explain`
  t.match(dataOf(await (await asKey(app, admin, ['tokens'])).post(url, question)), { allowed: true })
  const record = { ...question, key: '1' }
  expectError(t, await (await asKey(app, admin, ['tokens'])).post(url, record), 403, 'ADMIN_KEY_NOT_ALLOWED')
  t.match(dataOf(await (await asKey(app, admin, ['tokens', 'records:read'])).post(url, record)), { allowed: true })
  const other = await asKey(app, admin, ['roles', 'records:read'])
  expectError(t, await other.post(url, question), 403, 'ADMIN_KEY_NOT_ALLOWED')
})
