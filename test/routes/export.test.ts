import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
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
  expectDone,
  expectError,
  importTable,
  startApp,
  type TestResponse
} from '../helpers.ts'

const WIDE = '9223372036854775807'
const READ: Permissions = { tables: ['*'], actions: ['read'] }

const file = createDatabase(
  t,
  `CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL, n INTEGER, tags JSON, picture BLOB, secret TEXT);
   WITH RECURSIVE i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 60)
     INSERT INTO items SELECT i, 'Item ' || (i % 7), i * 1.5, i % 5, json_array(i), unhex(printf('%02x', i)), 'hush' FROM i;
   INSERT INTO items VALUES (61, 'two' || char(13, 10) || 'lines' || char(0x2028), 9e999, ${WIDE}, '{"a":' || char(10) || '[1]}', NULL, NULL);
   CREATE TABLE pairs (a TEXT, b INTEGER, n, PRIMARY KEY (a, b)) WITHOUT ROWID;
   INSERT INTO pairs SELECT 'key ' || id % 4, id, name FROM items;`
)
const time = Date.parse('2026-03-01T12:34:56.789Z')
const app = await startApp(t, { env: { DATABASE: file }, clock: () => time })
const admin = await asAdmin(app)
const items = await importTable(admin, 'items')
const pairs = await importTable(admin, 'pairs')
const empty = await createTable(admin, { name: 'empty', fields: [{ name: 's', jsonType: 'string' }] })
dataOf(await admin.put(`/admin/tables/${items.id}`, { fields: [{ name: 'secret', isHidden: true }] }))
const token = await asToken(app, admin, READ)

const encode = (query: Record<string, string>) => String(new URLSearchParams(query))

/** The two callers of exports, with the addresses of their exports and lists. */
const callers = {
  administrator: { caller: admin, pathOf: ({ id }: Table) => `/admin/tables/${id}`, listPath: '/data' },
  token: { caller: token, pathOf: ({ name }: Table) => `/data/${name}`, listPath: '' }
}

for (const [name, { caller, pathOf, listPath }] of Object.entries(callers)) {
  const exported = (table: Table, query: Record<string, string> = {}) =>
    caller.get(`${pathOf(table)}/export?${encode(query)}`)
  /** Returns the records of a list as JSON texts. */
  const listed = async (table: Table, query: Record<string, string>) => {
    const { body } = await caller.get(`${pathOf(table)}${listPath}?${encode({ size: '100', ...query })}`)
    const rows = body.slice(body.indexOf('[') + 1, body.lastIndexOf('],"total"'))
    return rows === '' ? [] : rows.split(/(?<=\}),(?=\{"(?:id|a)":)/)
  }

  t.test(`an export of the ${name} as NDJSON has the records of the list, one in each line`, async (t) => {
    const where = (condition: object) => JSON.stringify({ where: condition })
    const queries: readonly (readonly [Record<string, string>, number])[] = [
      [{}, 61],
      [{ order: '-id' }, 61],
      [{ order: 'name,-price' }, 61],
      [{ q: 'item 3' }, 9],
      [{ q: 'nothing' }, 0],
      [{ filter: where({ price: { gte: 30 } }) }, 42],
      [{ filter: where({ n: { eq: WIDE } }) }, 1],
      [{ filter: where({ id: { lt: 0 } }), order: '-name' }, 0],
      [{ fields: 'price,name' }, 61],
      [{ fields: 'name', filter: where({ n: { in: [1, 2] } }), order: '-name', q: 'item' }, 24],
      [{ size: '7', page: '3', order: '-n' }, 7],
      [{ page: '9999' }, 0]
    ]
    for (const [query, count] of queries) {
      const response = await exported(items, { format: 'ndjson', ...query })
      const lines = response.body.split('\n')
      t.equal(lines.pop(), '', 'each line has an end')
      t.strictSame(lines, await listed(items, query), JSON.stringify(query))
      t.equal(lines.length, count)
    }
    for (const query of [{}, { order: 'n' }, { filter: where({ a: { eq: 'key 2' } }) }]) {
      const { body } = await exported(pairs, { format: 'ndjson', ...query })
      t.strictSame(body.split('\n').slice(0, -1), await listed(pairs, query), JSON.stringify(query))
    }
  })

  t.test(`the ${name} gets the type, the name and the header line of the format`, async (t) => {
    const isAdministrator = caller === admin
    const csv = await exported(items, { fields: 'name', size: '1' })
    t.equal(csv.body, '"id","name"\r\n1,"Item 1"\r\n')
    t.match(csv.headers, {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': /filename="items-20260301T123456Z\.csv"/
    })
    t.equal((await exported(items, { fields: 'name', size: '1', format: 'csv' })).body, csv.body)
    const ndjson = await exported(items, { fields: 'name', size: '1', format: 'ndjson' })
    t.equal(ndjson.body, '{"id":1,"name":"Item 1"}\n')
    t.match(ndjson.headers, {
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': /filename="items-20260301T123456Z\.ndjson"/
    })
    const [header] = (await exported(items)).body.split('\r\n')
    t.equal(header, `"id","name","price","n","tags","picture"${isAdministrator ? ',"secret"' : ''}`)
  })

  t.test(`an export of an empty table has no lines of records for the ${name}`, async (t) => {
    for (const query of [{}, { order: 's' }, { q: 'x' }, { page: '1' }]) {
      t.equal((await exported(empty, query)).body, '"id","s"\r\n')
      const response = await exported(empty, { format: 'ndjson', ...query })
      t.equal(response.statusCode, 200)
      t.equal(response.body, '')
    }
  })

  t.test(`the ${name} can send the options of CSV only with CSV`, async (t) => {
    for (const option of [{ bom: 'true' }, { bom: 'false' }, { escape: 'none' }, { escape: 'formulas' }]) {
      const [path] = Object.keys(option)
      const refused = await exported(items, { format: 'ndjson', ...option })
      expectError(t, refused, 400, 'VALIDATION_FAILED', `/${path}`)
      t.equal((await exported(items, { format: 'csv', ...option })).statusCode, 200)
    }
    const both = await exported(items, { format: 'ndjson', bom: 'true', escape: 'none' })
    t.match(both.json().error.details, [{ path: '/bom' }, { path: '/escape' }])
    for (const format of ['', 'json', 'CSV'])
      expectError(t, await exported(items, { format }), 400, 'VALIDATION_FAILED', '/format')
  })
}

