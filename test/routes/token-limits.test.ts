import t from 'tap'
import {
  asAdmin,
  bearer,
  client,
  createDatabase,
  dataOf,
  expectDone,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'

let now = Date.now()
const app = await startApp(t, {
  env: {
    DATABASE: createDatabase(t, 'CREATE TABLE products (id INTEGER PRIMARY KEY, stock INTEGER)'),
    TRUST_PROXY: '127.0.0.1'
  },
  clock: () => now
})
const admin = await asAdmin(app)
await importTable(admin, 'products')
const permissions = { tables: ['products'], actions: ['read', 'create'] }

const issue = async (properties: object = {}): Promise<{ id: number; token: string }> =>
  dataOf(await admin.post('/admin/tokens', { name: 'shop', permissions, ...properties }))

/** Returns a client of a token at an address. */
const from = (token: string, address = '192.0.2.1') => client(app, { ...bearer(token), 'x-forwarded-for': address })

const change = (id: number, properties: object) => admin.put(`/admin/tokens/${id}`, properties)

t.test('a token without a limit has no headers of one', async (t) => {
  const { headers } = await from((await issue()).token).get('/data/products')
  t.notOk('ratelimit' in headers || 'ratelimit-policy' in headers)
})

t.test('requests beyond the limit are refused until the window ends', async (t) => {
  const { id, token } = await issue({ rateLimit: { requests: 3, seconds: 60 } })
  t.strictSame(dataOf(await admin.get(`/admin/tokens/${id}`)).rate_limit, { requests: 3, seconds: 60 })
  const shop = from(token)
  const first = await shop.get('/data/products')
  t.equal(first.statusCode, 200)
  t.equal(first.headers['ratelimit-policy'], '"default";q=3;w=60')
  t.equal(first.headers.ratelimit, '"default";r=2;t=60')
  now += 20_500
  t.equal((await shop.get('/data/nothing')).headers.ratelimit, '"default";r=1;t=40', 'failures count, too')
  t.equal((await from(token, '192.0.2.2').get('/data/_me')).statusCode, 200, 'another address uses the same window')
  const refused = await shop.post('/data/products/records', { id: 1 })
  expectError(t, refused, 429, 'TOO_MANY_REQUESTS')
  t.equal(refused.headers['retry-after'], '40')
  t.equal(refused.headers.ratelimit, '"default";r=0;t=40')
  t.equal((await from((await issue()).token).get('/data/products/records/1')).statusCode, 404, 'nothing was changed')
  now += 39_500
  t.equal((await shop.get('/data/products')).headers.ratelimit, '"default";r=2;t=60')
})

t.test('a batch counts its operations', async (t) => {
  const { token } = await issue({ rateLimit: { requests: 5, seconds: 60 } })
  const shop = from(token)
  const batch = (...ids: number[]) =>
    shop.post('/data/_batch', { operations: ids.map((id) => ({ op: 'create', table: 'products', values: { id } })) })
  const stored = await batch(11, 12, 13)
  t.equal(stored.statusCode, 200)
  t.equal(stored.headers.ratelimit, '"default";r=2;t=60')
  const refused = await batch(14, 15, 16)
  expectError(t, refused, 429, 'TOO_MANY_REQUESTS')
  t.match(refused.json().error.hint, /Send at most 5 operations in 60 s\./)
  t.equal(refused.headers['retry-after'], '60')
  t.equal(refused.headers.ratelimit, '"default";r=1;t=60', 'the refused request is one')
  t.equal((await batch(17)).statusCode, 200)
  now += 60_000
  const tooLarge = await batch(21, 22, 23, 24, 25, 26)
  expectError(t, tooLarge, 429, 'TOO_MANY_REQUESTS')
  t.match(tooLarge.json().error.message, /never succeeds/)
  t.strictSame(
    dataOf(await admin.get('/admin/tables/1/data')).rows.map(({ id }: { id: number }) => id),
    [11, 12, 13, 17]
  )
})

t.test('a limit can be changed and removed', async (t) => {
  const { id, token } = await issue({ rateLimit: { requests: 1, seconds: 60 } })
  const shop = from(token)
  t.equal((await shop.get('/data/_me')).statusCode, 200)
  t.equal((await shop.get('/data/_me')).statusCode, 429)
  expectDone(t, await change(id, { name: 'other' }))
  t.equal((await shop.get('/data/_me')).statusCode, 429, 'other changes keep it')
  expectDone(t, await change(id, { rateLimit: { requests: 2 } }))
  t.strictSame(dataOf(await admin.get(`/admin/tokens/${id}`)).rate_limit, { requests: 2, seconds: 60 }, 'a minute')
  t.equal((await shop.get('/data/_me')).statusCode, 200)
  t.equal((await shop.get('/data/_me')).statusCode, 429)
  expectDone(t, await change(id, { rateLimit: { requests: null } }))
  t.equal(dataOf(await admin.get(`/admin/tokens/${id}`)).rate_limit, undefined)
  t.equal((await shop.get('/data/_me')).statusCode, 200)
})

t.test('an invalid limit is refused', async (t) => {
  for (const rateLimit of [
    { requests: 0, seconds: 60 },
    { requests: 1, seconds: 0 },
    { requests: 1.5, seconds: 60 },
    { seconds: 60 },
    {},
    null
  ])
    expectError(t, await admin.post('/admin/tokens', { name: 'a', permissions, rateLimit }), 400, 'VALIDATION_FAILED')
})

t.test('a token is accepted from its networks only', async (t) => {
  const networks = ['10.0.0.0/8', '2001:db8::/32', '192.0.2.9']
  const { id, token } = await issue({ networks })
  t.strictSame(dataOf(await admin.get(`/admin/tokens/${id}`)).networks, networks)
  for (const address of ['10.9.9.9', '2001:db8::1', '192.0.2.9', '10.9.9.9:5555'])
    t.equal((await from(token, address).get('/data/products')).statusCode, 200, address)
  const unknown = await from(`rh_${'0'.repeat(64)}`).get('/data/products')
  for (const address of ['192.0.2.1', '11.0.0.1', '2001:db9::1']) {
    const refused = await from(token, address).get('/data/products')
    expectError(t, refused, 401, 'INVALID_TOKEN')
    t.equal(refused.json().error.message, unknown.json().error.message, 'as an unknown secret')
  }
  expectDone(t, await change(id, { networks: ['192.0.2.0/24'] }))
  t.equal((await from(token).get('/data/products')).statusCode, 200)
  t.equal((await from(token, '10.9.9.9').get('/data/products')).statusCode, 401)
  expectDone(t, await change(id, { networks: [] }))
  t.equal((await from(token, '10.9.9.9').get('/data/products')).statusCode, 200)
})

t.test('a request from outside is no use of the token', async (t) => {
  const { id, token } = await issue({ networks: ['10.0.0.0/8'] })
  await from(token).get('/data/products')
  t.equal(dataOf(await admin.get(`/admin/tokens/${id}`)).last_used_at, null)
  await from(token, '10.0.0.1').get('/data/products')
  t.equal(dataOf(await admin.get(`/admin/tokens/${id}`)).last_used_at, now)
})

t.test('an invalid network is refused', async (t) => {
  const refused = await admin.post('/admin/tokens', { name: 'a', permissions, networks: ['10.0.0.0/8', '10.0.0.0/99'] })
  expectError(t, refused, 400, 'VALIDATION_FAILED', '/networks/1')
  const { id } = await issue()
  expectError(t, await change(id, { networks: ['shop.example'] }), 400, 'VALIDATION_FAILED', '/networks/0')
})

t.test('a rotated token has a new secret, and the old one until the overlap ends', async (t) => {
  const { id, token } = await issue()
  const rotated = dataOf(await admin.post(`/admin/tokens/${id}/rotate`, { overlapSeconds: 60 }))
  t.match(rotated, { id, token: /^rh_[0-9a-f]{64}$/, previousValidUntil: now + 60_000 })
  t.match(dataOf(await admin.get(`/admin/tokens/${id}`)), {
    name: 'shop',
    token_prefix: rotated.tokenPrefix,
    previous_valid_until: now + 60_000
  })
  t.equal((await from(rotated.token).get('/data/products')).statusCode, 200)
  t.equal((await from(token).get('/data/products')).statusCode, 200)
  expectDone(t, await change(id, { isActive: false }))
  t.equal((await from(token).get('/data/products')).statusCode, 401, 'an inactive token has no secret that works')
  expectDone(t, await change(id, { isActive: true }))
  now += 59_999
  t.equal((await from(token).get('/data/products')).statusCode, 200)
  now += 1
  expectError(t, await from(token).get('/data/products'), 401, 'INVALID_TOKEN')
  t.equal((await from(rotated.token).get('/data/products')).statusCode, 200)
  t.equal(dataOf(await admin.get(`/admin/tokens/${id}`)).previous_valid_until, null)
  t.match(dataOf(await admin.get('/admin/audit?action=token.rotate')).rows[0], {
    target: 'shop',
    targetId: id,
    summary: { tokenPrefix: rotated.tokenPrefix }
  })
})

t.test('without an overlap, the previous secret ends at once', async (t) => {
  const { id, token } = await issue()
  const first = dataOf(await admin.post(`/admin/tokens/${id}/rotate`, { overlapSeconds: 60 }))
  const second = dataOf(await admin.post(`/admin/tokens/${id}/rotate`, { overlapSeconds: 0 }))
  t.equal(second.previousValidUntil, null)
  for (const secret of [token, first.token]) t.equal((await from(secret).get('/data/products')).statusCode, 401)
  t.equal((await from(second.token).get('/data/products')).statusCode, 200)
  expectDone(t, await admin.delete(`/admin/tokens/${id}`))
  t.equal((await from(second.token).get('/data/products')).statusCode, 401)
})

t.test('a second rotation ends the previous secret of the first', async (t) => {
  const { id, token } = await issue()
  const rotate = async () => dataOf(await admin.post(`/admin/tokens/${id}/rotate`, { overlapSeconds: 60 }))
  const [first, second] = [await rotate(), await rotate()]
  t.equal((await from(token).get('/data/products')).statusCode, 401)
  for (const { token } of [first, second]) t.equal((await from(token).get('/data/products')).statusCode, 200)
})

t.test('a rotation needs a token and an overlap', async (t) => {
  const { id } = await issue()
  expectError(t, await admin.post('/admin/tokens/999/rotate', { overlapSeconds: 0 }), 404, 'TOKEN_NOT_FOUND')
  for (const body of [{}, { overlapSeconds: -1 }, { overlapSeconds: 2_592_001 }, { overlapSeconds: '1h' }])
    expectError(t, await admin.post(`/admin/tokens/${id}/rotate`, body), 400, 'VALIDATION_FAILED')
})
