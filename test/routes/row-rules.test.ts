import t, { type Test } from 'tap'
import type { ErrorCode } from '../../schemas/error.ts'
import {
  asAdmin,
  bearer,
  client,
  createDatabase,
  dataOf,
  expectError,
  importTable,
  routesOf,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { openServed } from '../served.ts'

const columnsOf = (table: string) =>
  `owner TEXT, code TEXT UNIQUE, n INTEGER, parent INTEGER REFERENCES ${table} (id), log TEXT DEFAULT ''`

/** The end of the declaration of each table. */
const TABLES: Readonly<Record<string, string>> = {
  plain: '(id INTEGER PRIMARY KEY, $columns)',
  logged: '(id INTEGER PRIMARY KEY, $columns)',
  keyed: '(id INTEGER PRIMARY KEY, $columns) WITHOUT ROWID',
  searched: '(id INTEGER PRIMARY KEY, $columns)',
  replacing: '(id INTEGER PRIMARY KEY ON CONFLICT REPLACE, $columns)'
}

const names = Object.keys(TABLES)

const createSql = (name: string) => `
  CREATE TABLE ${name} ${TABLES[name]?.replace('$columns', columnsOf(name))};
  INSERT INTO ${name} (id, owner, code, n, parent) VALUES (1, 'a', 'one', 1, NULL), (2, 'b', 'two', 2, NULL),
    (3, 'a', 'three', 3, 2), (4, 'b', 'four', 4, 1), (5, 'a', 'five', 5, 1);`

const file = createDatabase(
  t,
  `${names.map(createSql).join('')}
   CREATE TRIGGER logged_insert AFTER INSERT ON logged BEGIN UPDATE logged SET log = log || 'i' WHERE id = new.id; END;
   CREATE TRIGGER logged_update AFTER UPDATE OF n ON logged BEGIN UPDATE logged SET log = log || 'u' WHERE id = new.id; END;`
)

const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const ids = new Map<string, number>()
for (const name of names) ids.set(name, (await importTable(admin, name)).id)
const searched = `/admin/tables/${ids.get('searched')}`
dataOf(await admin.put(searched, { searchIndex: true }))
while (dataOf(await admin.get(searched)).searchIndex.state === 'building')
  await new Promise((resolve) => setTimeout(resolve, 10))
/** Tokens of the role can read and change only the records whose owner is that of their claim. */
const rows = { where: { owner: { eq: { $claim: 'owner' } } } }
const grants = [{ tables: ['*'], actions: ['read', 'create', 'update', 'delete'], rows }]
dataOf(await admin.post('/admin/roles', { name: 'owner', grants }))
const issued = dataOf(await admin.post('/admin/tokens', { name: 'Ann', role: 'owner', claims: { owner: 'a' } }))
const token = client(app, bearer(issued.token))
const external = openServed(t, file, { readonly: true })

interface Stored {
  readonly id: number
  readonly owner: string
  readonly n: number
}

const stored = (table: string) => external.prepare(`SELECT * FROM ${table} ORDER BY id`).all() as readonly Stored[]
const storedRecord = (table: string, id: number) => stored(table).find((record) => record.id === id)

const idsOf = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id)

type Send = () => Promise<TestResponse>

/** Asserts that a request fails with this error, and changes no record. */
const refuse = async (t: Test, table: string, [status, code]: readonly [number, ErrorCode], send: Send) => {
  const before = stored(table)
  expectError(t, await send(), status, code)
  t.strictSame(stored(table), before)
}

const NOT_FOUND = [404, 'RECORD_NOT_FOUND'] as const
const TAKEN = [409, 'UNIQUE_VIOLATION'] as const
const OUTSIDE = [403, 'ROW_NOT_ALLOWED'] as const

const withHeaders = (headers: Record<string, string>) => ({
  send: (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, payload?: object | string) =>
    app.inject({ method, url, headers: { ...token.headers, ...headers }, ...(payload !== undefined && { payload }) })
})

const sendCsv = (table: string, query: string, csv: string) =>
  withHeaders({ 'content-type': 'text/csv' }).send('POST', `/data/${table}/import?${query}`, csv)

