import t from 'tap'
import type { NewField } from '../../schemas/new-table.ts'
import type { Table } from '../../schemas/table.ts'
import type { Permissions } from '../../schemas/token.ts'
import {
  asAdmin,
  asToken,
  bearer,
  type Client,
  client,
  createDatabase,
  createTable,
  dataOf,
  expectData,
  expectDone,
  expectError,
  importTable,
  keyField,
  plainField,
  startApp
} from '../helpers.ts'

const externalFile = createDatabase(
  t,
  `CREATE TABLE loose (id INTEGER PRIMARY KEY, n INTEGER, d NUMERIC, t TEXT, b BOOLEAN, day DATE);
   INSERT INTO loose VALUES (1, 9223372036854775807, 1.5, 'x', 1, '2026-01-01'), (2, 'text', 'text', 'y', 0, 5);
   CREATE TABLE pairs (a INTEGER, b TEXT, n INTEGER, PRIMARY KEY (a, b));
   INSERT INTO pairs VALUES (1, 'x,y', 1);
   CREATE TABLE demanding (id INTEGER PRIMARY KEY, secret TEXT NOT NULL UNIQUE, shown TEXT);`
)

let time = Date.parse('2026-03-01T12:00:00Z')
const app = await startApp(t, { env: { DATABASE: externalFile, MAX_PAGE_SIZE: '100' }, clock: () => time })
const admin = await asAdmin(app)
const token = await asToken(app, admin)
const tokenWith = (...actions: Permissions['actions']) => asToken(app, admin, { tables: ['*'], actions })

const catFields: NewField[] = [
  { name: 'name', jsonType: 'string' },
  { name: 'lives', jsonType: 'integer' },
  { name: 'weight', jsonType: 'number' }
]
const cats = await createTable(admin, { name: 'Cats', fields: catFields, autoTimestamps: true })
const stamps = () => ({ created_at: time, updated_at: time })

t.test('a token lists, reads, creates, updates and deletes records', async (t) => {
  const tom = { id: 1, name: 'Tom', lives: 9, weight: null, ...stamps() }
  expectData(t, await token.post('/data/Cats/records', { name: 'Tom', lives: 9 }), tom)
  expectData(t, await token.get('/data/Cats/records/1'), tom)
  expectData(t, await token.get('/data/Cats'), { rows: [tom], total: 1, page: 1, size: 20 })
  expectDone(t, await token.put('/data/Cats/records/1', { weight: 4.5 }))
  expectData(t, await token.get('/data/Cats?page=1&size=500&order=-weight&q=tom'), {
    rows: [{ ...tom, weight: 4.5, updated_at: time + 1 }],
    total: 1,
    page: 1,
    size: 100
  })
  expectDone(t, await token.delete('/data/Cats/records/1'))
  expectError(t, await token.get('/data/Cats/records/1'), 404, 'RECORD_NOT_FOUND')
  expectError(t, await token.put('/data/Cats/records/1', { name: 'x' }), 404, 'RECORD_NOT_FOUND')
  expectError(t, await token.delete('/data/Cats/records/1'), 404, 'RECORD_NOT_FOUND')
})

t.test('with return=record, an update, an increment and a delete respond with the record', async (t) => {
  const { id } = dataOf(await token.post('/data/Cats/records', { name: 'Kitty', lives: 9 }))
  const record = (changes: object) => ({ id, name: 'Kitty', lives: 9, weight: null, created_at: time, ...changes })
  const url = `/data/Cats/records/${id}`
  const updated = record({ weight: 4, updated_at: time + 1 })
  expectData(t, await token.put(`${url}?return=record`, { weight: 4 }), { success: true, record: updated })
  expectData(t, await token.get(url), updated)
  const incremented = record({ weight: 4, lives: 8, updated_at: time + 2 })
  const incr = { pk: id, field: 'lives', count: -1 }
  expectData(t, await token.post('/data/Cats/incr?return=record', incr), { success: true, record: incremented })
  expectData(t, await token.delete(`${url}?return=record`), { success: true, record: incremented })
  for (const call of [
    () => token.put(`${url}?return=record`, { weight: 4 }),
    () => token.post('/data/Cats/incr?return=record', incr),
    () => token.delete(`${url}?return=record`)
  ])
    expectError(t, await call(), 404, 'RECORD_NOT_FOUND')
})

