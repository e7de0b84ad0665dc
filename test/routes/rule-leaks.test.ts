import t, { type Test } from 'tap'
import type { Grant } from '../../schemas/role.ts'
import { asAdmin, bearer, createDatabase, dataOf, importTable, routesOf, startApp } from '../helpers.ts'

// Two databases that differ only in records and fields outside of the role of a key give the same responses.

const COLUMNS = `owner TEXT, code TEXT UNIQUE, n INTEGER, note TEXT, secret TEXT, parent INTEGER REFERENCES items (id)`
const VISIBLE = `(1, 'a', 'one', 1, 'red tea', NULL), (3, 'a', 'three', 3, 'tea', 2), (5, 'a', 'five', 5, NULL, 1)`

/** SQL that differs in what the key does not see. Record 2 exists in both: a visible record refers to it. */
const tablesWith = (hidden: string) => `PRAGMA foreign_keys = OFF;
  CREATE TABLE items (id INTEGER PRIMARY KEY, ${COLUMNS});
  CREATE INDEX items_owner ON items (owner);
  INSERT INTO items (id, owner, code, n, note, parent) VALUES ${VISIBLE};
  CREATE TABLE notes (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items (id), text TEXT);
  INSERT INTO notes VALUES (1, 1, 'mine');
  CREATE TABLE closed (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items (id));
  ${hidden}`

const FEW = `INSERT INTO items (id, owner, n, note) VALUES (2, 'b', 2, 'milk');
  UPDATE items SET secret = 'x';`

const MANY = `INSERT INTO items (id, owner, code, n, note, secret) VALUES (2, 'c', 'two', 200, 'tea tea tea', 'y');
  INSERT INTO items (id, owner, code, n, note, secret, parent)
    SELECT value, 'b', 'code ' || value, value, 'tea ' || value, 'z', 1 FROM generate_series_of_100;
  UPDATE items SET secret = secret || id;
  INSERT INTO notes SELECT value, value, 'other' FROM generate_series_of_100;
  INSERT INTO closed SELECT value, 1 FROM generate_series_of_100;`.replaceAll(
  'generate_series_of_100',
  '(WITH RECURSIVE counted (value) AS (SELECT 100 UNION ALL SELECT value + 1 FROM counted WHERE value < 199) SELECT value FROM counted)'
)

const own = { where: { owner: { eq: { $claim: 'owner' } } } }
const GRANTS: readonly Grant[] = [
  {
    tables: ['items'],
    actions: ['read', 'create', 'update', 'delete'],
    rows: own,
    fields: { read: ['id', 'owner', 'code', 'n', 'note', 'parent'] }
  },
  { tables: ['notes'], actions: ['read', 'create', 'update', 'delete'], rows: { via: { item: own } } }
]

const start = async (t: Test, hidden: string) => {
  const DATABASE = createDatabase(t, tablesWith(hidden))
  const app = await startApp(t, {
    env: { DATABASE, JWT_SECRET: 'a secret of at least thirty-two characters' },
    clock: () => 1_700_000_000_000
  })
  const admin = await asAdmin(app)
  const ids = new Map<string, number>()
  for (const name of ['items', 'notes', 'closed']) ids.set(name, (await importTable(admin, name)).id)
  const items = `/admin/tables/${ids.get('items')}`
  dataOf(await admin.put(items, { searchIndex: true }))
  while (dataOf(await admin.get(items)).searchIndex.state === 'building')
    await new Promise((resolve) => setTimeout(resolve, 10))
  dataOf(await admin.post('/admin/roles', { name: 'owner', grants: GRANTS }))
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'Ann', role: 'owner', claims: { owner: 'a' } }))
  return { app, token }
}

const [few, many] = [await start(t, FEW), await start(t, MANY)]

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface Sent {
  readonly payload?: object | string
  readonly headers?: Readonly<Record<string, string>>
}

/** Values that differ between any two responses. A cursor is encrypted, with a random start. */
const withoutIds = (body: string) =>
  body
    .replaceAll(/"requestId":"[^"]*"/g, '"requestId":""')
    .replaceAll(/"next":"([^"]*)"/g, (_, cursor: string) => `"next":${cursor.length}`)

const KEPT_HEADERS = ['etag', 'content-type', 'location', 'retry-after', 'link']

