import t, { type Test } from 'tap'
import type { Claims, Grant } from '../../schemas/role.ts'
import {
  type App,
  asAdmin,
  bearer,
  type Client,
  createDatabase,
  dataOf,
  importTable,
  routesOf,
  startApp
} from '../helpers.ts'
import { AUDIENCE, ISSUER, makeSigner, serveKeys } from '../jwt-issuer.ts'

// What a service keeps in memory for one key must change no response to another one. Two services have the same data. In the
// cold one, only Ben sends requests. In the warm one, another key sends each of them first. Ben's responses are the same.

const SQL = `
  CREATE TABLE regions (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, mail TEXT, pin TEXT, region INTEGER REFERENCES regions (id));
  CREATE TABLE shops (id INTEGER PRIMARY KEY, city TEXT);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers (id),
    shop INTEGER REFERENCES shops (id), n INTEGER DEFAULT 0, note TEXT);
  CREATE TABLE lines (id INTEGER PRIMARY KEY, "order" INTEGER REFERENCES orders (id), shop INTEGER REFERENCES shops (id),
    text TEXT);
  CREATE TABLE reviews (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers (id),
    line INTEGER REFERENCES lines (id), stars INTEGER, text TEXT);
  CREATE TABLE marks (code TEXT PRIMARY KEY, customer INTEGER REFERENCES customers (id),
    review INTEGER REFERENCES reviews (id)) WITHOUT ROWID;
  INSERT INTO regions VALUES (1, 'north'), (2, 'south');
  INSERT INTO customers VALUES (1, 'Ann', 'ann@example.org', '1111', 1), (2, 'Ben', 'ben@example.org', '2222', 2),
    (3, 'Cleo', 'cleo@example.org', '3333', 2);
  INSERT INTO shops VALUES (1, 'Oslo'), (2, 'Rome'), (3, 'Lima'), (4, 'Kobe');
  INSERT INTO orders VALUES (1, 1, 1, 10, 'tea'), (2, 2, 3, 20, 'tea'), (3, 2, 1, 30, NULL), (4, 1, 2, 40, 'milk'),
    (5, 3, 3, 50, 'tea'), (6, 2, 4, 60, 'salt');
  INSERT INTO lines VALUES (1, 1, 1, 'a'), (2, 2, 3, 'b'), (3, 3, 2, 'c'), (4, 4, 4, 'd'), (5, 5, 3, 'e'), (6, 6, 3, 'f');
  INSERT INTO reviews VALUES (1, 1, 1, 5, 'good'), (2, 2, 2, 4, 'good'), (3, 3, 5, 3, NULL), (4, 2, 1, 2, 'bad'),
    (5, 1, 4, 1, 'bad'), (6, NULL, NULL, 0, '');
  INSERT INTO marks VALUES ('a', 1, 1), ('b', 2, 2), ('c', 2, 3), ('d', 3, 4), ('e', 2, 6), ('f', 1, 5);`

const SEARCHED = ['reviews', 'lines']
const TABLES = ['regions', 'customers', 'shops', 'orders', 'lines', 'reviews', 'marks']

/** What a rule compares: a claim of the key, or a value. */
interface Compared {
  readonly customer: unknown
  readonly shops: unknown
}

const CHANGES = ['create', 'update', 'delete'] as const

const grantsFor = ({ customer, shops }: Compared): readonly Grant[] => {
  const own = { where: { customer: { eq: customer } } }
  const text = { read: ['id', 'order', 'shop', 'text'] }
  return [
    {
      tables: ['customers'],
      actions: ['read'],
      rows: { where: { id: { eq: customer } } },
      fields: { read: ['id', 'name', 'mail', 'region'] }
    },
    { tables: ['shops'], actions: ['read'], rows: { where: { id: { in: shops } } } },
    { tables: ['orders'], actions: ['read', 'update', 'delete'], rows: own },
    { tables: ['orders'], actions: ['create'], rows: own, presets: { customer } as Grant['presets'] },
    { tables: ['lines'], actions: ['read', ...CHANGES], rows: { via: { order: own } }, fields: text },
    { tables: ['marks'], actions: ['read', ...CHANGES], rows: own },
    { tables: ['reviews'], actions: ['read', ...CHANGES] },
    { tables: ['regions'], actions: ['read', 'schema'] },
    { tables: ['made'], actions: ['schema'] }
  ] as readonly Grant[]
}