t.test('return takes record only, and changes nothing otherwise', async (t) => {
  const { id } = dataOf(await token.post('/data/Cats/records', { name: 'Kitty', lives: 9 }))
  const url = `/data/Cats/records/${id}`
  for (const query of ['return=', 'return=Record', 'return=true', 'return=record&return=record']) {
    expectError(t, await token.put(`${url}?${query}`, { lives: 1 }), 400, 'VALIDATION_FAILED', '/return')
    const incr = await token.post(`/data/Cats/incr?${query}`, { pk: id, field: 'lives' })
    expectError(t, incr, 400, 'VALIDATION_FAILED', '/return')
    expectError(t, await token.delete(`${url}?${query}`), 400, 'VALIDATION_FAILED', '/return')
  }
  expectError(t, await token.delete(`${url}?returns=record`), 400, 'VALIDATION_FAILED', '/returns')
  expectError(t, await token.get(`${url}?return=record`), 400, 'VALIDATION_FAILED', '/return')
  t.match(dataOf(await token.get(url)), { lives: 9 })
  expectDone(t, await token.delete(url))
})

t.test('return=record also needs the action read: without it a change must not show the record', async (t) => {
  const { id } = dataOf(await token.post('/data/Cats/records', { name: 'Kitty', lives: 9 }))
  const url = `/data/Cats/records/${id}`
  const calls = (by: Client, query: string) => [
    () => by.put(`${url}${query}`, { lives: 8 }),
    () => by.post(`/data/Cats/incr${query}`, { pk: id, field: 'lives' }),
    () => by.delete(`${url}${query}`)
  ]
  const writer = await tokenWith('write')
  for (const call of calls(writer, '?return=record')) {
    const response = await call()
    expectError(t, response, 403, 'ACTION_NOT_ALLOWED')
    t.match(response.json().error.message, "The token needs the action 'read'")
  }
  t.match(dataOf(await token.get(url)), { lives: 9 })
  for (const call of calls(writer, '')) expectDone(t, await call())
  const reader = await tokenWith('read')
  for (const call of calls(reader, '?return=record')) expectError(t, await call(), 403, 'ACTION_NOT_ALLOWED')
})

t.test('a token with all fields visible reads the same schema as an administrator', async (t) => {
  expectData(t, await token.get('/data/Cats/schema'), cats)
  expectError(t, await token.get('/data/Cats/schema?full=true'), 400, 'VALIDATION_FAILED', '/full')
})

t.test('a table is found by its name in any case', async (t) => {
  for (const name of ['cats', 'CATS', '%63ats']) t.equal((await token.get(`/data/${name}`)).statusCode, 200)
  const others = [
    'cat',
    'cats ',
    'cäts',
    '"cats"',
    'main.cats',
    'sqlite_schema',
    '_rowhouse_tokens',
    '_ROWHOUSE_ADMINS'
  ]
  for (const name of others)
    expectError(t, await token.get(`/data/${encodeURIComponent(name)}`), 404, 'TABLE_NOT_FOUND')
  expectError(t, await token.get('/data/cats%00'), 400, 'VALIDATION_FAILED', '/table')
})

t.test('a reserved word is not a table name', async (t) => {
  for (const path of ['_schema', '_schema/schema', '_me/schema', '_schema/records/1', '_me/records/1'])
    expectError(t, await token.get(`/data/${path}`), 404, 'TABLE_NOT_FOUND')
  expectError(t, await token.post('/data/_schema/records', {}), 404, 'TABLE_NOT_FOUND')
})