const send = async (
  { app, token }: typeof few,
  [method, url]: readonly [Method, string],
  { payload, headers }: Sent
) => {
  const response = await app.inject({
    method,
    url,
    headers: { ...bearer(token), ...headers },
    ...(payload !== undefined && { payload })
  })
  const kept = KEPT_HEADERS.map((name) => response.headers[name])
  return { status: response.statusCode, headers: kept, body: withoutIds(response.body) }
}

const called = new Set<string>()

/** Asserts that both services respond the same. Returns the response. */
const same = async (t: Test, method: Method, url: string, sent: Sent = {}) => {
  const [one, other] = [await send(few, [method, url], sent), await send(many, [method, url], sent)]
  t.strictSame(other, one, `${method} ${url} ${JSON.stringify(sent)}`)
  return one
}

const json = (payload: object): Sent => ({ payload })
const csv = (payload: string): Sent => ({ payload, headers: { 'content-type': 'text/csv' } })
const filterOf = (where: object) => encodeURIComponent(JSON.stringify({ where }))

type Call = readonly [Method, string, Sent?]

const operation = (name: string, ...calls: readonly Call[]) => {
  called.add(name)
  t.test(name, async (t) => {
    for (const [method, url, sent] of calls) await same(t, method, url, sent)
  })
}

const NEAR = [
  '',
  'total=true',
  'order=n.desc',
  'order=-note,id',
  'size=2',
  'size=2&page=2',
  'page=9',
  'cursor=',
  'q=tea',
  'q=e',
  'q=milk',
  'q=tea&order=n'
]
const EXPANDED = [
  'expand=parent',
  'expand=parent.parent',
  'order=parent.n',
  `filter=${filterOf({ 'parent.n': { gt: 0 } })}`
]
const FILTERED = [{ n: { gt: 1 } }, { owner: { eq: 'b' } }, { secret: { eq: 'z' } }, { id: { in: [1, 2, 100] } }].map(
  (where) => `filter=${filterOf(where)}`
)

operation('readIdentity', ['GET', '/data/_me'])
operation('readTokenDocument', ['GET', '/data/_openapi.json'], ['GET', '/data/_openapi.json?openapi=3.0'])
operation(
  'readTableSchema',
  ['GET', '/data/items/schema'],
  ['GET', '/data/notes/schema'],
  ['GET', '/data/closed/schema']
)
operation(
  'listRecords',
  ...[...NEAR, ...EXPANDED, ...FILTERED].map((query): Call => ['GET', `/data/items?${query}`]),
  ['GET', '/data/notes?total=true&expand=item'],
  ['GET', '/data/closed'],
  ['GET', '/data/absent']
)
operation(
  'queryRecords',
  ...[
    {},
    { total: true },
    { order: 'n.desc', size: 1 },
    { size: 2, order: 'note' },
    { filter: { where: { secret: { eq: 'x' } } } },
    { q: 'tea', total: true }
  ].map((body): Call => ['POST', '/data/items/query', json(body)])
)
operation(
  'aggregateRecords',
  ...[
    { compute: { rows: { count: true }, sum: { sum: 'n' }, least: { min: 'n' } } },
    { compute: { rows: { count: true } }, groupBy: ['owner'] },
    { compute: { rows: { count: true } }, groupBy: ['note'] },
    { compute: { last: { max: 'secret' } } }
  ].map((body): Call => ['POST', '/data/items/aggregate', json(body)])
)
operation(
  'exportRecords',
  ...[
    'format=csv',
    'format=ndjson',
    'format=json',
    'format=csv&order=n.desc',
    `format=csv&filter=${filterOf({ n: { gt: 1 } })}`,
    'q=tea'
  ].map((query): Call => ['GET', `/data/items/export?${query}`])
)
operation(
  'readRecord',
  ...['1', '2', '100', '7777', 'x'].map((key): Call => ['GET', `/data/items/records/${key}`]),
  ['GET', '/data/items/records/5?expand=parent'],
  ['GET', '/data/items/records/3?expand=parent']
)
operation(
  'countReferrers',
  ...['1', '2', '5', '100'].map((key): Call => ['GET', `/data/items/records/${key}/referring`])
)

