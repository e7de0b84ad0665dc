import t from 'tap'
import { asAdmin, bearer, createTable, startApp } from '../../helpers.ts'

const app = await startApp(t)
const admin = await asAdmin(app)
await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })

const permissions = { tables: ['cats'], actions: ['read'] }

const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, payload?: object) =>
  app.inject({ method, url: `/admin/tokens${path}`, headers: admin.headers, ...(payload && { payload }) })

const issue = async (name = 'Till') => (await send('POST', '', { name, permissions })).json().data

const listed = async (id: number) => (await send('GET', '')).json().data.find((one: { id: number }) => one.id === id)

t.test('POST returns the secret, and no later response does', async (t) => {
  const response = await send('POST', '', { name: 'Till', permissions })
  t.equal(response.statusCode, 200)
  const { success, data } = response.json()
  t.equal(success, true)
  t.same(Object.keys(data), ['id', 'name', 'token', 'tokenPrefix', 'permissions'])
  t.match(data, { name: 'Till', token: /^rh_[0-9a-f]{64}$/, tokenPrefix: /^rh_[0-9a-f]{8}\*+$/, permissions })
  t.notOk((await send('GET', '')).body.includes(data.token))
})

t.test('GET lists every token with the documented fields', async (t) => {
  const { id, tokenPrefix } = await issue('Listed')
  const token = await listed(id)
  t.same(Object.keys(token), [
    'id',
    'name',
    'token_prefix',
    'permissions',
    'role',
    'claims',
    'integers',
    'networks',
    'previous_valid_until',
    'is_active',
    'expires_at',
    'last_used_at',
    'created_at',
    'updated_at'
  ])
  t.match(token, { name: 'Listed', token_prefix: tokenPrefix, permissions, is_active: true })
  t.same([token.expires_at, token.last_used_at], [null, null])
  t.ok(Number.isInteger(token.created_at))
  t.equal(token.updated_at, token.created_at)
})

t.test('GET by id returns the token of the list', async (t) => {
  const { id } = await issue('One')
  const response = await send('GET', `/${id}`)
  t.equal(response.statusCode, 200)
  t.strictSame(response.json(), { success: true, data: await listed(id) })
  const missing = await send('GET', '/999999')
  t.equal(missing.statusCode, 404)
  t.match(missing.json(), { success: false, error: { code: 'TOKEN_NOT_FOUND' } })
})

t.test('POST accepts an expiry', async (t) => {
  const expiresAt = Date.now() + 60_000
  const response = await send('POST', '', { name: 'Brief', permissions, expiresAt })
  t.equal(response.statusCode, 200)
  t.same(Object.keys(response.json().data), ['id', 'name', 'token', 'tokenPrefix', 'permissions', 'expiresAt'])
  t.equal(response.json().data.expiresAt, expiresAt)
  t.equal((await listed(response.json().data.id)).expires_at, expiresAt)
})

t.test('POST with expiresAt null responds with null', async (t) => {
  t.equal((await send('POST', '', { name: 'Never', permissions, expiresAt: null })).json().data.expiresAt, null)
})

t.test('PUT changes the properties in its body', async (t) => {
  const { id } = await issue()
  const changes = { name: 'New', permissions: { tables: ['*'], actions: ['write'] }, isActive: false, expiresAt: 1 }
  const response = await send('PUT', `/${id}`, changes)
  t.equal(response.statusCode, 200)
  t.same(response.json(), { success: true, data: { success: true } })
  t.match(await listed(id), {
    name: 'New',
    permissions: { tables: ['*'], actions: ['write'] },
    is_active: false,
    expires_at: 1
  })
})

t.test('PUT with expiresAt null removes the expiry', async (t) => {
  const { id } = await issue()
  await send('PUT', `/${id}`, { expiresAt: 1 })
  const response = await send('PUT', `/${id}`, { expiresAt: null })
  t.equal(response.statusCode, 200)
  t.equal((await listed(id)).expires_at, null)
})

t.test('deactivating and activating a token takes effect on its next request', async (t) => {
  const { id, token } = await issue()
  const use = async () => (await app.inject({ url: '/data/cats', headers: bearer(token) })).statusCode
  t.equal(await use(), 200)
  await send('PUT', `/${id}`, { isActive: false })
  t.equal(await use(), 401)
  await send('PUT', `/${id}`, { isActive: true })
  t.equal(await use(), 200)
})

t.test('DELETE revokes a token', async (t) => {
  const { id, token } = await issue()
  const response = await send('DELETE', `/${id}`)
  t.equal(response.statusCode, 200)
  t.same(response.json(), { success: true, data: { success: true } })
  t.equal(await listed(id), undefined)
  const use = await app.inject({ url: '/data/cats', headers: bearer(token) })
  t.equal(use.statusCode, 401)
})

t.test('PUT and DELETE respond 404 to an unknown id', async (t) => {
  for (const [method, payload] of [
    ['PUT', { name: 'x' }],
    ['DELETE', undefined]
  ] as const) {
    const response = await send(method, '/999999', payload)
    t.equal(response.statusCode, 404)
    t.match(response.json(), { success: false, error: { code: 'TOKEN_NOT_FOUND' } })
  }
})

t.test('an id must be a positive decimal integer without leading zeros', async (t) => {
  const { id } = await issue()
  for (const text of ['0', `0${id}`, `${id}.0`, `+${id}`, '-1', 'x', '1e0', '1000000000']) {
    const response = await send('DELETE', `/${text}`)
    t.equal(response.statusCode, 400, text)
    t.match(response.json(), { error: { code: 'VALIDATION_FAILED', details: [{ path: '/id' }] } })
  }
  t.equal((await send('DELETE', `/${id}`)).statusCode, 200)
})