t.test('the responses for an unpublished table are the same as for a missing one', async (t) => {
  const { id } = await createTable(admin, { name: 'private', fields: catFields })
  t.equal((await token.get('/data/private')).statusCode, 200)
  await admin.put(`/admin/tables/${id}`, { isPublished: false, isEditable: false })
  const calls = (name: string) => [
    token.get(`/data/${name}`),
    token.get(`/data/${name}/schema`),
    token.get(`/data/${name}/records/1`),
    token.post(`/data/${name}/records`, {}),
    token.put(`/data/${name}/records/1`, { name: 'x' }),
    token.delete(`/data/${name}/records/1`),
    token.post(`/data/${name}/incr`, { pk: '1', field: 'lives' }),
    token.post(`/data/_schema/tables/${name}/fields`, { field: { name: 'x', jsonType: 'string' } })
  ]
  const [unpublished, missing] = await Promise.all([Promise.all(calls('private')), Promise.all(calls('missing'))])
  for (const [index, response] of unpublished.entries()) {
    expectError(t, response, 404, 'TABLE_NOT_FOUND')
    const withoutName = (text = '') => text.replace(/missing|private/, '').replace(/"requestId":"[^"]*"/, '')
    t.equal(withoutName(response.body), withoutName(missing[index]?.body))
  }
  await admin.put(`/admin/tables/${id}`, { isPublished: true })
  t.equal((await token.get('/data/private')).statusCode, 200, 'after it is published again')
})

t.test('tokens can read a read-only table, but not change it', async (t) => {
  const { id } = await createTable(admin, { name: 'frozen', fields: catFields })
  await token.post('/data/frozen/records', { name: 'x', lives: 1 })
  await admin.put(`/admin/tables/${id}`, { isEditable: false })
  for (const response of [
    await token.post('/data/frozen/records', { name: 'y' }),
    await token.put('/data/frozen/records/1', { name: 'y' }),
    await token.delete('/data/frozen/records/1'),
    await token.post('/data/frozen/incr', { pk: '1', field: 'lives' }),
    await token.post('/data/_schema/tables/frozen/fields', { field: { name: 'x', jsonType: 'string' } })
  ])
    expectError(t, response, 403, 'TABLE_READ_ONLY')
  expectData(t, await token.get('/data/frozen/records/1'), { id: 1, name: 'x', lives: 1, weight: null })
  await admin.put(`/admin/tables/${id}`, { isEditable: true })
  expectDone(t, await token.put('/data/frozen/records/1', { name: 'y' }))
})

t.test('each action allows its own requests', async (t) => {
  await createTable(admin, { name: 'cats_by_action', fields: catFields })
  await token.post('/data/cats_by_action/records', { lives: 1 })
  const calls = {
    list: ['get', '/data/cats_by_action'],
    read: ['get', '/data/cats_by_action/records/1'],
    schema: ['get', '/data/cats_by_action/schema'],
    create: ['post', '/data/cats_by_action/records', {}],
    update: ['put', '/data/cats_by_action/records/1', { lives: 2 }],
    incr: ['post', '/data/cats_by_action/incr', { pk: '1', field: 'lives' }],
    remove: ['delete', '/data/cats_by_action/records/999'],
    addField: ['post', '/data/_schema/tables/cats_by_action/fields', { field: { name: 'id', jsonType: 'string' } }],
    createTable: ['post', '/data/_schema/tables', { name: 'cats_by_action', label: '', fields: catFields }]
  } as const
  type Call = keyof typeof calls
  /** The requests that fail although they are allowed: the record is missing, or the name exists. */
  const statuses: Partial<Record<Call, number>> = { remove: 404, addField: 409, createTable: 409 }
  const allowed: Record<string, readonly Call[]> = {
    read: ['list', 'read', 'schema'],
    write: ['create', 'update', 'incr', 'remove', 'addField', 'createTable'],
    create: ['create'],
    update: ['update', 'incr'],
    delete: ['remove'],
    schema: ['addField', 'createTable'],
    '': []
  }
  for (const [action, allowedCalls] of Object.entries(allowed)) {
    t.test(`'${action}'`, async (t) => {
      const limited = await tokenWith(...((action === '' ? [] : [action]) as Permissions['actions']))
      for (const [call, [method, url, body]] of Object.entries(calls)) {
        const response = await limited[method](url, body)
        if (allowedCalls.includes(call as Call)) t.equal(response.statusCode, statuses[call as Call] ?? 200, call)
        else expectError(t, response, 403, 'ACTION_NOT_ALLOWED')
      }
    })
  }
})