const CLAIMED = grantsFor({ customer: { $claim: 'customer' }, shops: { $claim: 'shops' } })
const OF_ANN = { customer: 1, shops: [1, 2] }
const OF_BEN = { customer: 2, shops: [3, 4] }

const now = 1_767_225_600_000
const signer = await makeSigner('first', () => now)
const keys = await serveKeys(t, [signer.jwk])

const ENV = {
  JWT_SECRET: 'a secret of at least thirty-two characters',
  JWT_ISSUER: ISSUER,
  JWT_AUDIENCE: AUDIENCE,
  JWT_ROLE: '/role',
  JWT_CLAIMS: 'customer=/customer,shops=/shops',
  JWT_JWKS_URL: keys.url,
  PUBLIC_ROLE: 'public'
}

interface Started {
  readonly app: App
  readonly admin: Client
  /** Those of Ben, who was issued one first, and of others. */
  readonly tokens: ReadonlyMap<string, { readonly id: number; readonly token: string }>
}

/** Starts a service. Both kinds of services run the same code, so all ids and times are the same. */
const start = async (t: Test): Promise<Started> => {
  const app = await startApp(t, { env: { DATABASE: createDatabase(t, SQL), ...ENV }, clock: () => now })
  const admin = await asAdmin(app)
  for (const name of TABLES) {
    const { id } = await importTable(admin, name)
    // Searches of these tables use an index.
    const isSearched = SEARCHED.includes(name)
    if (isSearched) dataOf(await admin.put(`/admin/tables/${id}`, { searchIndex: true }))
    while (isSearched && dataOf(await admin.get(`/admin/tables/${id}`)).searchIndex.state !== 'ready')
      await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const roles = { customer: CLAIMED, other: CLAIMED, public: grantsFor(OF_ANN) }
  for (const [name, grants] of Object.entries(roles)) dataOf(await admin.post('/admin/roles', { name, grants }))
  const tokens = new Map<string, { readonly id: number; readonly token: string }>()
  const issue = async (name: string, role: string, claims: Claims) =>
    tokens.set(name, dataOf(await admin.post('/admin/tokens', { name, role, claims })))
  await issue('Ben', 'customer', OF_BEN)
  await issue('Ann', 'customer', OF_ANN)
  await issue('Ann of another role', 'other', OF_ANN)
  await issue('Changed', 'customer', OF_ANN)
  return { app, admin, tokens }
}

type Headers = Readonly<Record<string, string>>

const headersOf = ({ tokens }: Started, name: string): Headers => bearer(String(tokens.get(name)?.token))

const jwtOf = async (sub: string, claims: Claims): Promise<Headers> =>
  bearer(await signer.sign({ payload: { sub, role: 'customer', ...claims } }))

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Call = readonly [method: Method, url: string, payload?: object | string, headers?: Headers]

/** The records that a key changes: each has its own, so that no change of the first key concerns the second one. */
interface Own {
  readonly order: number
  readonly line: number
  /** null: the key changes no review. Every key reads all reviews. */
  readonly review: number | null
  readonly mark: string
  /** The key of a new record. */
  readonly added: number
}

const OWN_OF_ANN: Own = { order: 4, line: 4, review: null, mark: 'f', added: 100 }
const OWN_OF_BEN: Own = { order: 6, line: 6, review: 4, mark: 'e', added: 200 }

const filterOf = (where: object) => encodeURIComponent(JSON.stringify({ where }))
const CSV = { 'content-type': 'text/csv' }

const EXPANDED = [
  'expand=customer',
  'expand=customer(name)',
  'expand=customer.region',
  'expand=line.order.customer',
  'expand=line.order.customer(mail),line.shop',
  'expand=line(text),customer&fields=stars',
  'fields=stars&expand=customer',
  'expand=customer&order=-stars&size=2&page=2',
  'expand=customer&size=2&cursor=',
  'expand=customer&q=good',
  `expand=customer&filter=${filterOf({ stars: { gt: 1 } })}`,
  'order=-customer.name',
  'order=line.order.note,id',
  `filter=${filterOf({ 'customer.name': { contains: 'n' } })}`,
  `filter=${filterOf({ 'line.order.n': { gt: 0 } })}&expand=line.order`,
  'expand=customer&total=true&order=customer.mail'
]

/** The requests of each operation that only reads. */
const READS: Readonly<Record<string, readonly Call[]>> = {
  readIdentity: [['GET', '/data/_me']],
  readTokenDocument: [['GET', '/data/_openapi.json']],
  readTableSchema: TABLES.map((name): Call => ['GET', `/data/${name}/schema`]),
  listRecords: [
    ...TABLES.flatMap((name): Call[] => [
      ['GET', `/data/${name}`],
      ['GET', `/data/${name}?total=true&size=1&page=2`],
      ['GET', `/data/${name}?q=tea`],
      ['GET', `/data/${name}?q=good`],
      ['GET', `/data/${name}?cursor=&size=1`]
    ]),
    ...EXPANDED.map((query): Call => ['GET', `/data/reviews?${query}`]),
    ['GET', '/data/orders?expand=customer,shop'],
    ['GET', '/data/orders?expand=shop(city)&fields=n&order=-n'],
    ['GET', `/data/orders?filter=${filterOf({ customer: { in: [1, 2] } })}&total=true`],
    ['GET', '/data/lines?expand=order.customer,shop&order=-order.n'],
    ['GET', '/data/marks?expand=customer,review.customer&order=-code'],
    ['GET', '/data/marks?expand=review.line.order&size=1&cursor=']
  ],
  queryRecords: [
    ['POST', '/data/reviews/query', { expand: ['customer', 'line.order'], total: true }],
    ['POST', '/data/reviews/query', { expand: ['customer(name)'], fields: ['stars'], size: 2 }],
    ['POST', '/data/orders/query', { expand: ['shop'], filter: { any: [{ where: { n: { gt: 20 } } }] } }],
    ['POST', '/data/lines/query', { filter: { where: { 'order.note': { eq: 'tea' } } }, total: true }],
    ['POST', '/data/marks/query', { expand: ['customer'], order: 'review', size: 1 }]
  ],
  aggregateRecords: ['orders', 'lines', 'reviews', 'marks'].map(
    (name): Call => ['POST', `/data/${name}/aggregate`, { compute: { rows: { count: true } } }]
  ),
  exportRecords: [
    ['GET', '/data/orders/export'],
    ['GET', '/data/lines/export?format=ndjson&size=3'],
    ['GET', '/data/marks/export?size=3'],
    ['GET', '/data/reviews/export?format=ndjson&order=-customer.name']
  ],
  readRecord: [
    ...[1, 2, 3].map((key): Call => ['GET', `/data/customers/records/${key}`]),
    ...[1, 2].map((key): Call => ['GET', `/data/orders/records/${key}`]),
    ...[1, 2].map((key): Call => ['GET', `/data/lines/records/${key}`]),
    ...['a', 'b'].map((key): Call => ['GET', `/data/marks/records/${key}`]),
    ['GET', '/data/shops/records/3']
  ],
  countReferrers: [
    ['GET', '/data/customers/records/2/referring'],
    ['GET', '/data/orders/records/2/referring'],
    ['GET', '/data/reviews/records/2/referring']
  ]
}

/** Reads instead, for a key that changes no review. */
const ofReview = ({ review }: Own, call: Call): Call => (review === null ? ['GET', '/data/reviews'] : call)

const updates = (method: Method, own: Own): readonly Call[] => {
  const { order, line, review, mark } = own
  return [
    [method, `/data/orders/records/${order}?return=record`, { n: 61 }],
    [method, `/data/orders/records/${order}`, { n: 62, note: 'x' }, { 'if-match': '"x"' }],
    [method, `/data/orders/records/2`, { customer: 3 }],
    [method, `/data/lines/records/${line}?return=record`, { text: 'y' }],
    ofReview(own, [method, `/data/reviews/records/${review}`, { stars: 3 }]),
    [method, `/data/marks/records/${mark}?return=record`, { review: null }]
  ]
}

/** The requests of each operation that changes records. */
const changesOf = (own: Own): Readonly<Record<string, readonly Call[]>> => ({
  updateRecord: updates('PUT', own),
  patchRecord: updates('PATCH', own),
  incrementRecord: [['POST', '/data/orders/incr?return=record', { pk: own.order, field: 'n' }]],
  addToRecord: [['POST', `/data/orders/records/${own.order}/incr?return=record`, { field: 'n', count: 2 }]],
  createRecord: [
    ['POST', '/data/orders/records', { id: own.added, n: 1 }],
    ['POST', '/data/orders/records?upsert=id', { id: own.added, n: 2 }],
    ofReview(own, ['POST', '/data/reviews/records', { id: own.added, customer: 1, line: 1 }]),
    ['POST', '/data/lines/records', { id: own.added, order: own.order }],
    ['POST', '/data/marks/records', { code: `m${own.added}`, customer: 2 }]
  ],
  importRecords: [
    ['POST', '/data/orders/import', `id,n\n${own.added + 1},5\n${own.added + 2},6\n`, CSV],
    ['POST', '/data/orders/import?mode=upsert', `id,n\n${own.added + 1},7\n`, CSV],
    ['POST', '/data/marks/import?dryRun=true', `code,customer\nz,2\n`, CSV]
  ],
  runBatch: [
    [
      'POST',
      '/data/_batch',
      {
        operations: [
          { op: 'create', table: 'orders', values: { id: own.added + 3, n: 8 } },
          {
            op: 'update',
            table: 'orders',
            values: { note: 'z' },
            filter: { where: { n: { gte: 1000 } } },
            maxAffected: 9
          },
          { op: 'update', table: 'lines', pk: own.line, values: { text: 'w' } },
          { op: 'delete', table: 'marks', pk: own.mark }
        ]
      }
    ],
    [
      'POST',
      '/data/_batch',
      {
        operations: [
          { op: 'create', table: 'orders', values: { id: own.added + 4, n: 9 } },
          { op: 'create', table: 'lines', values: { id: own.added + 5, order: { $result: 0, field: 'id' } } },
          { op: 'update', table: 'orders', pk: { $result: 0, field: 'id' }, values: { note: 'v' } }
        ]
      }
    ]
  ],
  deleteRecord: [
    ofReview(own, ['DELETE', `/data/reviews/records/${own.review}?return=record`]),
    ['DELETE', `/data/lines/records/${own.line}?return=record`]
  ],
  createTable: [
    ['POST', '/data/_schema/tables', { name: 'closed', label: '', fields: [{ name: 'a', jsonType: 'string' }] }]
  ],
  addTableField: [['POST', '/data/_schema/tables/orders/fields', { field: { name: 'b', jsonType: 'string' } }]]
})

/** Values that differ between any two responses. A cursor is encrypted, with a random start. */
const withoutIds = (body: string) =>
  body
    .replaceAll(/"requestId":"[^"]*"/g, '')
    .replaceAll(/"next":"([^"]*)"/g, (_, next: string) => `"next":${next.length}`)