t.test('only an administrator exports, filters and sorts by hidden fields', async (t) => {
  const filter = JSON.stringify({ where: { secret: { eq: 'hush' } } })
  for (const [query, path] of [
    [{ fields: 'secret' }, '/fields/0'],
    [{ order: 'secret' }, '/order'],
    [{ filter }, '/filter/where/secret']
  ] as const) {
    for (const format of ['csv', 'ndjson']) {
      const text = encode({ ...query, format })
      expectError(t, await token.get(`/data/items/export?${text}`), 400, 'VALIDATION_FAILED', path)
      t.match((await admin.get(`/admin/tables/${items.id}/export?${text}`)).body, /hush/)
    }
  }
  t.notMatch((await token.get('/data/items/export')).body, /hush/)
  t.equal((await token.get('/data/items/export?q=hush&format=ndjson')).body, '', 'a search skips hidden fields')
})

t.test('NDJSON has integers in the format of the token, and CSV has all digits', async (t) => {
  const expected = {
    auto: `{"id":61,"n":"${WIDE}"}\n`,
    number: `{"id":61,"n":${WIDE}}\n`,
    string: `{"id":"61","n":"${WIDE}"}\n`
  }
  for (const [integers, line] of Object.entries(expected)) {
    const issued = dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions: READ, integers }))
    const { get } = client(app, bearer(issued.token))
    const value = integers === 'number' ? WIDE : `"${WIDE}"`
    const query = `fields=n&filter={"where":{"n":{"eq":${value}}}}`
    t.equal((await get(`/data/items/export?format=ndjson&${query}`)).body, line)
    t.equal((await get('/data/items/export?format=ndjson&fields=n')).body.split('\n')[60], line.trim())
    t.equal((await get(`/data/items/export?${query}`)).body, `"id","n"\r\n61,${WIDE}\r\n`)
  }
})