t.test('a table outside the scope is refused in the same way, whether it exists or not', async (t) => {
  const limited = await asToken(app, admin, { tables: ['cats', 'not_yet'], actions: ['read', 'write'] })
  t.equal((await limited.get('/data/CATS')).statusCode, 200)
  expectError(t, await limited.get('/data/not_yet'), 404, 'TABLE_NOT_FOUND')
  for (const name of ['cats_by_action', 'nothing', 'private']) {
    expectError(t, await limited.get(`/data/${name}`), 403, 'ACTION_NOT_ALLOWED')
    expectError(t, await limited.post(`/data/${name}/incr`, { pk: 1, field: 'lives' }), 403, 'ACTION_NOT_ALLOWED')
  }
  const table = { name: 'elsewhere', label: '', fields: catFields }
  expectError(t, await limited.post('/data/_schema/tables', table), 403, 'ACTION_NOT_ALLOWED')
  t.equal((await limited.post('/data/_schema/tables', { ...table, name: 'Not_Yet' })).statusCode, 200)
  t.equal((await limited.get('/data/not_yet')).statusCode, 200, 'a table that is created later is in scope')
})

t.test('a token does not see a hidden field', async (t) => {
  const { id } = await createTable(admin, {
    name: 'with_hidden',
    fields: [
      { name: 'shown', jsonType: 'string' },
      { name: 'secret', jsonType: 'string', isHidden: true, defaultValue: 'canary' },
      { name: 'count', jsonType: 'integer', isHidden: true }
    ]
  })
  const url = '/data/with_hidden'
  await admin.post(`/admin/tables/${id}/data`, { shown: 'a', secret: 'canary', count: 1 })

  t.test('in records', async (t) => {
    expectData(t, await token.get(`${url}/records/1`), { id: 1, shown: 'a' })
    expectData(t, await token.get(url), { rows: [{ id: 1, shown: 'a' }], total: 1, page: 1, size: 20 })
    expectData(t, await token.post(`${url}/records`, { shown: 'b' }), { id: 2, shown: 'b' })
    await token.post(`${url}/records`, { shown: 'c' })
    const record = { id: 3, shown: 'd' }
    expectData(t, await token.put(`${url}/records/3?return=record`, { shown: 'd' }), { success: true, record })
    expectData(t, await token.delete(`${url}/records/3?return=record`), { success: true, record })
  })
  t.test('in the schema', async (t) => {
    const table = dataOf(await token.get(`${url}/schema`)) as Table
    t.strictSame(
      table.fields.map(({ name }) => name),
      ['id', 'shown']
    )
    const changed = dataOf(
      await token.post('/data/_schema/tables/with_hidden/fields', { field: { name: 'more', jsonType: 'string' } })
    )
    t.notMatch(JSON.stringify(changed), /secret|canary|count/)
  })
  t.test('in search and order', async (t) => {
    t.equal(dataOf(await token.get(`${url}?q=canary`)).total, 0)
    t.equal(dataOf(await admin.get(`/admin/tables/${id}/data?q=canary`)).total, 2)
    for (const order of ['secret', '-secret', 'count desc', 'id,count'])
      expectError(t, await token.get(`${url}?order=${order}`), 400, 'VALIDATION_FAILED', '/order')
  })
  t.test('in writes, where it is refused like a missing field', async (t) => {
    const unknown = await token.put(`${url}/records/1`, { nothing: 'x' })
    const hidden = await token.put(`${url}/records/1`, { secret: 'x' })
    expectError(t, hidden, 400, 'VALIDATION_FAILED', '/secret')
    const withoutName = (text: string) => text.replaceAll(/nothing|secret/g, '').replace(/"requestId":"[^"]*"/, '')
    t.equal(withoutName(hidden.body), withoutName(unknown.body))
    expectError(t, await token.post(`${url}/records`, { count: 1 }), 400, 'VALIDATION_FAILED', '/count')
    expectError(t, await token.post(`${url}/incr`, { pk: '1', field: 'count' }), 400, 'VALIDATION_FAILED', '/field')
    expectData(t, await admin.get(`/admin/tables/${id}/data/1`), {
      id: 1,
      shown: 'a',
      secret: 'canary',
      count: 1,
      more: null
    })
  })
  t.test('in the message of a constraint violation', async (t) => {
    const { id: demanding } = await importTable(admin, 'demanding')
    await admin.put(`/admin/tables/${demanding}`, { fields: [{ name: 'secret', isHidden: true }] })
    const response = await token.post('/data/demanding/records', { shown: 'x' })
    expectError(t, response, 400, 'CONSTRAINT_VIOLATION')
    t.notMatch(response.body, /secret/)
    t.equal((await admin.post(`/admin/tables/${demanding}/data`, { secret: 's' })).statusCode, 200)
  })
})