t.test('POST accepts values at the limits', async (t) => {
  const accepted = [
    { name: 'x', permissions: { tables: [], actions: [] } },
    { name: '🏠'.repeat(100), permissions },
    { name: 'Many', permissions: { tables: Array.from({ length: 1000 }, (_, n) => `t${n}`), actions: ['read'] } },
    { name: 'Odd', permissions: { tables: ['*', 'x'.repeat(200), 'a "b" c', ' '], actions: ['read', 'read'] } },
    { name: 'Never', permissions, expiresAt: null },
    { name: 'Far', permissions, expiresAt: Number.MAX_SAFE_INTEGER }
  ]
  for (const body of accepted) {
    const response = await send('POST', '', body)
    t.equal(response.statusCode, 200, body.name)
    t.same(response.json().data.permissions, body.permissions)
  }
})

t.test('POST refuses values beyond the limits, and issues no token', async (t) => {
  const before = (await send('GET', '')).json().data.length
  const refused: readonly (readonly [path: string, body: object])[] = [
    ['/name', { permissions }],
    ['/name', { name: '', permissions }],
    ['/name', { name: 'x'.repeat(101), permissions }],
    ['/name', { name: null, permissions }],
    ['/permissions', { name: 'x' }],
    ['/permissions', { name: 'x', permissions: null }],
    ['/permissions', { name: 'x', permissions: '*' }],
    ['/permissions/tables', { name: 'x', permissions: { actions: ['read'] } }],
    ['/permissions/tables', { name: 'x', permissions: { tables: '*', actions: ['read'] } }],
    ['/permissions/tables/0', { name: 'x', permissions: { tables: [1], actions: ['read'] } }],
    ['/permissions/tables/0', { name: 'x', permissions: { tables: [''], actions: ['read'] } }],
    ['/permissions/tables/0', { name: 'x', permissions: { tables: ['x'.repeat(201)], actions: ['read'] } }],
    ['/permissions/tables', { name: 'x', permissions: { tables: Array(1001).fill('t'), actions: ['read'] } }],
    ['/permissions/actions', { name: 'x', permissions: { tables: ['*'] } }],
    ['/permissions/actions', { name: 'x', permissions: { tables: ['*'], actions: 'read' } }],
    ['/permissions/actions', { name: 'x', permissions: { tables: ['*'], actions: { 0: 'read' } } }],
    ['/permissions/actions/0', { name: 'x', permissions: { tables: ['*'], actions: ['admin'] } }],
    ['/permissions/actions/0', { name: 'x', permissions: { tables: ['*'], actions: ['*'] } }],
    ['/permissions/actions/0', { name: 'x', permissions: { tables: ['*'], actions: ['READ'] } }],
    ['/permissions/rows', { name: 'x', permissions: { ...permissions, rows: [] } }],
    ['/expiresAt', { name: 'x', permissions, expiresAt: '1700000000000' }],
    ['/expiresAt', { name: 'x', permissions, expiresAt: 1.5 }],
    ['/expiresAt', { name: 'x', permissions, expiresAt: -1 }],
    ['/expiresAt', { name: 'x', permissions, expiresAt: 2 ** 53 }],
    ['/expiresAt', { name: 'x', permissions, expiresAt: 1_700_000_000 }],
    ['/expiresAt', { name: 'x', permissions, expiresAt: 0 }],
    ['/expiresAt', { name: 'x', permissions, expiresAt: Date.now() - 1 }],
    ['/isActive', { name: 'x', permissions, isActive: true }],
    ['/token', { name: 'x', permissions, token: 'rh_mine' }]
  ]
  for (const [path, body] of refused) {
    const response = await send('POST', '', body)
    t.equal(response.statusCode, 400, JSON.stringify(body).slice(0, 90))
    t.match(response.json(), { success: false, error: { code: 'VALIDATION_FAILED', details: [{ path }] } })
  }
  t.equal((await send('GET', '')).json().data.length, before)
})

t.test('PUT refuses an empty or malformed change, and the token stays the same', async (t) => {
  const { id } = await issue()
  const before = await listed(id)
  for (const body of [{}, { isActive: 1 }, { isActive: null }, { name: null }, { id: 5 }, { is_active: false }]) {
    const response = await send('PUT', `/${id}`, body)
    t.equal(response.statusCode, 400, JSON.stringify(body))
    t.match(response.json(), { success: false, error: { code: 'VALIDATION_FAILED' } })
  }
  t.same(await listed(id), before)
})

t.test('tables that are not registered are stored with a warning', async (t) => {
  const tables = ['cats', 'CATS', 'dgos', 'Dgos', "o'hara"]
  const warnings = [
    "There is no table 'Dgos' now. The token can use it as soon as it is registered.",
    "There is no table 'o'hara' now. The token can use it as soon as it is registered."
  ]
  const unknown = { tables, actions: ['read'] }
  const issued = (await send('POST', '', { name: 'Later', permissions: unknown })).json().data
  t.strictSame(issued.warnings, warnings)
  t.strictSame((await listed(issued.id)).permissions, unknown)
  const change = async (changes: object) => (await send('PUT', `/${issued.id}`, changes)).json().data
  t.strictSame(await change({ permissions: unknown }), { success: true, warnings })
  t.strictSame(await change({ name: 'Same permissions' }), { success: true })
  t.strictSame(await change({ permissions: { tables: ['Cats'], actions: ['read'] } }), { success: true })
  t.strictSame(await change({ permissions: { tables: ['*', 'dgos'], actions: ['read'] } }), { success: true })
  t.notOk('warnings' in (await issue()), 'a registered table')
})
