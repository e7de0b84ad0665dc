import t from 'tap'
import { asAdmin, asToken, createDatabase, createTable, expectError, importTable, startApp } from '../helpers.ts'

const DATABASE = createDatabase(
  t,
  'CREATE TABLE seats (hall TEXT, row INTEGER, guest TEXT, PRIMARY KEY (hall, row));' +
    "INSERT INTO seats VALUES ('a', 1, 'Ada'), ('x,y', 1, 'Bob')"
)

const app = await startApp(t, { env: { DATABASE } })
const admin = await asAdmin(app)
await importTable(admin, 'seats')
await createTable(admin, {
  name: 'cats',
  fields: [
    { name: 'name', jsonType: 'string' },
    { name: 'lives', jsonType: 'integer' },
    { name: 'secrets', jsonType: 'string', isHidden: true }
  ]
})
const token = await asToken(app, admin)

t.test('a misspelled name gets the closest visible name as a hint', async (t) => {
  for (const [name, response, hint] of [
    ['a field of a record', await token.post('/data/cats/records', { nmae: 'Tom' }), "Did you mean 'name'?"],
    ['a field with another case', await token.post('/data/cats/records', { NAME: 'Tom' }), "Did you mean 'name'?"],
    [
      'the first of several fields',
      await token.put('/data/cats/records/1', { nam: '', live: 1 }),
      "Did you mean 'name'?"
    ],
    ['a field of an order', await token.get('/data/cats?order=live'), /^Did you mean 'lives'\? Separate fields/],
    ['a descending field', await token.get('/data/cats?order=name,-livess'), /^Did you mean 'lives'\?/],
    ['a field with a direction', await token.get('/data/cats?order=nam%20desc'), /^Did you mean 'name'\?/],
    ['a field to increment', await token.post('/data/cats/incr', { pk: 1, field: 'live' }), "Did you mean 'lives'?"],
    ['a parameter', await token.get('/data/cats?oder=name'), "Did you mean 'order'?"],
    ['a property of a body', await token.post('/data/cats/incr', { pk: 1, feild: 'lives' }), "Did you mean 'field'?"],
    [
      'a property inside a body',
      await admin.put('/admin/tables/2', { fields: [{ name: 'name', hidden: true, isHiden: true }] }),
      "Did you mean 'isHidden'?"
    ],
    [
      'a field of a table',
      await admin.put('/admin/tables/2', { fields: [{ name: 'secret', isHidden: false }] }),
      "Did you mean 'secrets'?"
    ]
  ] as const) {
    expectError(t, response, 400, 'VALIDATION_FAILED')
    t.match(response.json(), { error: { hint } }, name)
  }
})

t.test('no hint names a field that is hidden, or that is not similar', async (t) => {
  for (const response of [
    await token.post('/data/cats/records', { secret: '' }),
    await token.get('/data/cats?order=secret'),
    await token.post('/data/cats/incr', { pk: 1, field: 'secret' }),
    await token.post('/data/cats/records', { colour: '' }),
    await token.post('/data/cats/records', { ['secrets'.repeat(50)]: '' }),
    await token.get('/data/cats?lives=9')
  ]) {
    expectError(t, response, 400, 'VALIDATION_FAILED')
    t.notMatch(response.body, /Did you mean/)
  }
  const response = await admin.post('/admin/tables/2/data', { secret: '' })
  t.match(response.json(), { error: { hint: "Did you mean 'secrets'?" } }, 'an administrator sees the field')
})

t.test('a key with the wrong number of parts gets the number and the form of the key', async (t) => {
  for (const [response, problem] of [
    [await token.get('/data/seats/records/a'), "has 2 parts, but 'a' has 1."],
    [await token.get('/data/seats/records/x,y,1'), "has 2 parts, but 'x,y,1' has 3."],
    [await token.put('/data/seats/records/a', { guest: '' }), "has 2 parts, but 'a' has 1."],
    [await token.delete('/data/seats/records/a'), "has 2 parts, but 'a' has 1."],
    [await token.get('/data/seats/records/a,1,'), "has 2 parts, but 'a,1,' has 3."]
  ] as const) {
    expectError(t, response, 404, 'RECORD_NOT_FOUND')
    const { message, hint } = response.json().error
    t.equal(message, `There is no such record: the primary key ${problem}`)
    t.equal(hint, 'Percent-encode each part, and join the parts with commas.')
  }
  const key = ['x,y', 1].map(encodeURIComponent).join(',')
  t.equal((await token.get(`/data/seats/records/${key}`)).json().data.guest, 'Bob')
  t.equal((await token.get(`/data/seats/records/${encodeURIComponent(key)}`)).json().data.guest, 'Bob')
  const missing = await token.get('/data/seats/records/b,1')
  t.equal(missing.json().error.message, "There is no record with the primary key 'b,1'.", 'with all its parts')
  t.equal((await token.get('/data/cats/records/1,1')).json().error.hint, undefined, 'a key of one field has no parts')
})

t.test('the key of a table that the token may not read is not described', async (t) => {
  const stranger = await asToken(app, admin, { tables: ['cats'], actions: ['read', 'write'] })
  const response = await stranger.get('/data/seats/records/a')
  expectError(t, response, 403, 'ACTION_NOT_ALLOWED')
  t.notMatch(response.body, /parts/)
})

t.test('a parameter with one accepted value names it', async (t) => {
  const response = await token.put('/data/cats/records/1?return=yes', { name: 'Tom' })
  expectError(t, response, 400, 'VALIDATION_FAILED', '/return')
  t.equal(response.json().error.message, "'return' must be 'record'.")
})

t.test('a table that a token cannot find points to the tables that it can use', async (t) => {
  const response = await token.get('/data/dogs')
  expectError(t, response, 404, 'TABLE_NOT_FOUND')
  t.equal(response.json().error.hint, 'GET /data/_me lists the tables that this token can use.')
})

t.test('a token at a route of administrators gets a hint that tokens are for /data', async (t) => {
  const hint = 'Tokens are accepted under /data only. Log in: POST /auth/login.'
  for (const url of ['/admin/tables', '/auth/me']) {
    const response = await token.get(url)
    expectError(t, response, 401, 'AUTHENTICATION_REQUIRED')
    t.equal(response.json().error.hint, hint)
  }
  const anonymous = await app.inject('/admin/tables')
  t.equal(anonymous.json().error.hint, 'Log in: POST /auth/login.')
})