const KEPT_HEADERS = ['etag', 'content-type', 'location', 'link']

interface Answer {
  readonly call: string
  readonly status: number
  readonly headers: readonly unknown[]
  readonly body: string
  /** The cursor of the next page. */
  readonly next: string | undefined
}

const send = async (app: App, headers: Headers, [method, url, payload, further]: Call): Promise<Answer> => {
  const sent = payload === undefined ? {} : { payload }
  const response = await app.inject({ method, url, headers: { ...headers, ...further }, ...sent })
  return {
    call: `${method} ${url} ${typeof payload === 'object' ? JSON.stringify(payload) : ''}`,
    status: response.statusCode,
    headers: KEPT_HEADERS.map((name) => response.headers[name]),
    body: withoutIds(response.body),
    next: /"next":"([^"]*)"/.exec(response.body)?.[1]
  }
}

/** Returns the request of the next page, if the response has a cursor. */
const nextPage = ([method, url, payload]: Call, { next }: Answer): Call | undefined => {
  if (next === undefined) return undefined
  return method === 'GET'
    ? [method, url.replace('cursor=', `cursor=${next}`)]
    : [method, url, { ...(payload as object), cursor: next }]
}

/** Sends a request, and those of the pages after it. */
const sendAll = async (app: App, headers: Headers, call: Call): Promise<readonly Answer[]> => {
  const answers: Answer[] = []
  for (let page: Call | undefined = call; page; ) {
    const answer = await send(app, headers, page)
    answers.push(answer)
    page = nextPage(page, answer)
  }
  return answers.map(({ next, ...answer }, index) => ({
    ...answer,
    call: `${call.slice(0, 2).join(' ')}, page ${index + 1}`,
    next: ''
  }))
}

