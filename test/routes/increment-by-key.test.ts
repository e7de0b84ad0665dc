import t from 'tap'
import {
  asAdmin,
  asToken,
  bearer,
  client,
  createDatabase,
  dataOf,
  expectData,
  expectDone,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'

const file = createDatabase(
  t,
  `CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT, lives INTEGER);
   INSERT INTO cats VALUES (1, 'Tom', 9), (9223372036854775807, 'Max', 0);
   CREATE TABLE codes (code TEXT PRIMARY KEY, n INTEGER);
   INSERT INTO codes VALUES ('incr', 0), ('a/incr', 0), ('a,b', 0), ('%', 0);
   CREATE TABLE lines (order_id INTEGER, sku TEXT, n INTEGER, PRIMARY KEY (order_id, sku));
   INSERT INTO lines VALUES (1, 'pen', 0), (2, 'pad,a4', 0), (3, 'incr', 0), (4, 'x/y?', 0);`
)

const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
for (const name of ['cats', 'codes', 'lines']) await importTable(admin, name)
const token = await asToken(app, admin)

t.test('an increment with the key in the path does what one with `pk` does', async (t) => {
  const url = '/data/cats/records/1/incr'
  expectDone(t, await token.post(url, { field: 'lives' }))
  expectDone(t, await token.post('/data/cats/incr', { pk: '1', field: 'lives' }))
  expectData(t, await token.post(`${url}?return=record`, { field: 'lives', count: -2 }), {
    success: true,
    record: { id: 1, name: 'Tom', lives: 9 }
  })
})

t.test('it fails with the same errors', async (t) => {
  const bodies = [{ field: 'name' }, { field: 'id' }, { field: 'missing' }, { field: 'lives', count: 1.5 }, {}]
  for (const body of bodies) {
    const { code, details } = (await token.post('/data/cats/incr', { ...body, pk: '1' })).json().error
    const response = await token.post('/data/cats/records/1/incr', body)
    expectError(t, response, 400, code)
    t.strictSame(response.json().error.details, details)
  }
  const withKey = await token.post('/data/cats/records/1/incr', { pk: '1', field: 'lives' })
  expectError(t, withKey, 400, 'VALIDATION_FAILED', '/pk')
  expectError(t, await token.post('/data/cats/records/99/incr', { field: 'lives' }), 404, 'RECORD_NOT_FOUND')
  expectError(t, await token.post('/data/cats/records/01/incr', { field: 'lives' }), 404, 'RECORD_NOT_FOUND')
  const count = '9223372036854775807'
  const overflow = await token.post('/data/cats/records/1/incr', { field: 'lives', count })
  expectError(t, overflow, 409, 'INCREMENT_OVERFLOW')
  t.equal(dataOf(await token.get('/data/cats/records/1')).lives, 9)
})

t.test('it takes If-Match', async (t) => {
  const url = '/data/cats/records/1'
  const { headers } = await token.get(url)
  const conditional = client(app, { ...token.headers, 'if-match': String(headers.etag) })
  expectDone(t, await conditional.post(`${url}/incr`, { field: 'lives' }))
  expectError(t, await conditional.post(`${url}/incr`, { field: 'lives' }), 412, 'PRECONDITION_FAILED')
})

t.test('a token needs the right to update, and to read for `return=record`', async (t) => {
  const url = '/data/cats/records/1/incr'
  const updater = await asToken(app, admin, { tables: ['cats'], actions: ['update'] })
  expectDone(t, await updater.post(url, { field: 'lives' }))
  expectError(t, await updater.post(`${url}?return=record`, { field: 'lives' }), 403, 'ACTION_NOT_ALLOWED')
})

t.test('every key has a path, also one with the last segment of the path', async (t) => {
  for (const code of ['incr', 'a/incr', 'a,b', '%']) {
    const url = `/data/codes/records/${encodeURIComponent(code)}`
    expectDone(t, await token.post(`${url}/incr`, { field: 'n' }))
    expectData(t, await token.get(url), { code, n: 1 })
  }
  expectError(t, await token.get('/data/codes/records/a/incr'), 405, 'METHOD_NOT_ALLOWED')
})

t.test('a composite key is written in both forms', async (t) => {
  const keys = [
    ['1,pen', '1%2Cpen'],
    ['2,pad%2Ca4', '2%2Cpad%252Ca4'],
    ['3,incr', '3%2Cincr'],
    ['4,x%2Fy%3F', '4%2Cx%252Fy%253F']
  ] as const
  for (const [key, encoded] of keys) {
    expectDone(t, await token.post(`/data/lines/records/${key}/incr`, { field: 'n' }))
    expectDone(t, await token.post(`/data/lines/records/${encoded}/incr`, { field: 'n' }))
    t.equal(dataOf(await token.get(`/data/lines/records/${key}`)).n, 2, key)
  }
  t.match(dataOf(await token.post('/data/lines/records/1,pen/incr?return=record', { field: 'n' })), {
    record: { order_id: 1, sku: 'pen', n: 3 }
  })
  expectError(t, await token.post('/data/lines/records/1/incr', { field: 'n' }), 404, 'RECORD_NOT_FOUND')
})

t.test('a token with numbers sends a wide count as a number', async (t) => {
  const permissions = { tables: ['*'], actions: ['read', 'write'] }
  const issued = dataOf(await admin.post('/admin/tokens', { name: 'wide', permissions, integers: 'number' }))
  const response = await app.inject({
    method: 'POST',
    url: '/data/cats/records/9223372036854775807/incr?return=record',
    headers: { ...bearer(issued.token), 'content-type': 'application/json' },
    payload: '{"field":"lives","count":9007199254740993}'
  })
  t.equal(response.statusCode, 200, response.body)
  t.match(response.body, '"lives":9007199254740993')
})

t.test('a key has the same limits as in other paths', async (t) => {
  const long = `/data/codes/records/${'%41'.repeat(8000)}/incr`
  expectError(t, await token.post(long, { field: 'n' }), 404, 'RECORD_NOT_FOUND')
  const longer = `/data/codes/records/${'x'.repeat(8193)}/incr`
  expectError(t, await token.post(longer, { field: 'n' }), 414, 'PATH_TOO_LONG')
})