t.test('a token may not write a read-only field', async (t) => {
  const fields: NewField[] = [...catFields, { name: 'fixed', jsonType: 'integer', isReadonly: true, defaultValue: 5 }]
  await createTable(admin, { name: 'partly', fields })
  t.equal(dataOf(await token.post('/data/partly/records', {})).fixed, 5)
  expectError(t, await token.post('/data/partly/records', { fixed: 5 }), 400, 'VALIDATION_FAILED', '/fixed')
  expectError(t, await token.put('/data/partly/records/1', { fixed: 6, name: 'x' }), 400, 'VALIDATION_FAILED', '/fixed')
  expectDone(t, await token.put('/data/partly/records/1', { fixed: 5, name: 'x' }))
  expectError(t, await token.post('/data/partly/incr', { pk: '1', field: 'fixed' }), 400, 'NOT_INCREMENTABLE')
})

t.test('an increment', async (t) => {
  const fields: NewField[] = [...catFields, { name: 'flag', jsonType: 'boolean' }]
  await createTable(admin, { name: 'counted', fields, autoTimestamps: true })
  const url = '/data/counted/incr'
  const stored = async (field: string) => dataOf(await token.get('/data/counted/records/1'))[field]
  await token.post('/data/counted/records', { name: '5', lives: 1 })

  t.test('adds to an integer', async (t) => {
    expectDone(t, await token.post(url, { pk: '1', field: 'lives', count: 5 }))
    t.equal(await stored('lives'), 6)
    expectDone(t, await token.post(url, { pk: 1, field: 'lives', count: -7 }))
    t.equal(await stored('lives'), -1)
    expectDone(t, await token.post(url, { pk: '1', field: 'lives', count: 0 }))
    t.equal(await stored('lives'), -1)
  })
  t.test('adds 1 by default', async (t) => {
    expectDone(t, await token.post(url, { pk: '1', field: 'lives' }))
    t.equal(await stored('lives'), 0)
  })
  t.test('counts null as 0, and accepts fractions for number fields', async (t) => {
    expectDone(t, await token.post(url, { pk: '1', field: 'weight', count: 0.25 }))
    t.equal(await stored('weight'), 0.25)
    expectError(t, await token.post(url, { pk: '1', field: 'lives', count: 0.5 }), 400, 'VALIDATION_FAILED', '/count')
  })
  t.test('changes updated_at', async (t) => {
    const before = await stored('updated_at')
    expectDone(t, await token.post(url, { pk: '1', field: 'lives' }))
    t.equal(await stored('updated_at'), before + 1)
    time += 1000
    expectDone(t, await token.post(url, { pk: '1', field: 'lives' }))
    t.equal(await stored('updated_at'), time)
  })
  t.test('accepts exact counts beyond 2^53 as text', async (t) => {
    await token.put('/data/counted/records/1', { lives: 0 })
    expectDone(t, await token.post(url, { pk: '1', field: 'lives', count: '9007199254740993' }))
    t.equal(await stored('lives'), '9007199254740993')
    for (const count of ['5', 9007199254740992, '9223372036854775808', null, true, '1e20'])
      expectError(t, await token.post(url, { pk: '1', field: 'lives', count }), 400, 'VALIDATION_FAILED', '/count')
  })
  t.test('refuses an overflow of 64 bits, and the value stays the same', async (t) => {
    await token.put('/data/counted/records/1', { lives: '9223372036854775807' })
    expectError(t, await token.post(url, { pk: '1', field: 'lives' }), 409, 'INCREMENT_OVERFLOW')
    t.equal(await stored('lives'), '9223372036854775807')
    expectDone(t, await token.post(url, { pk: '1', field: 'lives', count: -1 }))
    t.equal(await stored('lives'), '9223372036854775806')
  })
  t.test('can reach the smallest 64-bit integer, but not pass it', async (t) => {
    await token.put('/data/counted/records/1', { lives: '-9223372036854775807' })
    expectDone(t, await token.post(url, { pk: '1', field: 'lives', count: -1 }))
    t.equal(await stored('lives'), '-9223372036854775808')
    expectError(t, await token.post(url, { pk: '1', field: 'lives', count: -1 }), 409, 'INCREMENT_OVERFLOW')
    t.equal(await stored('lives'), '-9223372036854775808')
  })
  t.test('refuses an overflow of a double', async (t) => {
    await token.put('/data/counted/records/1', { weight: 1.7e308 })
    expectError(t, await token.post(url, { pk: '1', field: 'weight', count: 1.7e308 }), 409, 'INCREMENT_OVERFLOW')
    t.equal(await stored('weight'), 1.7e308)
  })
  t.test('needs a numeric field that is not a key', async (t) => {
    for (const field of ['name', 'id', 'flag', 'created_at', 'updated_at'])
      expectError(t, await token.post(url, { pk: '1', field }), 400, 'NOT_INCREMENTABLE')
    expectError(t, await token.post(url, { pk: '1', field: 'nothing' }), 400, 'VALIDATION_FAILED', '/field')
    expectError(t, await token.post(url, { pk: '1', field: 'LIVES' }), 400, 'VALIDATION_FAILED', '/field')
  })
  t.test('needs an existing record', async (t) => {
    for (const pk of ['2', '01', 1.5, '', 'x'])
      expectError(t, await token.post(url, { pk, field: 'lives' }), 404, 'RECORD_NOT_FOUND')
    expectError(t, await token.post(url, { pk: 2 ** 60, field: 'lives' }), 400, 'VALIDATION_FAILED', '/pk')
    expectError(t, await token.post(url, { pk: 'x'.repeat(8193), field: 'lives' }), 414, 'PATH_TOO_LONG')
  })
  t.test('needs pk and field, and refuses unknown properties', async (t) => {
    expectError(t, await token.post(url, { field: 'lives' }), 400, 'VALIDATION_FAILED', '/pk')
    expectError(t, await token.post(url, { pk: '1' }), 400, 'VALIDATION_FAILED', '/field')
    expectError(t, await token.post(url, { pk: null, field: 'lives' }), 400, 'VALIDATION_FAILED', '/pk')
    expectError(t, await token.post(url, { pk: '1', field: 'lives', by: 5 }), 400, 'VALIDATION_FAILED', '/by')
    expectError(t, await token.post(url), 400, 'VALIDATION_FAILED')
  })
  t.test('is not lost among many concurrent ones', async (t) => {
    await token.put('/data/counted/records/1', { lives: 0 })
    await Promise.all(Array.from({ length: 100 }, () => token.post(url, { pk: '1', field: 'lives' })))
    t.equal(await stored('lives'), 100)
  })
})

