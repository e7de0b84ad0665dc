import t, { type Test } from 'tap'
import {
  asAdmin,
  asToken,
  bearer,
  type Client,
  client,
  createDatabase,
  createTable,
  dataOf,
  expectError,
  importTable,
  startApp,
  type TestResponse,
  temporaryDirectory
} from '../helpers.ts'
import { openServed } from '../served.ts'

const file = createDatabase(
  t,
  `CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL, color TEXT COLLATE NOCASE, stock INTEGER, secret TEXT);
   CREATE INDEX items_color ON items (color);
   CREATE INDEX items_price ON items (price DESC);
   WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
   INSERT INTO items SELECT i, 'Item ' || i, CASE WHEN i % 7 = 0 THEN NULL ELSE i % 10 * 1.5 END,
     CASE i % 3 WHEN 0 THEN 'red' WHEN 1 THEN 'Blue' END, i % 5, 'x' FROM n;
   CREATE TABLE pairs (a TEXT, b INTEGER, n, PRIMARY KEY (a, b)) WITHOUT ROWID;
   INSERT INTO pairs SELECT char(97 + id % 4), id, id FROM items;
   CREATE TABLE keyless (n INTEGER, t TEXT);
   INSERT INTO keyless SELECT stock, color FROM items;
   CREATE TABLE mixed (id INTEGER PRIMARY KEY, r REAL, b BLOB, u, g AS (id % 2), t TEXT, d DATE);
   CREATE INDEX mixed_g ON mixed (g);
   CREATE INDEX mixed_t ON mixed (t);
   INSERT INTO mixed (id, r, b, u, t, d) VALUES (1, 55187088714656460, x'ff', 5, 'Äb%', 2020),
     (2, 1.5, x'fe', '5', 'aB', '2020-01-01'), (3, NULL, zeroblob(5000), NULL, x'6162', NULL);`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const tables = new Map<string, number>()
for (const name of ['items', 'pairs', 'keyless', 'mixed']) tables.set(name, (await importTable(admin, name)).id)
const token = await asToken(app, admin)
const itemsUrl = `/admin/tables/${tables.get('items')}`
dataOf(await admin.put(itemsUrl, { fields: [{ name: 'secret', isHidden: true }] }))
await createTable(admin, { name: 'objects', fields: [{ name: 'o', jsonType: 'object' } as never] })
for (const o of [{ a: 1 }, { a: 2 }]) dataOf(await token.post('/data/objects/records', { o }))

type Body = { readonly [name: string]: unknown }

const query = (body: Body | string, table = 'items') => token.post(`/data/${table}/query`, body)
const ids = (response: TestResponse): readonly number[] => dataOf(response).rows.map(({ id }: { id: number }) => id)
const idsOf = async (where: Body, table = 'items') => ids(await query({ filter: { where }, size: 100 }, table))
const encode = encodeURIComponent
const between = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

const refuse = async (t: Test, body: Body, path: string, hint?: string | RegExp, table?: string) => {
  const response = await query(body, table)
  expectError(t, response, 400, 'VALIDATION_FAILED', path)
  if (hint !== undefined) t.match(response.json().error.hint, hint)
}

const refuseWhere = (t: Test, where: unknown, path: string, hint?: string | RegExp) =>
  refuse(t, { filter: { where } }, `/filter/where${path}`, hint)

t.test('each operator finds its records', async (t) => {
  const all = between(1, 50)
  t.same(await idsOf({ id: { eq: 7 } }), [7])
  t.same(await idsOf({ id: { gt: 48 } }), [49, 50])
  t.same(await idsOf({ id: { gte: 49 } }), [49, 50])
  t.same(await idsOf({ id: { lt: 3 } }), [1, 2])
  t.same(await idsOf({ id: { lte: 2 } }), [1, 2])
  t.same(await idsOf({ id: { gt: 4, lt: 7 } }), [5, 6], 'several operators must all hold')
  t.same(await idsOf({ id: { lt: 9 }, color: { eq: 'RED' } }), [3, 6], 'so must several fields')
  t.same(await idsOf({ id: { between: [3, 5] } }), [3, 4, 5])
  t.same(await idsOf({ id: { between: [5, 3] } }), [])
  t.same(await idsOf({ id: { between: [0, 5], gt: 3 } }), [4, 5])
  t.same(await idsOf({ id: { in: [3, 2, 99] } }), [2, 3])
  t.same(await idsOf({ id: { in: [] } }), [])
  t.same(await idsOf({ id: { notIn: [] } }), all)
  t.same(await idsOf({ id: { lt: 6 }, color: { ne: 'red' } }), [1, 2, 4, 5], 'ne includes records without a value')
  t.same(await idsOf({ id: { lt: 6 }, color: { notIn: ['red'] } }), [1, 2, 4, 5])
  t.same(await idsOf({ id: { lt: 6 }, color: { isNull: true } }), [2, 5])
  t.same(await idsOf({ id: { lt: 6 }, color: { isNull: false } }), [1, 3, 4])
  t.same(await idsOf({ name: { contains: 'TEM 4' }, id: { lt: 42 } }), [4, 40, 41])
  t.same(await idsOf({ name: { startsWith: 'ITEM 5' } }), [5, 50])
  t.same(await idsOf({ name: { endsWith: 'm 5' } }), [5])
})

t.test('values have the format of a create', async (t) => {
  t.same(await idsOf({ r: { in: [55187088714656460, 1.5] } }, 'mixed'), [1, 2])
  t.same(await idsOf({ r: { notIn: [55187088714656460] } }, 'mixed'), [2, 3])
  t.same(await idsOf({ b: { eq: '/w==' } }, 'mixed'), [1])
  t.same(await idsOf({ b: { in: ['/w==', '/g=='] } }, 'mixed'), [1, 2])
  t.same(await idsOf({ b: { in: [] } }, 'mixed'), [])
  t.same(await idsOf({ u: { eq: 5 } }, 'mixed'), [1])
  t.same(await idsOf({ u: { in: ['5'] } }, 'mixed'), [2])
  t.same(await idsOf({ d: { startsWith: '2020' } }, 'mixed'), [1, 2], 'a text search finds numbers of a text field')
  t.same(await idsOf({ t: { contains: 'ÄB%' } }, 'mixed'), [1])
  t.same(await idsOf({ t: { contains: 'b' } }, 'mixed'), [1, 2], 'and no BLOBs')
  t.same(await idsOf({ t: { contains: 'ä' } }, 'mixed'), [1], 'the case of all letters is ignored')
  t.same(await idsOf({ o: { eq: { a: 2 } } }, 'objects'), [2])
  const numbers = client(
    app,
    bearer(
      dataOf(
        await admin.post('/admin/tokens', {
          name: 'numbers',
          permissions: { tables: ['*'], actions: ['read'] },
          integers: 'number'
        })
      ).token
    )
  )
  const filter = '{"where":{"id":{"lt":9223372036854775807,"gt":48}}}'
  t.same(ids(await numbers.get(`/data/items?filter=${encode(filter)}`)), [49, 50])
  t.same(
    ids(await numbers.post('/data/items/query', JSON.parse(`{"filter":${filter}}`.replace(/\d{19}/, '99')))),
    [49, 50]
  )
  await refuseWhere(t, { stock: { eq: 'x' } }, '/stock/eq')
  await refuseWhere(t, { stock: { in: [1, 'x'] } }, '/stock/in/1')
  await refuseWhere(t, { stock: { between: [1, 'x'] } }, '/stock/between/1')
  await refuseWhere(t, { stock: { between: [1, null] } }, '/stock/between/1')
  await refuseWhere(t, { stock: { between: 1 } }, '/stock/between')
  for (const values of [[], [1], [1, 2, 3]]) await refuseWhere(t, { stock: { between: values } }, '/stock/between')
  await refuse(
    t,
    { filter: { where: { o: { eq: { a: [2 ** 60] } } } } },
    '/filter/where/o/eq/a/0',
    undefined,
    'objects'
  )
})

t.test('the parts of a filter are combined in two-valued logic', async (t) => {
  const count = async (filter?: Body) => dataOf(await query({ filter, size: 1, total: true })).total
  const red = { where: { color: { eq: 'red' } } }
  const cheap = { where: { price: { lt: 5 } } }
  t.same(ids(await query({ filter: { any: [red, cheap], where: { id: { lte: 7 } } } })), [1, 2, 3, 6])
  t.same(ids(await query({ filter: { all: [red, cheap], where: { id: { lte: 12 } } } })), [3, 12])
  t.same(ids(await query({ filter: { none: [red, cheap], where: { id: { lte: 7 } } } })), [4, 5, 7])
  t.equal(await count(), 50)
  t.equal(await count({}), 50)
  t.equal(await count({ all: [], none: [] }), 50)
  t.equal(await count({ any: [] }), 0)
  for (const filter of [red, cheap, { any: [red, cheap] }, { none: [cheap] }, { where: { price: { ne: 3 } } }]) {
    t.equal((await count(filter)) + (await count({ none: [filter] })), 50, JSON.stringify(filter))
  }
})

t.test('an invalid filter is refused with its path', async (t) => {
  await refuse(t, { filter: { were: {} } }, '/filter/were', /'where'/)
  await refuse(t, { filter: { toString: {} } }, '/filter/toString', /belong in `where`/)
  await refuse(t, { filter: { where: [] } }, '/filter/where')
  await refuse(t, { filter: { all: {} } }, '/filter/all')
  await refuse(t, { filter: { any: [{}, 1] } }, '/filter/any/1')
  await refuse(t, { filter: { none: [{ where: { 'a/b~': { eq: 1 } } }] } }, '/filter/none/0/where/a~1b~0')
  await refuseWhere(t, { colr: { eq: 1 } }, '/colr', /'color'/)
  await refuseWhere(t, { color: 'red' }, '/color', /has an operator/)
  await refuseWhere(t, { color: null }, '/color')
  await refuseWhere(t, { color: { equals: 1 } }, '/color/equals')
  await refuseWhere(t, { color: { startWith: 'a' } }, '/color/startWith', /'startsWith'/)
  for (const operator of ['eq', 'ne', 'gt', 'lte'])
    await refuseWhere(t, { color: { [operator]: null } }, `/color/${operator}`, /isNull/)
  await refuseWhere(t, { color: { in: 'red' } }, '/color/in')
  await refuseWhere(t, { color: { notIn: ['red', null] } }, '/color/notIn/1', /isNull/)
  await refuseWhere(t, { color: { isNull: 1 } }, '/color/isNull')
  for (const operator of ['contains', 'startsWith', 'endsWith']) {
    await refuseWhere(t, { color: { [operator]: '' } }, `/color/${operator}`)
    await refuseWhere(t, { color: { [operator]: 1 } }, `/color/${operator}`)
    await refuseWhere(t, { stock: { [operator]: '1' } }, `/stock/${operator}`, /text fields/)
  }
})

t.test('a hidden field and an unknown field have the same response', async (t) => {
  const requests = (name: string): readonly Body[] => [
    { filter: { where: { [name]: { eq: 1 } } } },
    { order: name },
    { fields: [name] }
  ]
  for (const [index, body] of requests('secret').entries()) {
    const hidden = (await query(body)).json().error
    const unknown = (await query(requests('sekret')[index] as Body)).json().error
    const same = JSON.stringify(hidden).replaceAll('secret', 'sekret').replace(hidden.requestId, unknown.requestId)
    t.equal(same, JSON.stringify(unknown))
    t.equal((await admin.post(`${itemsUrl}/query`, body)).statusCode, index === 0 ? 400 : 200)
  }
  t.equal(ids(await admin.post(`${itemsUrl}/query`, { filter: { where: { secret: { eq: 'x' } } } })).length, 20)
})

t.test('the limits of a filter', async (t) => {
  const nest = (depth: number): Body => (depth === 0 ? { where: { id: { eq: 1 } } } : { all: [nest(depth - 1)] })
  t.same(ids(await query({ filter: nest(8) })), [1])
  await refuse(t, { filter: nest(9) }, `/filter${'/all/0'.repeat(8)}/all`)

  const many = (count: number, filter: Body) => Array.from({ length: count }, () => filter)
  const one = { where: { id: { eq: 1 } } }
  t.same(ids(await query({ filter: { any: many(100, one) } })), [1])
  await refuse(t, { filter: { any: many(101, one) } }, '/filter/any/100/where')
  for (const empty of [{}, { where: {} }, { where: { id: {} } }, { any: [] }, { none: [] }]) {
    t.equal((await query({ filter: { all: many(100, empty) } })).statusCode, 200, 'an empty part is a condition')
    t.equal((await query({ filter: { all: many(101, empty) } })).statusCode, 400)
  }

  t.same(await idsOf({ id: { in: between(50, 1049) } }), [50])
  await refuseWhere(t, { id: { in: between(50, 1050) } }, '/id/in')

  const body = (bytes: number) => JSON.stringify({ q: 'x', size: 1 }).padEnd(bytes)
  const post = (client: Client, url: string, payload: string) =>
    app.inject({ method: 'POST', url, payload, headers: { ...client.headers, 'content-type': 'application/json' } })
  for (const [client, url] of [
    [token, '/data/items/query'],
    [admin, `${itemsUrl}/query`]
  ] as const) {
    t.equal((await post(client, url, body(65536))).statusCode, 200)
    expectError(t, await post(client, url, body(65537)), 413, 'BODY_TOO_LARGE')
    for (const equal of ['{"size":1,"size":1}', '{"filter":{"where":{"id":{"eq":1},"\\u0069d":{"eq":2}}}}']) {
      expectError(t, await post(client, url, equal), 400, 'VALIDATION_FAILED')
    }
    t.equal((await post(client, url, '{"size":1,"q":"a\\":b:c"}')).statusCode, 200, 'colons in texts are no keys')
  }
})

t.test('the filter and the fields of a list', async (t) => {
  const list = (parameters: Record<string, string>) => token.get(`/data/items?${new URLSearchParams(parameters)}`)
  const filter = '{"where":{"id":{"lt":3}}}'
  t.match(dataOf(await list({ filter, fields: 'name , price' })), {
    rows: [{ id: 1, name: 'Item 1', price: 1.5, color: undefined }, { id: 2 }],
    total: 2
  })
  t.match(dataOf(await list({ filter, total: 'false' })), { rows: [{ id: 1 }, { id: 2 }], total: -1, page: 1 })
  t.match(dataOf(await list({ page: '2', size: '30', total: 'false' })), { rows: { length: 20 }, total: -1, page: 2 })
  t.match(dataOf(await list({ filter: '', q: 'Item 50' })), { rows: [{ id: 50 }], total: 1 })
  t.match(dataOf(await list({ filter, q: '2' })), { rows: [{ id: 2 }], total: 1 })
  t.same(dataOf(await list({ filter, cursor: '', size: '1', fields: 'stock' })).rows, [{ id: 1, stock: 1 }])
  t.equal(dataOf(await list({ q: '1e999', total: 'false' })).rows.length, 0)
  for (const wrong of ['{', '{"where":{},"where":{}}', '{"where":{"id":{"eq":1e999}}}', ' ']) {
    expectError(t, await list({ filter: wrong }), 400, 'VALIDATION_FAILED', '/filter')
  }
  expectError(t, await list({ filter: '[]' }), 400, 'VALIDATION_FAILED', '/filter')
  expectError(t, await list({ fields: 'name,nme' }), 400, 'VALIDATION_FAILED', '/fields/1')
  expectError(t, await list({ cursor: '', page: '1' }), 400, 'VALIDATION_FAILED', '/cursor')
  t.match(dataOf(await list({ cursor: '', size: '2' })), { page: 1, total: 50, next: /./ })
  const csv = await admin.get(`${itemsUrl}/export?${new URLSearchParams({ filter, fields: 'name' })}`)
  t.equal(csv.body, '"id","name"\r\n1,"Item 1"\r\n2,"Item 2"\r\n')
  expectError(t, await admin.get(`${itemsUrl}/export?filter=x`), 400, 'VALIDATION_FAILED', '/filter')
})

t.test('the key is always among the fields', async (t) => {
  const first = async (table: string, fields: readonly string[]) =>
    dataOf(await query({ fields, size: 1 }, table)).rows[0]
  t.same(await first('items', []), { id: 1 })
  t.same(await first('items', ['stock', 'name', 'name']), { id: 1, name: 'Item 1', stock: 1 })
  t.same(await first('pairs', ['n']), { a: 'a', b: 4, n: 4 })
  t.same(await first('keyless', ['n']), { rowid: 1, n: 1 })
})

/** Reads all pages of a query. */
const readPages = async (body: Body, table = 'items') => {
  const pages: (readonly Body[])[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const data: { rows: readonly Body[]; next: string | null } = dataOf(await query({ ...body, cursor }, table))
    pages.push(data.rows)
    cursor = data.next
  }
  return pages
}

t.test('cursors lead through all records once, in their order', async (t) => {
  for (const [table, order] of [
    ['items', ''],
    ['items', '-id'],
    ['items', '-price,name'],
    ['items', 'color,-price'],
    ['items', '-color'],
    ['pairs', ''],
    ['pairs', '-b'],
    ['pairs', 'a,-n'],
    ['keyless', 't,-n'],
    ['mixed', 'g'],
    ['mixed', '-b']
  ] as const) {
    const all = dataOf(await query({ order, size: 100 }, table))
    t.equal(all.next, null)
    for (const size of [1, 7])
      t.same((await readPages({ order, size }, table)).flat(), all.rows, `${table} by ${order}`)
  }
  t.equal((await readPages({ size: 25 })).length, 2, 'a full last page has no next one')
  t.same((await readPages({ filter: { where: { id: { lt: 0 } } } })).length, 1)
  t.same((await readPages({ size: 300 })).flat().length, 50)
})

t.test('a cursor belongs to its table, order, filter and search', async (t) => {
  const filter = { where: { id: { gt: 3 } } }
  const body = { filter, order: 'name', q: 'item', size: 2 }
  const { next: cursor } = dataOf(await query(body))
  for (const same of [
    { ...body, size: 3 },
    { ...body, fields: ['name'] },
    { ...body, total: true },
    { ...body, order: 'name,id' }
  ])
    t.equal((await query({ ...same, cursor })).statusCode, 200)
  const { q, ...withoutSearch } = body
  for (const other of [
    { ...body, order: '-name' },
    { ...body, filter: { where: { id: { gt: 4 } } } },
    { ...body, filter: { where: { id: { gte: 3 } } } },
    withoutSearch,
    { ...body, q: 'em' }
  ])
    expectError(t, await query({ ...other, cursor }), 400, 'CURSOR_OF_OTHER_QUERY')
  const first = dataOf(await query({ size: 1 }))
  expectError(t, await query({ cursor: first.next }, 'objects'), 400, 'CURSOR_OF_OTHER_QUERY')

  const large = (byte: number) => ({
    size: 1,
    filter: { where: { b: { ne: Buffer.alloc(8000, byte).toString('base64') } } }
  })
  const page = dataOf(await query(large(254), 'mixed'))
  expectError(t, await query({ ...large(255), cursor: page.next }, 'mixed'), 400, 'CURSOR_OF_OTHER_QUERY')
  t.equal((await query({ ...large(254), cursor: page.next }, 'mixed')).statusCode, 200)
})

t.test('a cursor that the service did not write is refused', async (t) => {
  const cursor: string = dataOf(await query({ size: 1 })).next
  const flip = (index: number) => {
    const bytes = Buffer.from(cursor, 'base64url')
    bytes[index] = (bytes[index] as number) ^ 1
    return bytes.toString('base64url')
  }
  t.equal((await query({ size: 1, cursor })).statusCode, 200)
  const last = Buffer.from(cursor, 'base64url').length - 1
  for (const wrong of ['x', '!', `${cursor}=`, cursor.slice(4), `${cursor}AAAA`, flip(0), flip(20), flip(last)]) {
    expectError(t, await query({ size: 1, cursor: wrong }), 400, 'INVALID_CURSOR')
    expectError(t, await token.get(`/data/items?cursor=${encode(wrong)}`), 400, 'INVALID_CURSOR')
  }
})

t.test('a cursor is valid after a restart with the same secret', async (t) => {
  const directory = temporaryDirectory(t)
  const start = async (env: Record<string, string> = {}) => {
    const app = await startApp(t, { env: { DATA_DIR: directory, ...env } })
    return { app, admin: await asAdmin(app) }
  }
  const first = await start()
  const { id } = await createTable(first.admin, { name: 'kept', fields: [{ name: 'n', jsonType: 'integer' } as never] })
  for (const n of [1, 2]) dataOf(await first.admin.post(`/admin/tables/${id}/data`, { n }))
  const { next: cursor } = dataOf(await first.admin.post(`/admin/tables/${id}/query`, { size: 1 }))
  await first.app.close()
  const second = await start()
  t.same(ids(await second.admin.post(`/admin/tables/${id}/query`, { cursor })), [2])
  await second.app.close()
  const third = await start({ JWT_SECRET: 'f2b8c1d09a7e6354f2b8c1d09a7e63541' })
  expectError(t, await third.admin.post(`/admin/tables/${id}/query`, { cursor }), 400, 'INVALID_CURSOR')
})

t.test('changes before the position do not move the next page', async (t) => {
  const writer = openServed(t, file)
  const { next: cursor } = dataOf(await query({ order: 'n', size: 5 }, 'pairs'))
  const expected = dataOf(await query({ order: 'n', cursor }, 'pairs')).rows
  writer.exec("INSERT INTO pairs VALUES ('z', -1, -1), ('z', 0, 0); DELETE FROM pairs WHERE n IN (2, 5)")
  t.same(dataOf(await query({ order: 'n', cursor }, 'pairs')).rows, expected)
  writer.exec("DELETE FROM pairs WHERE n < 1; INSERT INTO pairs VALUES ('c', 2, 2), ('b', 5, 5)")
})

t.test('keys that are equal by the collation of their column have different positions', async (t) => {
  const file = createDatabase(
    t,
    ['NOCASE', 'RTRIM']
      .map(
        (collation) => `CREATE TABLE ${collation}_keys
          (a TEXT COLLATE ${collation}, v INTEGER, PRIMARY KEY (a COLLATE BINARY)) WITHOUT ROWID;
         INSERT INTO ${collation}_keys VALUES ('a', 1), ('A', 2), ('a ', 3), ('b', 4), ('B', 5), ('b ', 6);`
      )
      .join('')
  )
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  for (const name of ['NOCASE_keys', 'RTRIM_keys']) {
    const url = `/admin/tables/${(await importTable(admin, name)).id}/query`
    for (const order of ['', '-a', 'v,a']) {
      const all = dataOf(await admin.post(url, { order })).rows
      t.equal(all.length, 6)
      for (const size of [1, 2, 3]) {
        const rows: object[] = []
        for (let cursor = ''; cursor !== null; ) {
          const page = dataOf(await admin.post(url, { order, size, cursor }))
          rows.push(...page.rows)
          cursor = page.next
        }
        t.strictSame(rows, all, `${name} by '${order}', ${size} at once`)
      }
    }
  }
})

t.test('wide records and positions', async (t) => {
  const file = createDatabase(
    t,
    `CREATE TABLE wide (id INTEGER PRIMARY KEY, t TEXT, n INTEGER);
     CREATE INDEX wide_t ON wide (t);
     INSERT INTO wide VALUES (1, 'a', 1), (2, 'b' || hex(zeroblob(1000)), 1), (3, 'c', 1);
     CREATE TABLE large (id INTEGER PRIMARY KEY, t TEXT);
     INSERT INTO large SELECT id, hex(zeroblob(2500000)) FROM wide;
     CREATE TABLE two (id INTEGER PRIMARY KEY, t TEXT, u TEXT);
     INSERT INTO two SELECT id, hex(zeroblob(10000)), hex(zeroblob(10000)) FROM wide;
     CREATE TABLE signs (id INTEGER PRIMARY KEY, t TEXT);
     INSERT INTO signs SELECT id, replace(hex(zeroblob(6000)), '0', '€') FROM wide;`
  )
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const queryOf = async (name: string) => {
    const { id } = await importTable(admin, name)
    return (body: Body) => admin.post(`/admin/tables/${id}/query`, body)
  }
  const wide = await queryOf('wide')
  t.same(ids(await wide({ order: 't', fields: ['n'] })), [1, 2, 3], 'a wide position of a narrow record')
  const { next } = dataOf(await wide({ order: 't', fields: ['n'], size: 2 }))
  t.same(ids(await wide({ order: 't', fields: ['n'], cursor: next })), [3])

  const large = await queryOf('large')
  t.same(ids(await large({ size: 1 })), [1], 'a single record has no limit')
  expectError(t, await large({ size: 2 }), 400, 'RESPONSE_TOO_LARGE')
  expectError(t, await large({ size: 2, fields: [], order: 't' }), 400, 'VALIDATION_FAILED', '/order')
  t.same(ids(await large({ size: 3, fields: [] })), [1, 2, 3])

  const two = await queryOf('two')
  expectError(t, await two({ size: 1, order: 't,u' }), 400, 'VALIDATION_FAILED', '/order')
  t.equal(typeof dataOf(await two({ size: 1, order: 't' })).next, 'string')

  const signs = await queryOf('signs')
  expectError(t, await signs({ size: 1, order: 't' }), 400, 'VALIDATION_FAILED', '/order')
  t.same(ids(await signs({ size: 1 })), [1])
})

t.test('a statement that is too long for the event loop finds the same records', async (t) => {
  const names = between(1, 120).map((index) => `c${index}`)
  const file = createDatabase(
    t,
    `CREATE TABLE many (id INTEGER PRIMARY KEY, ${names.map((name) => `${name} INTEGER`).join(', ')});
     CREATE INDEX many_c ON many (c1, c2);
     INSERT INTO many (id, c1, c2) VALUES (1, 2, 1), (2, 1, 2), (3, 1, 1);`
  )
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const url = `/admin/tables/${(await importTable(admin, 'many')).id}/query`
  for (const fields of [undefined, ['c1']]) {
    const first = await admin.post(url, { order: 'c1,c2', fields, size: 2 })
    t.same(ids(first), [3, 2])
    t.same(ids(await admin.post(url, { order: 'c1,c2', fields, cursor: dataOf(first).next })), [1])
  }
})

t.test('a text that is not UTF-8 has no cursor', async (t) => {
  const other = createDatabase(
    t,
    `CREATE TABLE odd (id INTEGER PRIMARY KEY, t TEXT); INSERT INTO odd VALUES (1, CAST(x'ff' AS TEXT)), (2, 'a');`
  )
  const service = await startApp(t, { env: { DATABASE: other } })
  const owner = await asAdmin(service)
  const { id } = await importTable(owner, 'odd')
  const read = (order: string, size: number) => owner.post(`/admin/tables/${id}/query`, { order, size, fields: ['id'] })
  expectError(t, await read('-t', 1), 400, 'VALIDATION_FAILED')
  t.equal((await read('-t', 2)).statusCode, 200)
  t.equal((await read('t', 1)).statusCode, 200)
})