const testUpdates = async (t: Test, table: string, method: 'PUT' | 'PATCH') => {
  const url = `/data/${table}/records`
  const { send } = withHeaders({})
  for (const query of ['', '?return=record']) {
    await refuse(t, table, NOT_FOUND, () => send(method, `${url}/2${query}`, { n: 20 }))
    await refuse(t, table, NOT_FOUND, () =>
      withHeaders({ 'if-match': '"x"' }).send(method, `${url}/2${query}`, { n: 20 })
    )
    await refuse(t, table, TAKEN, () => send(method, `${url}/1${query}`, { code: 'two' }))
    await refuse(t, table, OUTSIDE, () => send(method, `${url}/1${query}`, { owner: 'b' }))
  }
  t.match(dataOf(await send(method, `${url}/1?return=record`, { n: 10 })), { record: { id: 1, n: 10 } })
}

type RouteTest = (t: Test, table: string) => Promise<void>

/** The tests of each route, in an order in which the records of the rule are 1, 3 and 5 until records are created. */
const ROUTES: Readonly<Record<string, RouteTest>> = {
  listRecords: async (t, table) => {
    const list = async (query: string) => dataOf(await token.get(`/data/${table}?${query}`))
    for (const query of ['', 'size=10&total=false', 'cursor=', 'order=id'])
      t.strictSame(idsOf((await list(query)).rows), [1, 3, 5])
    t.match(await list('page=2&size=2'), { rows: [{ id: 5 }], total: 3 })
    t.strictSame(idsOf((await list('order=n.desc')).rows), [5, 3, 1])
    t.match(await list('q=four'), { rows: [], total: 0 })
    t.match(await list('q=e'), { total: 3 })
    t.match(await list('q=three'), { rows: [{ id: 3 }], total: 1 })
    const { rows } = await list('expand=parent&order=id')
    t.match(rows, [{ id: 1 }, { id: 3, parent: 2, expand: { parent: null } }, { id: 5, expand: { parent: { id: 1 } } }])
    t.strictSame(idsOf((await list('order=-parent.n,id')).rows), [5, 1, 3], 'record 2 counts as missing')
    t.match(await list('order=parent.n&filter={"where":{"parent.n":{"isNull":true}}}&q=o'), {
      rows: [{ id: 1 }],
      total: 1
    })
    const all = dataOf(await admin.get(`/admin/tables/${ids.get(table)}/data`))
    t.strictSame(idsOf(all.rows), [1, 2, 3, 4, 5], 'an administrator has no rule')
  },

  queryRecords: async (t, table) => {
    const query = async (body: object) => dataOf(await token.post(`/data/${table}/query`, body))
    const filter = { where: { n: { gte: 2 } } }
    t.match(await query({ filter, total: true }), { rows: [{ id: 3 }, { id: 5 }], total: 2 })
    t.match(await query({ filter: { where: { owner: { eq: 'b' } } }, total: true }), { rows: [], total: 0 })
    t.match(await query({ filter: { any: [{ where: { n: { eq: 2 } } }, { where: { n: { eq: 1 } } }] } }), {
      rows: [{ id: 1 }]
    })
    const first = await query({ size: 2, order: 'n.desc' })
    t.strictSame(idsOf(first.rows), [5, 3])
    t.match(await query({ size: 2, order: 'n.desc', cursor: first.next }), { rows: [{ id: 1 }], next: null })
    const byParent = { filter: { where: { 'parent.n': { gt: 0 } } }, order: '-parent.n' }
    t.match(await query({ ...byParent, total: true }), { rows: [{ id: 5 }], total: 1 })
    const nested = await query({ filter: { where: { id: { eq: 5 } } }, expand: ['parent', 'parent.parent'] })
    t.match(nested.rows, [{ expand: { parent: { id: 1, expand: { parent: null } } } }])
  },

  aggregateRecords: async (t, table) => {
    const compute = { rows: { count: true }, sum: { sum: 'n' } }
    const { rows } = dataOf(await token.post(`/data/${table}/aggregate`, { compute, groupBy: ['owner'] }))
    t.strictSame(rows, [{ owner: 'a', rows: 3, sum: 9 }])
  },

  exportRecords: async (t, table) => {
    for (const query of ['', 'order=n', 'filter={"where":{"n":{"gt":0}}}', 'size=10']) {
      const url = `/data/${table}/export?format=ndjson&${query}`
      const lines = (await token.get(url)).body.trim().split('\n')
      t.strictSame(idsOf(lines.map((line) => JSON.parse(line))), [1, 3, 5], query)
    }
  },

  readRecord: async (t, table) => {
    t.match(dataOf(await token.get(`/data/${table}/records/1`)), { id: 1, owner: 'a' })
    await refuse(t, table, NOT_FOUND, () => token.get(`/data/${table}/records/2`))
  },

  countReferrers: async (t, table) => {
    await refuse(t, table, NOT_FOUND, () => token.get(`/data/${table}/records/2/referring`))
    const mine = dataOf(await token.get(`/data/${table}/records/1/referring`))
    t.strictSame(mine, [{ table, fields: ['parent'], targetFields: ['id'], count: 1 }], 'record 4 is of another owner')
    t.match(dataOf(await admin.get(`/admin/tables/${ids.get(table)}/data/1/referring`)), [{ count: 2 }])
  },

  updateRecord: (t, table) => testUpdates(t, table, 'PUT'),
  patchRecord: (t, table) => testUpdates(t, table, 'PATCH'),

  incrementRecord: async (t, table) => {
    const url = `/data/${table}/incr`
    await refuse(t, table, NOT_FOUND, () => token.post(url, { pk: '2', field: 'n' }))
    t.match(dataOf(await token.post(`${url}?return=record`, { pk: '1', field: 'n' })), { record: { id: 1, n: 11 } })
  },

  addToRecord: async (t, table) => {
    const url = (id: number) => `/data/${table}/records/${id}/incr`
    await refuse(t, table, NOT_FOUND, () => token.post(url(2), { field: 'n' }))
    t.match(dataOf(await token.post(`${url(1)}?return=record`, { field: 'n', count: -1 })), {
      record: { id: 1, n: 10 }
    })
  },

  createRecord: async (t, table) => {
    const url = `/data/${table}/records`
    await refuse(t, table, TAKEN, () => token.post(url, { id: 20, owner: 'a', code: 'two' }))
    for (const owner of ['b', null])
      await refuse(t, table, OUTSIDE, () => token.post(url, { id: 20, owner, code: 'twenty' }))
    for (const values of [
      { id: 3, owner: 'b' },
      { id: 20, owner: 'b', code: 'twenty' }
    ])
      await refuse(t, table, OUTSIDE, () => token.post(`${url}?upsert=id`, values))
    const hidden = { id: 2, owner: 'a', code: 'two', n: 20 }
    for (const upsert of ['id', 'code']) {
      const send = (headers = {}) => withHeaders(headers).send('POST', `${url}?upsert=${upsert}`, hidden)
      await refuse(t, table, TAKEN, send)
      await refuse(t, table, TAKEN, () => send({ 'if-none-match': '*' }))
    }
    t.match(dataOf(await token.post(`${url}?upsert=id`, { id: 3, n: 30 })), { record: { id: 3, owner: 'a', n: 30 } })
    t.match(dataOf(await token.post(`${url}?upsert=id`, { id: 6, owner: 'a', code: 'six' })), {
      record: { id: 6, owner: 'a' }
    })
    t.match(dataOf(await token.post(url, { id: 7, owner: 'a', code: 'seven' })), { id: 7, owner: 'a' })
  },

  deleteRecord: async (t, table) => {
    for (const query of ['', '?return=record'])
      await refuse(t, table, NOT_FOUND, () => token.delete(`/data/${table}/records/2${query}`))
    t.match(dataOf(await token.delete(`/data/${table}/records/7?return=record`)), { record: { id: 7 } })
  },

  runBatch: async (t, table) => {
    const run = (...operations: readonly object[]) =>
      token.post('/data/_batch', { operations: operations.map((operation) => ({ table, ...operation })) })
    for (const operation of [
      { op: 'update', pk: 2, values: { n: 20 } },
      { op: 'incr', pk: 2, field: 'n' },
      { op: 'delete', pk: 2 }
    ]) {
      await refuse(t, table, NOT_FOUND, () => run(operation))
    }
    await refuse(t, table, TAKEN, () => run({ op: 'upsert', values: { id: 2, n: 20 } }))
    t.match(dataOf(await run({ op: 'create', values: { id: 2, code: 'x' }, onConflict: 'ignore' })), {
      results: [{ ignored: true }]
    })
    await refuse(t, table, OUTSIDE, () => run({ op: 'create', values: { id: 20, owner: 'b' }, onConflict: 'ignore' }))
    await refuse(t, table, OUTSIDE, () =>
      run({ op: 'update', values: { owner: 'b' }, filter: { where: { id: { in: [1, 3] } } }, maxAffected: 9 })
    )
    await refuse(t, table, OUTSIDE, () => run({ op: 'upsert', values: { id: 3, owner: 'b' } }))
    const created = { op: 'create', values: { id: 8, owner: 'a', code: 'eight' } }
    const changed = { op: 'update', pk: { $result: 0, field: 'id' }, values: { n: 8 } }
    dataOf(await run(created, changed))
    t.match(storedRecord(table, 8), { n: 8 })
    const count = stored(table).filter(({ owner }) => owner === 'a').length
    const all = { filter: { where: { id: { gte: 0 } } }, maxAffected: 100 }
    t.match(dataOf(await run({ op: 'update', values: { n: 50 }, ...all })), { results: [{ affected: count }] })
    for (const { owner, n } of stored(table)) t.equal(n === 50, owner === 'a')
    const others = { filter: { where: { owner: { eq: 'b' } } }, maxAffected: 100 }
    t.match(dataOf(await run({ op: 'delete', ...others })), { results: [{ affected: 0 }] })
  },

  importRecords: async (t, table) => {
    for (const query of ['mode=upsert', 'mode=upsert&on=code', 'mode=upsert&atomic=true', 'mode=upsert&dryRun=true']) {
      await refuse(t, table, [400, 'IMPORT_FAILED'], () => sendCsv(table, query, 'id,code,n\n1,one,100\n2,two,100\n'))
    }
    await refuse(t, table, [400, 'IMPORT_FAILED'], () => sendCsv(table, 'mode=upsert', 'id\n2\n'))
    const upserts = ['mode=upsert', 'mode=upsert&on=code', 'mode=upsert&atomic=true']
    for (const query of upserts) {
      for (const csv of ['id,owner,code\n1,b,one\n', 'id,owner,code\n1,a,one\n20,b,twenty\n', 'id,code\n20,twenty\n'])
        await refuse(t, table, OUTSIDE, () => sendCsv(table, query, csv))
    }
    await refuse(t, table, OUTSIDE, () => sendCsv(table, 'mode=upsert', 'id\n20\n'))
    for (const query of ['', 'atomic=true']) {
      for (const csv of ['id,owner,code\n20,a,twenty\n21,b,other\n', 'id,code\n20,twenty\n'])
        await refuse(t, table, OUTSIDE, () => sendCsv(table, query, csv))
    }
    const csv = 'id,owner,code,n\n1,a,one,100\n9,a,nine,100\n'
    t.match(dataOf(await sendCsv(table, 'mode=upsert', csv)), { created: 1, updated: 1 })
    t.match(storedRecord(table, 1), { n: 100 })
    t.match(dataOf(await sendCsv(table, 'mode=upsert', 'id\n1\n')), { created: 0 })
    const inserted = dataOf(await sendCsv(table, 'atomic=true', 'id,owner,code\n10,a,ten\n11,a,eleven\n'))
    t.match(inserted, { created: 2, updated: 0 })
    if (table === 'keyed') return
    for (const query of ['', 'atomic=true'])
      await refuse(t, table, OUTSIDE, () => sendCsv(table, query, 'owner,code\na,twenty\nb,other\n'))
    t.match(dataOf(await sendCsv(table, '', `owner,code\na,${table} x\na,${table} y\n`)), { created: 2, updated: 0 })
  }
}

/** Routes that read and change no records. */
const OTHERS = ['readTokenDocument', 'readIdentity', 'createTable', 'addTableField', 'readTableSchema']

t.test('the rule holds on each route for records', async (t) => {
  const inData = routesOf(app).filter(({ url }) => url.startsWith('/data/'))
  const operations = inData.flatMap(({ schema }) => schema?.operationId ?? [])
  t.strictSame([...new Set(operations)].sort(), [...Object.keys(ROUTES), ...OTHERS].sort())

  for (const table of names) {
    for (const [operation, test] of Object.entries(ROUTES))
      await t.test(`${operation}, ${table}`, (t) => test(t, table))
  }
})