t.test('an increment in an imported table', async (t) => {
  await importTable(admin, 'loose')
  await importTable(admin, 'pairs')
  const incr = (body: object) => token.post('/data/loose/incr', body)
  const read = async (id: number) => dataOf(await token.get(`/data/loose/records/${id}`))
  t.test('never overflows into a real', async (t) => {
    const response = await incr({ pk: '1', field: 'n', count: 1 })
    expectError(t, response, 409, 'INCREMENT_OVERFLOW')
    t.match(response.json().error.message, /^The sum does not fit the field 'n'/)
    t.equal((await read(1)).n, '9223372036854775807')
  })
  t.test('never turns text into a number', async (t) => {
    for (const field of ['n', 'd']) {
      const response = await incr({ pk: '2', field })
      expectError(t, response, 409, 'INCREMENT_OVERFLOW')
      t.match(response.json().error.message, new RegExp(`^The field '${field}' of this record holds no number`))
    }
    t.match(await read(2), { n: 'text', d: 'text' })
  })
  t.test('adds to a NUMERIC column', async (t) => {
    expectDone(t, await incr({ pk: '1', field: 'd', count: 0.25 }))
    t.equal((await read(1)).d, 1.75)
  })
  t.test('refuses text, booleans and dates', async (t) => {
    for (const field of ['t', 'b', 'day']) expectError(t, await incr({ pk: '1', field }), 400, 'NOT_INCREMENTABLE')
  })
  t.test('finds a composite key in the format of the path', async (t) => {
    expectDone(t, await token.post('/data/pairs/incr', { pk: '1,x%2Cy', field: 'n', count: 2 }))
    expectData(t, await token.get('/data/pairs/records/1,x%2Cy'), { a: 1, b: 'x,y', n: 3 })
    expectData(t, await token.get('/data/pairs/records/1%2Cx%252Cy'), { a: 1, b: 'x,y', n: 3 })
    expectError(t, await token.post('/data/pairs/incr', { pk: '1,x,y', field: 'n' }), 404, 'RECORD_NOT_FOUND')
  })
})