/** Returns all requests of a key. Without records of its own it only reads. After the changes, it reads the changed records. */
const callsOf = (own?: Own): readonly Call[] => [
  ...Object.values(READS).flat(),
  ...(own ? Object.values(changesOf(own)).flat() : []),
  ...(own ? [...(READS.listRecords ?? []), ...(READS.queryRecords ?? [])] : [])
]

const sendEach = async (app: App, headers: Headers, calls: readonly Call[]): Promise<readonly Answer[]> => {
  const answers: Answer[] = []
  for (const call of calls) answers.push(...(await sendAll(app, headers, call)))
  return answers
}

/** Sends all requests of Ben, and each of them first with the key of Ann, for her own records. */
const sendAfterAnn = async (app: App, ann: Headers, ben: Headers): Promise<readonly Answer[]> => {
  const first = callsOf(OWN_OF_ANN)
  const answers: Answer[] = []
  for (const [index, call] of callsOf(OWN_OF_BEN).entries()) {
    await sendAll(app, ann, first[index] as Call)
    answers.push(...(await sendAll(app, ben, call)))
  }
  return answers
}

const compare = (t: Test, found: readonly Answer[], expected: readonly Answer[]) => {
  t.ok(expected.filter(({ status }) => status === 200).length > 50, 'most requests succeed')
  t.strictSame(
    expected.filter(({ status }) => status >= 500).map(({ call }) => call),
    [],
    'no request is a fault'
  )
  t.equal(found.length, expected.length)
  for (const [index, answer] of expected.entries()) t.strictSame(found[index], answer, answer.call)
}

