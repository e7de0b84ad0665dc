import t from 'tap'
import type { Grant } from '../../../schemas/role.ts'
import {
  asAdmin,
  asKey,
  bearer,
  client,
  createDatabase,
  createFingerprint,
  dataOf,
  expectError,
  importTable,
  logIn,
  startApp
} from '../../helpers.ts'

const MINUTE = 60_000

const file = createDatabase(
  t,
  `CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'new', secret TEXT);
   INSERT INTO orders VALUES (1, 1, 'new', 'x'), (2, 2, 'new', 'y'), (3, 1, 'paid', 'z');
   CREATE TABLE others (id INTEGER PRIMARY KEY);`
)
let now = 1_767_225_600_000
const app = await startApp(t, { env: { DATABASE: file }, clock: () => now })
const admin = await asAdmin(app)
for (const name of ['orders', 'others']) await importTable(admin, name)

const GRANTS: readonly Grant[] = [
  {
    tables: ['orders'],
    actions: ['read', 'create', 'update', 'delete'],
    rows: { where: { customer_id: { eq: { $claim: 'customer' } } } },
    fields: { read: ['id', 'state'] }
  }
]
dataOf(await admin.post('/admin/roles', { name: 'customer', grants: GRANTS }))

const newToken = async (): Promise<{ readonly id: number; readonly token: string }> =>
  dataOf(await admin.post('/admin/tokens', { name: 'Ada', role: 'customer', claims: { customer: 1 } }))

const viewOf = async (id: number) => dataOf(await admin.post(`/admin/tokens/${id}/view`))

const asView = async (id: number) => client(app, bearer((await viewOf(id)).token))

t.test('a view reads exactly what the token reads', async (t) => {
  const { id, token } = await newToken()
  const [view, own] = [await asView(id), client(app, bearer(token))]
  for (const url of [
    '/data/_me',
    '/data/_openapi.json',
    '/data/orders',
    '/data/orders?q=paid&page=1&size=1',
    '/data/orders/schema',
    '/data/orders/records/3',
    '/data/orders/records/2',
    '/data/orders/export',
    '/data/others',
    '/data/missing'
  ]) {
    const [seen, expected] = [await view.get(url), await own.get(url)]
    t.equal(seen.statusCode, expected.statusCode, url)
    const withoutId = (body: string) => body.replace(/"requestId":"[^"]*"/, '')
    t.equal(withoutId(seen.body), withoutId(expected.body), url)
  }
  t.same(dataOf(await view.post('/data/orders/query', {})).rows, [
    { id: 1, state: 'new' },
    { id: 3, state: 'paid' }
  ])
  t.same(dataOf(await view.post('/data/orders/aggregate', { compute: { n: { count: true } } })).rows, [{ n: 2 }])
})

t.test('a view changes nothing, and the token does', async (t) => {
  const { id, token } = await newToken()
  const view = await asView(id)
  const fingerprint = createFingerprint(t, file)
  const before = fingerprint()
  const operation = { op: 'update', table: 'orders', pk: '1', values: { state: 'sent' } }
  for (const response of [
    await view.post('/data/orders/records', { state: 'new' }),
    await view.put('/data/orders/records/1', { state: 'sent' }),
    await view.patch('/data/orders/records/1', { state: 'sent' }),
    await view.delete('/data/orders/records/1'),
    await view.post('/data/orders/records/1/incr', { field: 'customer_id', count: 1 }),
    await view.post('/data/_batch', { operations: [operation] }),
    await view.post('/data/_batch', { operations: [] }),
    await view.post('/data/_schema/tables', { name: 'n', label: '', fields: [] })
  ]) {
    expectError(t, response, 403, 'ACTION_NOT_ALLOWED')
    t.match(response.json().error.message, 'This is a view of a token')
  }
  t.equal(fingerprint(), before)
  dataOf(await client(app, bearer(token)).put('/data/orders/records/1', { state: 'sent' }))
  t.not(fingerprint(), before)
  dataOf(await client(app, bearer(token)).put('/data/orders/records/1', { state: 'new' }))
})