t.test('a token creates a table in the same way as an administrator', async (t) => {
  const body = {
    name: 'by_token',
    label: 'By token',
    fields: [{ name: 'a', jsonType: 'string' }],
    note: 'n',
    autoTimestamps: true
  }
  const response = await token.post('/data/_schema/tables', body)
  const table = dataOf(response) as Table
  expectData(t, response, {
    id: table.id,
    name: 'by_token',
    label: 'By token',
    primaryKey: 'id',
    clientName: 'ByToken',
    kind: 'table',
    foreignKeys: [],
    warnings: [],
    searchIndex: { state: 'off', indexed: 0, total: 0 },
    labelField: null,
    fields: [
      { ...keyField('id', 'integer', 'INTEGER'), isAutoIncrement: true },
      plainField('a', 'string', 'TEXT'),
      { ...plainField('created_at', 'integer', 'INTEGER'), isReadonly: true },
      { ...plainField('updated_at', 'integer', 'INTEGER'), isReadonly: true }
    ],
    isPublished: true,
    isEditable: true,
    note: 'n',
    createdAt: time,
    updatedAt: time
  })
  expectData(t, await admin.get(`/admin/tables/${table.id}`), table)
  expectData(t, await token.post('/data/by_token/records', { a: 'x' }), { id: 1, a: 'x', ...stamps() })

  t.test('an invalid table is refused', async (t) => {
    expectError(t, await token.post('/data/_schema/tables', body), 409, 'TABLE_EXISTS')
    expectError(
      t,
      await token.post('/data/_schema/tables', { ...body, name: '_me' }),
      400,
      'VALIDATION_FAILED',
      '/name'
    )
    expectError(
      t,
      await token.post('/data/_schema/tables', { ...body, fields: [] }),
      400,
      'VALIDATION_FAILED',
      '/fields'
    )
    expectError(t, await token.post('/data/_schema/tables', {}), 400, 'VALIDATION_FAILED', '/name')
    for (const flag of ['isHidden', 'isReadonly']) {
      const fields = [...body.fields, { name: 'b', jsonType: 'string', [flag]: false }]
      const sent = { ...body, name: 'flagged', fields }
      expectError(t, await token.post('/data/_schema/tables', sent), 400, 'VALIDATION_FAILED', `/fields/1/${flag}`)
    }
  })
})