const changes = (method: Method): readonly Call[] => [
  ...['2', '100', '7777'].flatMap((key): Call[] => [
    [method, `/data/items/records/${key}`, json({ n: 1 })],
    [method, `/data/items/records/${key}?return=record`, json({ n: 1 })],
    [method, `/data/items/records/${key}`, { payload: { n: 1 }, headers: { 'if-match': '"x"' } }]
  ]),
  [method, '/data/items/records/1', json({ owner: 'b' })],
  [method, '/data/items/records/1?return=record', json({ n: 11 })],
  [method, '/data/items/records/1', { payload: { n: 12 }, headers: { 'if-match': '"x"' } }],
  [method, '/data/items/records/1', json({ secret: 'mine' })],
  [method, '/data/items/records/1', json({ secrets: 1 })]
]
operation('updateRecord', ...changes('PUT'))
operation('patchRecord', ...changes('PATCH'))
operation(
  'incrementRecord',
  ...[1, 2, 100].map((pk): Call => ['POST', '/data/items/incr?return=record', json({ pk, field: 'n' })])
)
operation(
  'addToRecord',
  ...[1, 2, 100].map((pk): Call => ['POST', `/data/items/records/${pk}/incr`, json({ field: 'n' })])
)
operation(
  'createRecord',
  ['POST', '/data/items/records', json({ id: 1000, owner: 'a', code: 'thousand' })],
  ['POST', '/data/items/records', json({ id: 1001, owner: 'b', code: 'other' })],
  ['POST', '/data/items/records', json({ id: 1000, owner: 'a' })],
  ['POST', '/data/items/records?upsert=id', json({ id: 1000, n: 5 })],
  ['POST', '/data/items/records?upsert=id', json({ id: 1002, owner: 'a', n: 5 })],
  ['POST', '/data/items/records?upsert=code', json({ code: 'thousand', n: 6 })],
  ['POST', '/data/notes/records', json({ id: 1000, item: 1, text: 'new' })],
  ['POST', '/data/notes/records', json({ id: 1001, item: 2, text: 'of another' })],
  ['POST', '/data/notes/records', json({ id: 1001, text: 'of none' })],
  ['POST', '/data/closed/records', json({ item: 1 })]
)
operation(
  'importRecords',
  ['POST', '/data/items/import', csv('id,owner,code\n2000,a,x\n2001,a,y\n')],
  ['POST', '/data/items/import', csv('id,owner,code\n2002,b,z\n')],
  ['POST', '/data/items/import?dryRun=true', csv('id,owner,code\n2003,a,w\n')],
  ['POST', '/data/items/import?mode=upsert', csv('id,n\n2000,7\n2001,8\n')],
  ['POST', '/data/items/import?mode=upsert&on=code&dryRun=true', csv('id,code\n2,one\n')],
  ['POST', '/data/items/import', csv('id,secret\n2004,x\n')],
  ['POST', '/data/notes/import', csv('id,item\n2000,1\n2001,2\n')]
)
operation(
  'runBatch',
  ...[
    { op: 'update', table: 'items', pk: 100, values: { n: 1 } },
    { op: 'delete', table: 'items', pk: 2 },
    { op: 'incr', table: 'items', pk: 2, field: 'n' },
    { op: 'update', table: 'items', values: { n: 20 }, filter: { where: { n: { gte: 0 } } }, maxAffected: 50 },
    { op: 'delete', table: 'items', filter: { where: { owner: { eq: 'b' } } }, maxAffected: 3 },
    { op: 'create', table: 'items', values: { id: 3000, owner: 'b' }, onConflict: 'ignore' },
    { op: 'create', table: 'closed', values: { item: 1 } }
  ].map((one): Call => ['POST', '/data/_batch', json({ operations: [one] })])
)
operation(
  'deleteRecord',
  ...['2', '100', '7777', '5'].map((key): Call => ['DELETE', `/data/items/records/${key}?return=record`])
)
operation('createTable', [
  'POST',
  '/data/_schema/tables',
  json({ name: 'more', fields: [{ name: 'a', jsonType: 'string' }] })
])
operation('addTableField', [
  'POST',
  '/data/_schema/tables/items/fields',
  json({ field: { name: 'b', jsonType: 'string' } })
])

t.test('every route of tokens is compared', async (t) => {
  const inData = routesOf(few.app).filter(({ url }) => url.startsWith('/data/'))
  t.strictSame([...new Set(inData.flatMap(({ schema }) => schema?.operationId ?? []))].sort(), [...called].sort())
})