t.test('a view ends after ten minutes', async (t) => {
  const { id } = await newToken()
  const { token, expiresAt } = await viewOf(id)
  t.match(token, /^rhv_/)
  t.equal(expiresAt, now + 10 * MINUTE)
  const view = client(app, bearer(token))
  now += 10 * MINUTE - 1
  dataOf(await view.get('/data/orders'))
  now += 1
  expectError(t, await view.get('/data/orders'), 401, 'INVALID_TOKEN')
})

t.test('a view ends with its token, and follows its changes', async (t) => {
  const { id } = await newToken()
  const view = await asView(id)
  const url = `/admin/tokens/${id}`
  dataOf(await view.get('/data/orders'))
  dataOf(await admin.put(url, { claims: { customer: 2 } }))
  t.same(dataOf(await view.get('/data/orders')).rows, [{ id: 2, state: 'new' }])
  dataOf(await admin.put(url, { isActive: false }))
  expectError(t, await view.get('/data/orders'), 401, 'INVALID_TOKEN')
  dataOf(await admin.put(url, { isActive: true, expiresAt: now + 1 }))
  dataOf(await view.get('/data/orders'))
  now += 1
  expectError(t, await view.get('/data/orders'), 401, 'INVALID_TOKEN')
  dataOf(await admin.put(url, { expiresAt: null }))
  dataOf(await view.get('/data/orders'))
  dataOf(await admin.delete(url))
  expectError(t, await view.get('/data/orders'), 401, 'INVALID_TOKEN')
  expectError(t, await admin.post(`${url}/view`), 404, 'TOKEN_NOT_FOUND')
})

t.test('a view records no use of the token, and issuing it is in the audit', async (t) => {
  const { id, token } = await newToken()
  const view = await asView(id)
  dataOf(await view.get('/data/orders'))
  const used = async () => dataOf(await admin.get(`/admin/tokens/${id}`)).last_used_at
  t.equal(await used(), null)
  dataOf(await client(app, bearer(token)).get('/data/orders'))
  t.equal(await used(), now)
  const { rows } = dataOf(await admin.get('/admin/audit?action=token&size=1'))
  t.match(rows, [{ action: 'token.view', target: 'Ada', targetId: id, summary: {} }])
  t.equal((await view.get('/data/orders/export?format=csv')).statusCode, 200)
  const exports = dataOf(await admin.get('/admin/audit?action=export&caller=view+of+Ada')).rows
  t.match(exports, [{ target: 'orders' }], 'an export with a view does not name the token alone')
})

t.test('a view is not accepted in /admin, and a session is not accepted as a view', async (t) => {
  const { token } = await viewOf((await newToken()).id)
  expectError(t, await client(app, bearer(token)).get('/admin/tables'), 401, 'AUTHENTICATION_REQUIRED')
  const jwt = token.slice('rhv_'.length)
  const asCookie = client(app, { cookie: `rowhouse_session=${jwt}` })
  expectError(t, await asCookie.get('/admin/tables'), 401, 'AUTHENTICATION_REQUIRED')
  const session = String((await logIn(app)).cookie).split('=')[1]
  expectError(t, await client(app, bearer(`rhv_${session}`)).get('/data/orders'), 401, 'INVALID_TOKEN')
  for (const other of [`rhv_${jwt}x`, jwt, `rhv_${'x'.repeat(2000)}`])
    expectError(t, await client(app, bearer(other)).get('/data/orders'), 401, 'INVALID_TOKEN')
})

t.test('an admin key with the scope `tokens` issues a view', async (t) => {
  const { id } = await newToken()
  const key = await asKey(app, admin, ['tokens'])
  const { token } = dataOf(await key.post(`/admin/tokens/${id}/view`))
  dataOf(await client(app, bearer(token)).get('/data/orders'))
  const other = await asKey(app, admin, ['roles'])
  expectError(t, await other.post(`/admin/tokens/${id}/view`), 403, 'ADMIN_KEY_NOT_ALLOWED')
})

t.test('a view of a token with permissions reads', async (t) => {
  const permissions = { tables: ['orders'], actions: ['read', 'write'] }
  const { id } = dataOf(await admin.post('/admin/tokens', { name: 'all', permissions }))
  const view = await asView(id)
  t.equal(dataOf(await view.get('/data/orders')).rows.length, 3)
  expectError(t, await view.delete('/data/orders/records/1'), 403, 'ACTION_NOT_ALLOWED')
  expectError(t, await view.get('/data/others'), 403, 'ACTION_NOT_ALLOWED')
})