t.test('a token adds a field', async (t) => {
  const before = await createTable(admin, { name: 'growing', fields: catFields })
  const url = '/data/_schema/tables/growing/fields'
  const add = (field: object) => token.post(url, { field })
  await token.post('/data/growing/records', { name: 'old' })

  t.test('and the table has the field and a new updatedAt', async (t) => {
    const response = await add({ name: 'colour', jsonType: 'string' })
    expectData(t, response, {
      ...before,
      fields: [...before.fields, plainField('colour', 'string', 'TEXT')],
      updatedAt: before.updatedAt + 1
    })
    expectData(t, await token.get('/data/growing/schema'), dataOf(response))
    expectData(t, await token.get('/data/growing/records/1'), {
      id: 1,
      name: 'old',
      lives: null,
      weight: null,
      colour: null
    })
  })
  t.test('and existing rows get its default', async (t) => {
    const field = { name: 'ok', jsonType: 'boolean', nullable: false, defaultValue: true, label: 'OK' }
    const { fields } = dataOf(await add(field)) as Table
    t.strictSame(fields.at(-1), {
      ...plainField('ok', 'boolean', 'INTEGER'),
      ...field,
      isNullable: false,
      defaultKind: 'value'
    })
    t.equal(dataOf(await token.get('/data/growing/records/1')).ok, true)
    expectError(
      t,
      await add({ ...field, name: 'ok2', defaultValue: null }),
      400,
      'VALIDATION_FAILED',
      '/field/defaultValue'
    )
    expectError(
      t,
      await add({ name: 'ok3', jsonType: 'string', nullable: false }),
      400,
      'VALIDATION_FAILED',
      '/field/defaultValue'
    )
  })
  t.test('only if the name is new', async (t) => {
    for (const name of ['colour', 'COLOUR', 'id', 'Name'])
      expectError(t, await add({ name, jsonType: 'string' }), 409, 'FIELD_EXISTS')
    const both = await Promise.all([
      add({ name: 'raced', jsonType: 'string' }),
      add({ name: 'Raced', jsonType: 'integer' })
    ])
    t.strictSame(both.map(({ statusCode }) => statusCode).sort(), [200, 409])
  })
  t.test('only if the field is valid', async (t) => {
    const cases: readonly (readonly [field: object, path: string])[] = [
      [{ name: 'x' }, '/field/jsonType'],
      [{ jsonType: 'string' }, '/field/name'],
      [{ name: 'x y', jsonType: 'string' }, '/field/name'],
      [{ name: 'x', jsonType: 'text' }, '/field/jsonType'],
      [{ name: 'x', jsonType: 'string', unique: true }, '/field/unique'],
      [{ name: 'x', jsonType: 'integer', isPrimary: true }, '/field/isPrimary'],
      [{ name: 'x', jsonType: 'string', isHidden: true }, '/field/isHidden'],
      [{ name: 'x', jsonType: 'string', isReadonly: false }, '/field/isReadonly'],
      [{ name: 'x', jsonType: 'integer', defaultValue: 'a' }, '/field/defaultValue']
    ]
    for (const [field, path] of cases) expectError(t, await add(field), 400, 'VALIDATION_FAILED', path)
    expectError(t, await token.post(url, {}), 400, 'VALIDATION_FAILED', '/field')
    expectError(
      t,
      await token.post(url, { field: { name: 'x', jsonType: 'string' }, table: 'cats' }),
      400,
      'VALIDATION_FAILED',
      '/table'
    )
    expectError(t, await token.post(url, { field: [] }), 400, 'VALIDATION_FAILED', '/field')
    expectError(
      t,
      await token.post('/data/_schema/tables/nothing/fields', { field: { name: 'x', jsonType: 'string' } }),
      404,
      'TABLE_NOT_FOUND'
    )
  })
})

t.test('a token reads its own name, permissions, expiry and tables', async (t) => {
  const permissions: Permissions = { tables: ['cats', 'FROZEN', 'private', 'future'], actions: ['read', 'create'] }
  const issued = dataOf(await admin.post('/admin/tokens', { name: 'reader', permissions, expiresAt: time + 5000 }))
  const own = client(app, bearer(issued.token))
  await admin.put(`/admin/tables/${dataOf(await token.get('/data/private/schema')).id}`, { isPublished: false })
  expectData(t, await own.get('/data/_me'), {
    name: 'reader',
    permissions,
    role: null,
    claims: {},
    integers: 'auto',
    expires_at: time + 5000,
    tables: ['Cats', 'frozen'],
    closed: []
  })
  const powerless = await asToken(app, admin, { tables: ['*'], actions: [] })
  t.strictSame(dataOf(await powerless.get('/data/_me')).tables, [], 'a token without an action has no tables')
  expectError(t, await own.get('/data/_me?x=1'), 400, 'VALIDATION_FAILED', '/x')
  time += 5000
  expectError(t, await own.get('/data/_me'), 401, 'INVALID_TOKEN')
  t.equal(dataOf(await token.get('/data/_me')).expires_at, null)
})

t.test('a session cookie is not accepted under /data', async (t) => {
  for (const url of ['/data/Cats', '/data/Cats/schema', '/data/Cats/records/1', '/data/_me']) {
    const response = await admin.get(url)
    expectError(t, response, 401, 'INVALID_TOKEN')
    t.equal(response.headers['www-authenticate'], 'Bearer')
  }
})

t.test('HEAD requires the same right as GET', async (t) => {
  const head = (headers: Record<string, string>) => app.inject({ method: 'HEAD', url: '/data/Cats', headers })
  const allowed = await head(token.headers)
  t.equal(allowed.statusCode, 200)
  t.equal(allowed.body, '')
  t.equal((await head((await tokenWith('write')).headers)).statusCode, 403)
  t.equal((await head({})).statusCode, 401)
})
