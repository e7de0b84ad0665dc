import t from 'tap'
import {
  asAdmin,
  bearer,
  client,
  createDatabase,
  dataOf,
  expectError,
  importTable,
  issueToken,
  routesOf,
  startApp
} from '../helpers.ts'

let now = Date.now()
const lines: string[] = []
const file = createDatabase(
  t,
  `CREATE TABLE products (id INTEGER PRIMARY KEY, title TEXT, price REAL, cost REAL, is_listed INTEGER);
   CREATE TABLE questions (id INTEGER PRIMARY KEY, text TEXT);
   INSERT INTO products VALUES (1, 'pen', 2, 1, 1), (2, 'ink', 8, 3, 0);`
)
const app = await startApp(t, {
  env: { DATABASE: file, PUBLIC_ROLE: 'catalogue', PUBLIC_REQUESTS: '50', TRUST_PROXY: '127.0.0.1' },
  clock: () => now,
  logger: { level: 'warn', stream: { write: (line: string) => lines.push(line) } }
})
const address = await app.listen({ port: 0, host: '127.0.0.1' })
const admin = await asAdmin(app)
for (const name of ['products', 'questions']) await importTable(admin, name)

/** Returns a client without a credential, of another network for each call. */
let networks = 0
const visitor = (headers: Record<string, string> = {}) => {
  networks += 1
  return client(app, { 'x-forwarded-for': `192.0.2.${networks}`, ...headers })
}

t.test('without its role, public access is refused, and logged once', async (t) => {
  for (let request = 0; request < 2; request += 1)
    expectError(t, await visitor().get('/data/products'), 401, 'INVALID_TOKEN')
  t.equal(lines.length, 1)
  t.match(lines[0], /There is no role 'catalogue'/)
})

t.test('a request without a credential has the public role', async (t) => {
  const grants = [
    {
      tables: ['products'],
      actions: ['read'],
      rows: { where: { is_listed: { eq: 1 } } },
      fields: { read: ['id', 'title', 'price'] }
    },
    { tables: ['questions'], actions: ['create'] }
  ]
  const { id } = dataOf(await admin.post('/admin/roles', { name: 'Catalogue', grants }))
  expectError(t, await visitor().get('/data/products'), 401, 'INVALID_TOKEN')
  expectError(t, await admin.post('/admin/roles', { name: 'catalogue', grants }), 409, 'ROLE_EXISTS')
  dataOf(await admin.put(`/admin/roles/${id}`, { name: 'catalogue' }))
  const response = await fetch(`${address}/data/products`)
  t.equal(response.status, 200)
  t.strictSame(((await response.json()) as { data: { rows: object[] } }).data.rows, [{ id: 1, title: 'pen', price: 2 }])
  t.match(dataOf(await visitor().get('/data/_me')), {
    name: 'public',
    role: 'catalogue',
    claims: {},
    expires_at: null,
    tables: ['products', 'questions']
  })
  expectError(t, await visitor().get('/data/products/records/2'), 404, 'RECORD_NOT_FOUND')
  expectError(t, await visitor().get('/data/questions'), 403, 'ACTION_NOT_ALLOWED')
  dataOf(await admin.put(`/admin/roles/${id}`, { grants: grants.slice(1) }))
  expectError(t, await visitor().get('/data/products'), 403, 'ACTION_NOT_ALLOWED')
  dataOf(await admin.put(`/admin/roles/${id}`, { grants }))
  t.equal((await visitor().get('/data/products')).statusCode, 200)
})

t.test('an invalid credential stays invalid', async (t) => {
  for (const authorization of ['', 'Bearer', 'Basic YTpi', `Bearer rh_${'0'.repeat(64)}`, 'Bearer a.b.c'])
    expectError(t, await visitor({ authorization }).get('/data/products'), 401, 'INVALID_TOKEN')
  const cookie = String(admin.headers.cookie)
  expectError(t, await visitor().get('/admin/tokens'), 401, 'AUTHENTICATION_REQUIRED')
  t.equal((await visitor({ cookie }).get('/data/products')).statusCode, 200, 'a cookie is no credential here')
})

t.test('only a caller with a credential can send an Idempotency-Key', async (t) => {
  const key = { 'idempotency-key': 'k' }
  const create = { text: 'Is it blue?' }
  const refused = await visitor(key).post('/data/questions/records', create)
  expectError(t, refused, 400, 'VALIDATION_FAILED', '/idempotency-key')
  t.equal((await visitor().post('/data/questions/records', create)).statusCode, 200)
  const token = await issueToken(admin, { tables: ['questions'], actions: ['create'] })
  t.equal((await visitor({ ...key, ...bearer(token) }).post('/data/questions/records', create)).statusCode, 200)
})

t.test('each network has its requests of a minute', async (t) => {
  const one = visitor()
  for (let request = 0; request < 50; request += 1) t.equal((await one.get('/data/products')).statusCode, 200)
  now += 1
  const refused = await one.get('/data/products')
  expectError(t, refused, 429, 'TOO_MANY_REQUESTS')
  t.equal(refused.headers['retry-after'], '60')
  t.equal((await visitor().get('/data/products')).statusCode, 200, 'another network')
  const token = await issueToken(admin, { tables: ['*'], actions: ['read'] })
  t.equal((await client(app, { ...one.headers, ...bearer(token) }).get('/data/products')).statusCode, 200)
  now += 59_998
  t.equal((await one.get('/data/products')).headers['retry-after'], '1')
  now += 1
  t.equal((await one.get('/data/products')).statusCode, 200)

  const ipv6 = (host: string) => visitor({ 'x-forwarded-for': `2001:db8:1:2::${host}` })
  for (let request = 0; request < 50; request += 1) await ipv6(String(request)).get('/data/products')
  expectError(t, await ipv6('ffff').get('/data/products'), 429, 'TOO_MANY_REQUESTS')
})

t.test('a batch counts its operations', async (t) => {
  const one = visitor()
  const operations = Array.from({ length: 49 }, () => ({ op: 'create', table: 'questions', values: { text: 'Why?' } }))
  const response = await one.post('/data/_batch', { operations })
  t.equal(response.statusCode, 200)
  t.equal(response.headers.ratelimit, '"default";r=1;t=60')
  t.equal(response.headers['ratelimit-policy'], '"default";q=50;w=60')
  expectError(t, await one.post('/data/_batch', { operations: operations.slice(0, 2) }), 429, 'TOO_MANY_REQUESTS')
})

t.test('requests to each route count', async (t) => {
  const one = visitor()
  for (let request = 0; request < 50; request += 1) await one.get('/data/products')
  for (const { url, method } of routesOf(app).filter(({ url }) => url.startsWith('/data/'))) {
    const response = await app.inject({ method: method as 'GET', url, headers: one.headers })
    if (method === 'HEAD') t.equal(response.statusCode, 429)
    else expectError(t, response, 429, 'TOO_MANY_REQUESTS')
  }
})

t.test('the access log has the name of a key without an id', async (t) => {
  const logged: string[] = []
  const app = await startApp(t, {
    env: { PUBLIC_ROLE: 'none', ACCESS_LOG: 'true' },
    logger: { level: 'info', stream: { write: (line: string) => logged.push(line) } }
  })
  const admin = await asAdmin(app)
  dataOf(await admin.post('/admin/roles', { name: 'none', grants: [] }))
  dataOf(await client(app).get('/data/_me'))
  t.match(
    logged.map((line) => JSON.parse(line)).filter(({ path }) => path === '/data/_me'),
    [{ token: 'public', status: 200 }]
  )
})
