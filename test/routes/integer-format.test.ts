import t from 'tap'
import {
  asAdmin,
  asToken,
  bearer,
  type Client,
  client,
  createDatabase,
  dataOf,
  expectData,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'

const WIDE = '9223372036854775807'

const externalFile = createDatabase(
  t,
  `CREATE TABLE counters (id INTEGER PRIMARY KEY, n INTEGER, price REAL) STRICT;
   CREATE TABLE loose (id INTEGER PRIMARY KEY, n INTEGER, price REAL, amount NUMERIC, day DATE, any_value)`
)

const app = await startApp(t, { env: { DATABASE: externalFile } })
const admin = await asAdmin(app)
for (const name of ['counters', 'loose']) await importTable(admin, name)
const permissions = { tables: ['*'], actions: ['read', 'write'] }

const tokenWith = async (integers: string) =>
  client(app, bearer(dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions, integers })).token))
const auto = await asToken(app, admin)
const number = await tokenWith('number')
const string = await tokenWith('string')

const send = (token: Client, method: 'post' | 'put', url: string, body: string) => {
  token.headers['content-type'] = 'application/json'
  return token[method](url, body)
}

for (const table of ['counters', 'loose']) {
  t.test(`each format shows the integers of ${table} in its own way`, async (t) => {
    const { id } = dataOf(await auto.post(`/data/${table}/records`, { n: WIDE }))
    const narrow = dataOf(await auto.post(`/data/${table}/records`, { n: 7 }))
    const textOf = async (token: Client, key: unknown) => (await token.get(`/data/${table}/records/${key}`)).body
    t.match(await textOf(auto, id), `"id":${id},"n":"${WIDE}"`)
    t.match(await textOf(auto, narrow.id), `"id":${narrow.id},"n":7`)
    t.match(await textOf(number, id), `"id":${id},"n":${WIDE}`)
    t.match(await textOf(number, narrow.id), `"id":${narrow.id},"n":7`)
    t.match(await textOf(string, id), `"id":"${id}","n":"${WIDE}"`)
    t.match(await textOf(string, narrow.id), `"id":"${narrow.id}","n":"7","price":null`)
    t.match((await number.get(`/data/${table}?order=-id`)).body, `"n":${WIDE}`)
    t.match((await string.get(`/data/${table}?order=-id`)).body, `"n":"${WIDE}"`)
  })

  t.test(`a token with numbers writes wide integers to ${table} exactly`, async (t) => {
    const created = await send(number, 'post', `/data/${table}/records`, `{"n": ${WIDE}, "price": 100000000000000000}`)
    t.match(created.body, `"n":${WIDE}`)
    t.match(created.body, '"price":1.0e+17')
    const { id } = dataOf(created)
    const changed = await send(
      number,
      'put',
      `/data/${table}/records/${id}?return=record`,
      '{"n":-9223372036854775808}'
    )
    t.match(changed.body, '"n":-9223372036854775808')
    const twice = await send(number, 'put', `/data/${table}/records/${id}`, '{"n":1,"n":9007199254740993}')
    expectError(t, twice, 400, 'VALIDATION_FAILED')
    dataOf(await send(number, 'put', `/data/${table}/records/${id}`, '{"n":9007199254740993}'))
    t.match((await number.get(`/data/${table}/records/${id}`)).body, '"n":9007199254740993')
    const incremented = await number.post(`/data/${table}/incr?return=record`, { pk: String(id), field: 'n' })
    t.match(incremented.body, '"n":9007199254740994')
    expectError(
      t,
      await send(auto, 'put', `/data/${table}/records/${id}`, `{"n":${WIDE}}`),
      400,
      'VALIDATION_FAILED',
      '/n'
    )
    const tooWide = await send(number, 'put', `/data/${table}/records/${id}`, '{"n":9223372036854775808}')
    expectError(t, tooWide, 400, 'VALIDATION_FAILED', '/n')
  })

  t.test(`a token with text writes any integer of ${table} as text`, async (t) => {
    const { id } = dataOf(await string.post(`/data/${table}/records`, { n: '5' }))
    t.equal(dataOf(await string.get(`/data/${table}/records/${id}`)).n, '5')
    t.equal((await string.put(`/data/${table}/records/${id}`, { n: WIDE })).statusCode, 200)
    t.equal((await string.put(`/data/${table}/records/${id}`, { n: 6 })).statusCode, 200)
    t.equal((await string.post(`/data/${table}/incr`, { pk: id, field: 'n', count: '2' })).statusCode, 200)
    t.equal(dataOf(await string.get(`/data/${table}/records/${id}`)).n, '8')
    expectError(t, await string.put(`/data/${table}/records/${id}`, { n: '05' }), 400, 'VALIDATION_FAILED', '/n')
    expectError(t, await auto.put(`/data/${table}/records/${id}`, { n: '5' }), 400, 'VALIDATION_FAILED', '/n')
    expectError(t, await auto.post(`/data/${table}/incr`, { pk: id, field: 'n', count: '2' }), 400, 'VALIDATION_FAILED')
  })
}