t.test('a token exports only tables that it can read', async (t) => {
  const other = await asToken(app, admin, { tables: ['pairs'], actions: ['read'] })
  const writer = await asToken(app, admin, { tables: ['*'], actions: ['write'] })
  for (const url of ['/data/items/export', '/data/items/export?format=ndjson&order=name']) {
    expectError(t, await other.get(url), 403, 'ACTION_NOT_ALLOWED')
    expectError(t, await writer.get(url), 403, 'ACTION_NOT_ALLOWED')
    t.equal((await token.get(url)).statusCode, 200)
  }
  t.equal((await other.get('/data/pairs/export')).statusCode, 200)
  expectError(t, await token.get('/data/nothing/export'), 404, 'TABLE_NOT_FOUND')
})

t.test('a table named export has the paths of every table', async (t) => {
  await createTable(admin, { name: 'export', fields: [{ name: 's', jsonType: 'string' }] })
  t.strictSame(dataOf(await token.get('/data/export')).rows, [])
  t.equal((await token.get('/data/export/export')).body, '"id","s"\r\n')
})

/** Starts a service with a table that is larger than all buffers between the service and a client that does not read. */
const startLarge = async (t: Test) => {
  const file = createDatabase(
    t,
    `CREATE TABLE large (id INTEGER PRIMARY KEY, s TEXT, secret TEXT);
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
       INSERT INTO large SELECT i, printf('%01000d', i), 'x' FROM n;`
  )
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const table = await importTable(admin, 'large')
  const address = await app.listen({ host: '127.0.0.1', port: 0 })

  /** Starts an export for a client that reads only the head of the response. */
  const start = async ({ headers }: Client, query: string) => {
    const [response] = await once(get(`${address}/data/large/export${query}`, { headers }), 'response')
    t.equal(response.statusCode, 200)
    return response as IncomingMessage
  }
  const issue = async () => {
    const { id, token } = dataOf(await admin.post('/admin/tokens', { name: 'reader', permissions: READ }))
    return { id, ...client(app, bearer(token)) }
  }
  return { admin, table, start, issue }
}

/** Returns the number of complete lines, or null if the response is incomplete. */
const countLines = async (response: IncomingMessage) => {
  let count = 0
  try {
    for await (const chunk of response) count += String(chunk).split('\n').length - 1
  } catch {
    return null
  }
  return count
}

t.test('an export ends when its token loses the right or the table changes', async (t) => {
  const { admin, table, start, issue } = await startLarge(t)
  const hide = (isHidden: boolean) => admin.put(`/admin/tables/${table.id}`, { fields: [{ name: 'secret', isHidden }] })

  for (const query of ['?format=ndjson', '?order=-s&format=ndjson']) {
    const token = await issue()
    const unchanged = await start(token, query)
    dataOf(await admin.put(`/admin/tokens/${token.id}`, { name: 'renamed' }))
    t.equal(await countLines(unchanged), 20_000, `complete while the token lasts: ${query}`)

    const changed = await start(token, query)
    dataOf(await hide(true))
    t.equal(await countLines(changed), null, `incomplete after a field was hidden: ${query}`)
    dataOf(await hide(false))

    const revoked = await start(token, query)
    expectDone(t, await admin.delete(`/admin/tokens/${token.id}`))
    t.equal(await countLines(revoked), null, `incomplete after the token was revoked: ${query}`)
  }
})

t.test('a token runs one sorted or filtered export at a time', async (t) => {
  const { start, issue } = await startLarge(t)
  const [first, second, third] = [await issue(), await issue(), await issue()]
  const sorted = ({ get }: Client) => get('/data/large/export?order=s&format=ndjson')
  const untilAllowed = async (token: Client): Promise<TestResponse> => {
    const response = await sorted(token)
    if (response.statusCode !== 503) return response
    await setImmediate()
    return untilAllowed(token)
  }

  const stalled = await start(first, '?order=-s')
  const refused = await sorted(first)
  expectError(t, refused, 503, 'OVERLOADED')
  t.match(refused.json().error.message, /of this token is running/)
  t.match(refused.headers['retry-after'], /^\d+$/)
  t.equal((await first.get('/data/large/export?fields=id')).statusCode, 200, 'in the order of the key')
  t.equal((await first.get('/data/large/export?order=s&size=1')).statusCode, 200, 'one page')
  t.equal((await sorted(second)).statusCode, 200, 'another token')

  const other = await start(second, '?q=1')
  t.match((await sorted(third)).json().error.message, /^Two sorted or filtered exports are running/)
  stalled.destroy()
  t.equal((await untilAllowed(first)).statusCode, 200)
  other.destroy()
  t.equal((await untilAllowed(second)).statusCode, 200)
})