const cold = await start(t)
const expected = await sendEach(cold.app, headersOf(cold, 'Ben'), callsOf(OWN_OF_BEN))
const fresh = await start(t)
const expectedReads = await sendEach(fresh.app, headersOf(fresh, 'Ben'), callsOf())
const jwtOfBen = await jwtOf('ben', OF_BEN)
const expectedForJwt = await sendEach(fresh.app, jwtOfBen, callsOf())

t.test('a token that sends each request first changes nothing for another token of the role', async (t) => {
  const warm = await start(t)
  compare(t, await sendAfterAnn(warm.app, headersOf(warm, 'Ann'), headersOf(warm, 'Ben')), expected)
})

/** Other keys that read first. */
const READERS: Readonly<Record<string, (warm: Started) => Promise<Headers>>> = {
  'a token': async (warm) => headersOf(warm, 'Ann'),
  'a token of another role with the same rules': async (warm) => headersOf(warm, 'Ann of another role'),
  'a JWT': () => jwtOf('ann', OF_ANN),
  'a view of a token': async ({ admin, tokens }) =>
    bearer(dataOf(await admin.post(`/admin/tokens/${tokens.get('Ann')?.id}/view`)).token),
  'the public role, whose rules have values instead of claims,': async () => ({})
}

for (const [name, headersOfReader] of Object.entries(READERS)) {
  t.test(`${name} that reads first changes nothing for a token or a JWT`, async (t) => {
    const warm = await start(t)
    await sendEach(warm.app, await headersOfReader(warm), callsOf())
    compare(t, await sendEach(warm.app, headersOf(warm, 'Ben'), callsOf()), expectedReads)
    compare(t, await sendEach(warm.app, jwtOfBen, callsOf()), expectedForJwt)
  })
}

t.test('a token reads by its new claims', async (t) => {
  const changed = await start(t)
  const headers = headersOf(changed, 'Changed')
  const change = async ({ admin, tokens }: Started) =>
    dataOf(await admin.put(`/admin/tokens/${tokens.get('Changed')?.id}`, { claims: OF_BEN }))
  await sendEach(changed.app, headers, callsOf())
  await change(changed)
  await change(fresh)
  const found = await sendEach(changed.app, headers, callsOf())
  compare(t, found, await sendEach(fresh.app, headersOf(fresh, 'Changed'), callsOf()))
})

t.test('the requests show what a rule opens', async (t) => {
  const { rows } = JSON.parse(
    String(expected.find(({ call }) => call.startsWith('GET /data/reviews?expand=customer,'))?.body)
  ).data
  t.match(
    rows.map(({ expand }: { expand: object }) => expand),
    [{ customer: null }, { customer: { id: 2, name: 'Ben' } }, { customer: null }, { customer: { name: 'Ben' } }]
  )
  const called = [...Object.keys(READS), ...Object.keys(changesOf(OWN_OF_BEN))]
  const inData = routesOf(cold.app).filter(({ url }) => url.startsWith('/data/'))
  t.strictSame([...new Set(inData.flatMap(({ schema }) => schema?.operationId ?? []))].sort(), called.sort())
})