t.test('a token with numbers writes wide integers to columns of any type exactly', async (t) => {
  const body = `{"amount":${WIDE},"day":${WIDE},"any_value":${WIDE}}`
  const { id } = dataOf(await send(number, 'post', '/data/loose/records', body))
  const response = await number.get(`/data/loose/records/${id}`)
  t.match(response.body, `"amount":${WIDE},"day":${WIDE},"any_value":${WIDE}`)
  const shown = dataOf(await string.get(`/data/loose/records/${id}`))
  t.match(shown, { amount: WIDE, day: WIDE, any_value: WIDE })
})

t.test('a JSON field accepts no integer that its readers would round', async (t) => {
  const field = { name: 'settings', jsonType: 'object' }
  dataOf(await admin.post('/admin/tables', { name: 'documents', label: '', fields: [field] }))
  const response = await send(number, 'post', '/data/documents/records', `{"settings":{"n":${WIDE}}}`)
  expectError(t, response, 400, 'VALIDATION_FAILED', '/settings/n')
  t.equal((await send(number, 'post', '/data/documents/records', '{"settings":{"n":1}}')).statusCode, 200)
})

t.test('a token with numbers increments by a wide integer, and names the record by a wide key', async (t) => {
  await send(number, 'post', '/data/counters/records', `{"id":${WIDE},"n":-2}`)
  const body = `{"pk":${WIDE},"field":"n","count":${WIDE}}`
  const response = await send(number, 'post', '/data/counters/incr?return=record', body)
  t.match(response.body, `"id":${WIDE},"n":9223372036854775805`)
  for (const pk of [`[${WIDE}]`, `{"id":${WIDE}}`]) {
    const named = await send(number, 'post', '/data/counters/incr?return=record', `{"pk":${pk},"field":"n","count":0}`)
    t.match(named.body, `"id":${WIDE}`)
  }
})

t.test('a wide integer in another place of a body is refused', async (t) => {
  const response = await send(number, 'post', '/data/counters/incr', `{"pk":1,"field":"n","count":[${WIDE}]}`)
  expectError(t, response, 400, 'VALIDATION_FAILED', '/count')
  expectError(t, await send(number, 'post', '/data/counters/incr', 'null'), 400, 'VALIDATION_FAILED')
  expectError(t, await send(number, 'post', '/data/counters/incr', WIDE), 400, 'VALIDATION_FAILED')
  expectError(t, await send(number, 'post', '/data/counters/records', `[${WIDE}]`), 400, 'VALIDATION_FAILED')
})

t.test('a token with numbers declares defaults that are wide integers', async (t) => {
  const designer = { tables: ['*'], actions: ['read', 'write', 'schema'] }
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'Go', permissions: designer, integers: 'number' }))
  const go = client(app, bearer(token))
  const fields = `[{"name":"n","jsonType":"integer","defaultValue":${WIDE}},{"name":"r","jsonType":"number","defaultValue":${WIDE}}]`
  const created = await send(go, 'post', '/data/_schema/tables', `{"name":"defaults","label":"","fields":${fields}}`)
  t.match(dataOf(created).fields, [{ name: 'id' }, { defaultValue: WIDE }, { defaultValue: 2 ** 63 }])
  const field = `{"field":{"name":"m","jsonType":"integer","defaultValue":-${WIDE}}}`
  t.equal((await send(go, 'post', '/data/_schema/tables/defaults/fields', field)).statusCode, 200)
  const record = await send(go, 'post', '/data/defaults/records', '{}')
  t.match(record.body, `"n":${WIDE},"r":9.2233720368547758e+18,"m":-${WIDE}`)
  const text = `{"field":{"name":"t","jsonType":"string","defaultValue":${WIDE}}}`
  const response = await send(go, 'post', '/data/_schema/tables/defaults/fields', text)
  expectError(t, response, 400, 'VALIDATION_FAILED', '/field/defaultValue')
})

t.test('the format is issued, listed, changed and shown to its token', async (t) => {
  const issued = dataOf(await admin.post('/admin/tokens', { name: 'Go', permissions, integers: 'number' }))
  t.equal(issued.integers, 'number')
  t.notOk('integers' in dataOf(await admin.post('/admin/tokens', { name: 'Plain', permissions })))
  const token = client(app, bearer(issued.token))
  const listed = async () => dataOf(await admin.get('/admin/tokens')).find(({ id }: { id: number }) => id === issued.id)
  t.equal((await listed()).integers, 'number')
  t.equal(dataOf(await token.get('/data/_me')).integers, 'number')
  expectData(t, await admin.put(`/admin/tokens/${issued.id}`, { integers: 'string' }), { success: true })
  t.equal((await listed()).integers, 'string')
  t.equal(dataOf(await token.get('/data/_me')).integers, 'string')
  await admin.put(`/admin/tokens/${issued.id}`, { name: 'Renamed' })
  t.equal((await listed()).integers, 'string')
  expectError(
    t,
    await admin.put(`/admin/tokens/${issued.id}`, { integers: 'float' }),
    400,
    'VALIDATION_FAILED',
    '/integers'
  )
})
