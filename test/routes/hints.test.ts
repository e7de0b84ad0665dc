import t from 'tap'
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
  type TestResponse
} from '../helpers.ts'

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
  const hint = 'Tokens are accepted under /data only, and admin keys under /admin only. Log in: POST /auth/login.'
  for (const url of ['/admin/tables', '/auth/me']) {
    const response = await token.get(url)
    expectError(t, response, 401, 'AUTHENTICATION_REQUIRED')
    t.equal(response.json().error.hint, hint)
  }
  const anonymous = await app.inject('/admin/tables')
  t.equal(anonymous.json().error.hint, 'Log in: POST /auth/login.')
})

const hintOf = (response: TestResponse): string => response.json().error.hint

/** Returns the parts of a query string that a hint names, percent-encoded. */
const suggestedQuery = (hint: string) => {
  const [, query = ''] = /(?:Use|For example:) (.+?)(?:, percent-encoded)?\. (?:A page|Send|The )/.exec(hint) ?? []
  return query.replace(/filter=(\{.*\})/, (_, filter) => `filter=${encodeURIComponent(filter)}`)
}

const CUPS = [
  { name: 'Blue cup', price: 12.5, stock: 3, sold: true },
  { name: 'Red plate', price: 5, stock: null, sold: false }
]
const cups = await createTable(admin, {
  name: 'cups',
  fields: [
    { name: 'name', jsonType: 'string' },
    { name: 'price', jsonType: 'number' },
    { name: 'stock', jsonType: 'integer' },
    { name: 'sold', jsonType: 'boolean' },
    { name: 'text', jsonType: 'string' },
    { name: 'unit_price', jsonType: 'number' },
    { name: 'secrets', jsonType: 'string', isHidden: true }
  ]
})
for (const cup of CUPS) await token.post('/data/cups/records', cup)

t.test('a parameter of another service gets the query that works', async (t) => {
  for (const [sent, suggested, names] of [
    ['limit=1', 'size=1', ['Blue cup']],
    ['per_page=1', 'size=1', ['Blue cup']],
    ['limit=0', 'size=50', ['Blue cup', 'Red plate']],
    ['limit=1&offset=1', 'size=1&page=2', ['Red plate']],
    ['offset=0', 'page=1', ['Blue cup', 'Red plate']],
    ['offset=x', 'page=2', []],
    ['limit=1&offset=x', 'size=1&page=2', ['Red plate']],
    ['_page=1', 'page=1', ['Blue cup', 'Red plate']],
    ['sort=-price', 'order=-price', ['Blue cup', 'Red plate']],
    ['sort=price:asc', 'order=price%3Aasc', ['Red plate', 'Blue cup']],
    ['_sort=price&_order=desc', 'order=-price', ['Blue cup', 'Red plate']],
    ['order=desc&sort=price', 'order=-price', ['Blue cup', 'Red plate']],
    ['sort=price&dir=desc', 'order=-price', ['Blue cup', 'Red plate']],
    ['sort=sold,price&dir=desc', 'order=sold,price,desc', ['Red plate', 'Blue cup']],
    ['_sort_desc=price', 'order=-price', ['Blue cup', 'Red plate']],
    ['first=1', 'size=1', ['Blue cup']],
    ['$top=1&$skip=1', 'size=1&page=2', ['Red plate']],
    ['skip=1&take=1', 'size=1&page=2', ['Red plate']],
    ['start=1&rows=1', 'size=1&page=2', ['Red plate']],
    ['size=1&offset=1', 'size=1&page=2', ['Red plate']],
    ['offset=1', 'size=1&page=2', ['Red plate']],
    ['limit=10&offset=15', 'size=5&page=4', []],
    ['limit=5000&offset=1', 'size=1&page=2', ['Red plate']],
    ['select=name,price', 'fields=name,price', ['Blue cup', 'Red plate']],
    ['like=%25cup%25', 'q=cup', ['Blue cup']],
    ['search=a%20%26', 'q=a%20%26', []],
    ['_q=plate', 'q=plate', ['Red plate']],
    ['name=Blue%20cup', 'filter={"where":{"name":{"eq":"Blue cup"}}}', ['Blue cup']],
    ['Name=Blue%20cup', 'filter={"where":{"name":{"eq":"Blue cup"}}}', ['Blue cup']],
    ['name=', 'filter={"where":{"name":{"eq":""}}}', []],
    ['stock=3', 'filter={"where":{"stock":{"eq":3}}}', ['Blue cup']],
    ['sold=false', 'filter={"where":{"sold":{"eq":false}}}', ['Red plate']],
    ['text=x', 'filter={"where":{"text":{"eq":"x"}}}', []],
    ['price=gt.5', 'filter={"where":{"price":{"gt":5}}}', ['Blue cup']],
    ['price=gte.5&price=lt.6', 'filter={"where":{"price":{"gte":5,"lt":6}}}', ['Red plate']],
    ['price=neq.5', 'filter={"where":{"price":{"ne":5}}}', ['Blue cup']],
    ['price=not.eq.5', 'filter={"where":{"price":{"ne":5}}}', ['Blue cup']],
    ['price=not.gt.5', 'filter={"where":{"price":{"lte":5}}}', ['Red plate']],
    ['name=not.like.*cup*', 'filter={"where":{"name":{}}}', ['Blue cup', 'Red plate']],
    [`name=${'x'.repeat(600)}`, 'filter=%7B%22where%22%3A%7B%22price', ['Blue cup']],
    ['price[gt]=5', 'filter={"where":{"price":{"gt":5}}}', ['Blue cup']],
    ['price__gte=5', 'filter={"where":{"price":{"gte":5}}}', ['Blue cup', 'Red plate']],
    ['price_lte=5', 'filter={"where":{"price":{"lte":5}}}', ['Red plate']],
    ['unit_price=5', 'filter={"where":{"unit_price":{"eq":5}}}', []],
    ['name=like.*cup*', 'filter={"where":{"name":{"contains":"cup"}}}', ['Blue cup']],
    ['name=ilike.blue*', 'filter={"where":{"name":{"startsWith":"blue"}}}', ['Blue cup']],
    ['name_like=%25plate', 'filter={"where":{"name":{"endsWith":"plate"}}}', ['Red plate']],
    ['price=in.(5,6)', 'filter={"where":{"price":{"in":[5,6]}}}', ['Red plate']],
    ['price=not.in.(5,6)', 'filter={"where":{"price":{"notIn":[5,6]}}}', ['Blue cup']],
    ['stock=is.null', 'filter={"where":{"stock":{"isNull":true}}}', ['Red plate']],
    ['stock=is.not_null', 'filter={"where":{"stock":{"isNull":false}}}', ['Blue cup']],
    ['sold=is.true', 'filter={"where":{"sold":{"eq":true}}}', ['Blue cup']],
    ['price=is.false', 'filter={"where":{"price":{"eq":0}}}', []],
    ['name=fts.cup', 'filter={"where":{"name":{"contains":"cup"}}}', ['Blue cup']],
    ['name=wfts(english).plate', 'filter={"where":{"name":{"contains":"plate"}}}', ['Red plate']],
    ['stock=not.is.null', 'filter={"where":{"stock":{"isNull":false}}}', ['Blue cup']],
    ['stock_null=false', 'filter={"where":{"stock":{"isNull":false}}}', ['Blue cup']],
    [
      'limit=5&name=like.*cup&price=gt.5',
      'size=5&filter={"where":{"name":{"endsWith":"cup"},"price":{"gt":5}}}',
      ['Blue cup']
    ]
  ] as const) {
    const refused = await token.get(`/data/cups?${sent}`)
    expectError(t, refused, 400, 'VALIDATION_FAILED')
    const hint = hintOf(refused)
    t.match(hint, suggested, sent)
    t.match(hint, 'The parameters of this route: page, size, order, q, filter, fields, expand, cursor, total.')
    const rows = dataOf(await token.get(`/data/cups?${suggestedQuery(hint)}`)).rows as { name: string }[]
    t.strictSame(
      rows.map(({ name }) => name),
      names,
      hint
    )
    t.equal(hintOf(await admin.get(`/admin/tables/${cups.id}/data?${sent}`)), hint, 'the same for an administrator')
  }
})

t.test('a parameter that no record can match gets the error of its value', async (t) => {
  const refused = await token.get('/data/cups?stock=few')
  t.match(hintOf(refused), 'Use filter={"where":{"stock":{"eq":"few"}}}')
  expectError(
    t,
    await token.get(`/data/cups?${suggestedQuery(hintOf(refused))}`),
    400,
    'VALIDATION_FAILED',
    '/filter/where/stock/eq'
  )
})

t.test('a value that does not fit a field is shown as it was sent', async (t) => {
  for (const field of ['price', 'stock', 'sold'])
    t.match(hintOf(await token.get(`/data/cups?${field}=cheap`)), `Use filter={"where":{"${field}":{"eq":"cheap"}}}`)
})

t.test('an offset that is no multiple of the limit gets a page of its first records', async (t) => {
  const hint = hintOf(await token.get('/data/cups?limit=10&offset=15'))
  t.match(hint, 'A page begins at a multiple of its size, so this one has the first 5 of 10 records.')
  t.notMatch(hintOf(await token.get('/data/cups?limit=5&offset=15')), 'A page begins')
})

t.test('an export has the hints of a list, and its own parameters', async (t) => {
  const refused = await token.get('/data/cups/export?sort=name')
  t.equal(
    hintOf(refused),
    'Use order=name. The parameters of this route: page, size, order, q, filter, fields, format, bom, escape.'
  )
  t.equal((await token.get(`/data/cups/export?${suggestedQuery(hintOf(refused))}`)).statusCode, 200)
})

t.test('a parameter of another route names the parameters of this one', async (t) => {
  const refused = await admin.delete('/admin/tables/1?force=true')
  expectError(t, refused, 400, 'VALIDATION_FAILED', '/force')
  t.match(hintOf(refused), /^The parameters of this route: confirm/)
})

t.test('a parameter with the name of a hidden field gets no filter', async (t) => {
  for (const sent of ['secrets=x', 'secrets_gt=x', 'secret=x', 'Secrets=x']) {
    const refused = await token.get(`/data/cups?${sent}`)
    expectError(t, refused, 400, 'VALIDATION_FAILED')
    t.match(hintOf(refused), /^The parameters of this route: page, size/)
  }
  const shown = await admin.get(`/admin/tables/${cups.id}/data?secrets=x`)
  t.match(hintOf(shown), 'Use filter={"where":{"secrets":{"eq":"x"}}}', 'an administrator sees the field')
})

t.test('a token without a right gets no hint about the table', async (t) => {
  const stranger = await asToken(app, admin, { tables: ['cats'], actions: ['read'] })
  for (const table of ['cups', 'nothing']) {
    const refused = await stranger.get(`/data/${table}?name=x`)
    expectError(t, refused, 403, 'ACTION_NOT_ALLOWED')
    t.notMatch(refused.body, 'where')
  }
})

const CURSOR_NOTE = 'Send `cursor` empty for the first page, then `next` of the previous response.'

t.test('a body with a name of another service gets the body that works', async (t) => {
  for (const [path, sent, suggested] of [
    ['query', { limit: 1 }, '"size": 1'],
    ['query', { limit: '1', offset: 5 }, '"size": 1, "cursor": ""'],
    ['query', { page: 2 }, '"cursor": ""'],
    ['query', { sort: '-price' }, '"order": "-price"'],
    ['query', { sort: ['-price', 'name'] }, '"order": "-price,name"'],
    ['query', { orderBy: 'price', sort: 'desc' }, '"order": "-price"'],
    ['query', { select: 'name, price' }, '"fields": ["name","price"]'],
    ['query', { select: ['name'] }, '"fields": ["name"]'],
    ['query', { search: 'cup' }, '"q": "cup"'],
    ['query', { where: { price: 5 } }, '"filter": {"where":{"price":{"eq":5}}}'],
    ['query', { where: { price: { $gt: 5 } } }, '"filter": {"where":{"price":{"gt":5}}}'],
    ['query', { where: { name: null, price: [5] } }, '"filter": {"where":{"name":{"isNull":true},"price":{"in":[5]}}}'],
    ['aggregate', { limit: 5, compute: { n: { count: true } } }, '"size": 5'],
    ['aggregate', { aggregate: { sum: 'price' } }, '"compute": {"sum":{"sum":"price"}}'],
    ['aggregate', { aggregates: { count: '*' } }, '"compute": {"count":{"count":true}}'],
    ['aggregate', { aggregate: { n: { count: true } } }, '"compute": {"n":{"count":true}}'],
    ['query', { select: 'name,customers(city)' }, '"fields": ["name"]'],
    ['query', { offset: 2 }, '"cursor": ""'],
    ['aggregate', { group_by: 'name', compute: { n: { count: true } } }, '"groupBy": ["name"]']
  ] as const) {
    const refused = await token.post(`/data/cups/${path}`, sent)
    expectError(t, refused, 400, 'VALIDATION_FAILED')
    const note = suggested.includes('cursor') ? ` ${CURSOR_NOTE}` : ''
    t.equal(hintOf(refused), `Use ${suggested}.${note}`)
    const kept = 'compute' in sent ? { compute: sent.compute } : {}
    const accepted = await token.post(`/data/cups/${path}`, { ...kept, ...JSON.parse(`{${suggested}}`) })
    t.equal(accepted.statusCode, 200, accepted.body)
  }
})

t.test('a name of another service with a value that cannot be converted gets an example', async (t) => {
  for (const [sent, hint] of [
    [{ select: '*' }, 'For example: "fields": ["name","price"].'],
    [{ limit: -1 }, 'For example: "size": 50.'],
    [{ include: 'suppliers' }, 'For example: "expand": ["supplier_id"].'],
    [{ select: 5 }, 'For example: "fields": ["name","price"].'],
    [{ search: 5 }, 'For example: "q": "cup".'],
    [{ where: { price: { near: 5 } } }, undefined],
    [{ where: 'price > 5' }, undefined]
  ] as const) {
    t.equal(hintOf(await token.post('/data/cups/query', sent)), hint)
  }
})

t.test('a member of an operation with the name of another service gets the member that works', async (t) => {
  const operation = { op: 'update', table: 'cups', values: { stock: 3 } }
  const refused = await token.post('/data/_batch', { operations: [{ ...operation, id: 1 }] })
  expectError(t, refused, 400, 'VALIDATION_FAILED', '/operations/0/id')
  t.equal(hintOf(refused), 'Use "pk": 1.')
  t.equal((await token.post('/data/_batch', { operations: [{ ...operation, pk: 1 }] })).statusCode, 200)
})

t.test('a large integer stays exact in a hint', async (t) => {
  const secret = dataOf(
    await admin.post('/admin/tokens', {
      name: 'exact',
      permissions: { tables: ['cups'], actions: ['read'] },
      integers: 'number'
    })
  ).token
  const exact = client(app, { ...bearer(secret), 'content-type': 'application/json' })
  const refused = await exact.post('/data/cups/query', '{"where":{"stock":9007199254740993}}')
  t.equal(hintOf(refused), 'Use "filter": {"where":{"stock":{"eq":"9007199254740993"}}}.')
  const accepted = await exact.post('/data/cups/query', '{"filter": {"where":{"stock":{"eq":"9007199254740993"}}}}')
  t.equal(accepted.statusCode, 200, accepted.body)
})

t.test('an operator of another service gets the operator that works', async (t) => {
  for (const [field, condition, suggested] of [
    ['name', { like: '%cup%' }, { contains: 'cup' }],
    ['name', { ilike: 'Blue%' }, { startsWith: 'Blue' }],
    ['name', { like: '%plate' }, { endsWith: 'plate' }],
    ['price', { neq: 5 }, { ne: 5 }],
    ['price', { '=': 5 }, { eq: 5 }],
    ['price', { '!=': null }, { isNull: false }],
    ['price', { $gte: 5 }, { gte: 5 }],
    ['price', { not_in: [5] }, { notIn: [5] }],
    ['price', { nin: 5 }, { notIn: [5] }],
    ['price', 5, { eq: 5 }],
    ['price', [5, 6], { in: [5, 6] }],
    ['price', null, { isNull: true }]
  ] as const) {
    const refused = await token.post('/data/cups/query', { filter: { where: { [field]: condition } } })
    expectError(t, refused, 400, 'VALIDATION_FAILED')
    t.match(hintOf(refused), `Use ${JSON.stringify(suggested)}.`)
    const accepted = await token.post('/data/cups/query', { filter: { where: { [field]: suggested } } })
    t.equal(accepted.statusCode, 200, accepted.body)
  }
  t.equal(
    hintOf(await token.post('/data/cups/query', { filter: { where: { name: 'x'.repeat(600) } } })),
    'A condition has an operator.',
    'a long value is not repeated'
  )
  const misspelled = await token.post('/data/cups/query', { filter: { where: { price: { gtt: 5 } } } })
  t.equal(hintOf(misspelled), "Did you mean 'gt'?")
})

t.test('a field outside `where` gets the filter that works', async (t) => {
  const refused = await token.post('/data/cups/query', { filter: { price: { '>': 5 } } })
  t.equal(hintOf(refused), 'Use {"where":{"price":{"gt":5}}}.')
  t.equal((await token.post('/data/cups/query', { filter: { where: { price: { gt: 5 } } } })).statusCode, 200)
  const hidden = await token.post('/data/cups/query', { filter: { secrets: 5 } })
  t.equal(
    hintOf(hidden),
    'Conditions on fields belong in `where`, for example { "where": { "price": { "eq": 5 } } }. `all`, `any` and `none` are lists of filters.'
  )
})

t.test('a part of a filter of another service gets the part that works', async (t) => {
  const cheap = { where: { price: { lt: 6 } } }
  for (const [sent, suggested] of [
    [{ and: [cheap] }, { all: [cheap] }],
    [{ $and: [{ price: { $lt: 6 } }] }, { all: [cheap] }],
    [{ _and: [cheap, { name: null }] }, { all: [cheap, { where: { name: { isNull: true } } }] }],
    [{ or: [cheap] }, { any: [cheap] }],
    [{ OR: [cheap] }, { any: [cheap] }],
    [{ _or: [cheap] }, { any: [cheap] }],
    [{ $or: [{ all: [{ not: cheap }] }] }, { any: [{ all: [{ none: [cheap] }] }] }],
    [{ '||': [cheap] }, { any: [cheap] }],
    [{ or: [{ ...cheap, any: [cheap] }] }, { any: [{ all: [cheap, { any: [cheap] }] }] }],
    [{ or: [{ price: 5, not: cheap }] }, { any: [{ all: [{ where: { price: { eq: 5 } } }, { none: [cheap] }] }] }],
    [{ not: cheap }, { none: [cheap] }],
    [{ _not: cheap }, { none: [cheap] }],
    [{ $not: cheap }, { none: [cheap] }],
    [{ nor: [cheap] }, { none: [cheap] }]
  ]) {
    const refused = await token.post('/data/cups/query', { filter: sent })
    expectError(t, refused, 400, 'VALIDATION_FAILED')
    t.equal(hintOf(refused), `Use ${JSON.stringify(suggested)}.`)
    const accepted = await token.post('/data/cups/query', { filter: suggested })
    t.equal(accepted.statusCode, 200, accepted.body)
  }
  for (const sent of [{ or: 5 }, { or: [{ price: { near: 5 } }] }, { or: [{ not: 5, price: 5 }] }])
    t.equal(hintOf(await token.post('/data/cups/query', { filter: sent })), "Use 'any', with a list of filters.")
  const condition = await token.post('/data/cups/query', { filter: { where: { price: { not: { gt: 5 } } } } })
  t.notMatch(hintOf(condition), 'Use', 'an operator with an object has no equal')
})

t.test('a path without a route gets the path that works', async (t) => {
  const send = (who: Client, method: 'GET' | 'PUT' | 'PATCH' | 'DELETE' | 'POST', url: string, payload?: object) =>
    app.inject({ method, url, headers: who.headers, ...(payload && { payload }) })
  for (const [who, method, url, suggested] of [
    [token, 'GET', '/data/cups/1', 'GET /data/cups/records/1'],
    [token, 'PUT', '/data/cups/1', 'PUT /data/cups/records/1'],
    [token, 'PATCH', '/data/cups/1', 'PATCH /data/cups/records/1'],
    [token, 'POST', '/data/cups', 'POST /data/cups/records'],
    [token, 'GET', '/data/cups/records', 'GET /data/cups'],
    [admin, 'GET', `/admin/tables/${cups.id}/records`, `GET /admin/tables/${cups.id}/data`],
    [admin, 'GET', `/admin/tables/${cups.id}/records/1`, `GET /admin/tables/${cups.id}/data/1`],
    [admin, 'POST', `/admin/tables/${cups.id}`, `POST /admin/tables/${cups.id}/data`],
    [token, 'DELETE', '/data/cups/2', 'DELETE /data/cups/records/2']
  ] as const) {
    const refused = await send(who, method, url)
    t.match(refused.json().error, { code: /^(?:ROUTE_NOT_FOUND|METHOD_NOT_ALLOWED)$/, hint: `Use ${suggested}.` })
    const [other, path] = suggested.split(' ') as ['GET', string]
    const accepted = await send(
      who,
      other,
      path,
      ['PUT', 'PATCH', 'POST'].includes(other) ? { name: 'Cup' } : undefined
    )
    t.equal(accepted.statusCode, 200, accepted.body)
  }
})

t.test('a path for the number of records gets a list with a total', async (t) => {
  const refused = await token.get('/data/cups/count')
  t.equal(hintOf(refused), 'Use GET /data/cups?size=1. `total` is the number of records.')
  t.type(dataOf(await token.get('/data/cups?size=1')).total, 'number')
})

t.test('the hint of a path is the same for every table, and for every caller', async (t) => {
  const anonymous = client(app)
  for (const table of ['cups', 'nothing'])
    for (const who of [token, anonymous, admin]) {
      const refused = await who.get(`/data/${table}/1`)
      expectError(t, refused, 404, 'ROUTE_NOT_FOUND')
      t.equal(hintOf(refused), `Use GET /data/${table}/records/1.`)
    }
  t.match(hintOf(await token.get('/data/_schema/x')), 'GET /openapi.json')
  t.equal(hintOf(await token.delete('/data/cups/query')), undefined)
})

t.test('a relation of another service gets the field that refers to its records', async (t) => {
  await createTable(admin, { name: 'customers', fields: [{ name: 'city', jsonType: 'string' }] })
  await createTable(admin, { name: 'categories', fields: [{ name: 'title', jsonType: 'string' }] })
  await createTable(admin, {
    name: 'orders',
    fields: [
      { name: 'note', jsonType: 'string' },
      { name: 'buyer_id', jsonType: 'integer', references: { table: 'customers', field: 'id' } },
      { name: 'category', jsonType: 'integer', references: { table: 'categories', field: 'id' } }
    ]
  })
  const all = 'The fields with references: buyer_id, category.'
  for (const [sent, suggested, note] of [
    ['select=note,customers(city)', 'fields=note&expand=buyer_id(city)'],
    ['select=*,customers(*)', 'expand=buyer_id'],
    ['select=note,owner:customers!inner(city)', 'fields=note&expand=buyer_id(city)'],
    ['include=customer', 'expand=buyer_id'],
    ['include=Buyer,Category', 'expand=buyer_id,category'],
    ['embed=customers', 'expand=buyer_id'],
    ['include=suppliers,customers', 'expand=buyer_id', all]
  ] as const) {
    const refused = await token.get(`/data/orders?${sent}`)
    expectError(t, refused, 400, 'VALIDATION_FAILED')
    t.match(hintOf(refused), `Use ${suggested}. ${note ?? 'The parameters'}`)
    t.equal((await token.get(`/data/orders?${suggested}`)).statusCode, 200, suggested)
  }
  t.match(hintOf(await token.get('/data/orders?include=suppliers')), all)
  t.match(hintOf(await token.get('/data/orders/export?include=customers')), /^The parameters of this route/)
  for (const [sent, hint] of [
    ['customers', `Did you mean 'buyer_id'? ${all}`],
    ['Customers(city)', `Did you mean 'buyer_id(city)'? ${all}`],
    ['note', all],
    ['', all]
  ])
    t.equal(hintOf(await token.post('/data/orders/query', { expand: [sent] })), hint)
  const stranger = await asToken(app, admin, { tables: ['orders'], actions: ['read'] })
  t.equal(
    hintOf(await stranger.post('/data/orders/query', { expand: ['customers'] })),
    'No field of this table refers to a record that you can read.'
  )
})

t.test('an addition in the form of another service gets the increment', async (t) => {
  await createTable(admin, {
    name: 'counters',
    fields: [
      { name: 'n', jsonType: 'integer', defaultValue: 5 },
      { name: 'name', jsonType: 'string' }
    ]
  })
  dataOf(await token.post('/data/counters/records', {}))
  for (const [sent, increment, stored] of [
    [{ 'n+': 2 }, '{"field":"n","count":2}', 7],
    [{ 'n-': 3 }, '{"field":"n","count":-3}', 4],
    [{ 'n+': 'x' }, '{"field":"n","count":1}', 5]
  ] as const) {
    const refused = await token.patch('/data/counters/records/1', sent)
    expectError(t, refused, 400, 'VALIDATION_FAILED')
    const hint = `To add to a number, use POST /data/counters/records/1/incr with ${increment}, or \`incr\` in a batch.`
    t.equal(hintOf(refused), hint)
    dataOf(await token.post('/data/counters/records/1/incr', JSON.parse(increment)))
    t.equal(dataOf(await token.get('/data/counters/records/1')).n, stored)
  }
  t.equal(hintOf(await token.patch('/data/counters/records/1', { 'name+': 'x' })), "Did you mean 'name'?")
  const refused = await token.post('/data/_batch', {
    operations: [
      { op: 'update', table: 'counters', filter: { where: { n: { eq: 5 } } }, maxAffected: 1, values: { 'n+': 1 } }
    ]
  })
  t.match(hintOf(refused), 'POST /data/counters/records/%3Apk/incr with {"field":"n","count":1}')
})

t.test('an integer of more than 64 bits is refused with its limit', async (t) => {
  const refused = await token.post('/data/cups/records', { stock: String(2n ** 63n) })
  expectError(t, refused, 400, 'VALIDATION_FAILED', '/stock')
  t.equal(refused.json().error.message, "'stock' must be an integer of at most 64 bits.")
  t.equal((await token.post('/data/cups/records', { stock: String(2n ** 63n - 1n) })).statusCode, 200)
})

t.test('the error for a token with integers as text names text', async (t) => {
  const { token: secret } = dataOf(
    await admin.post('/admin/tokens', {
      name: 'text',
      permissions: { tables: ['cups'], actions: ['write'] },
      integers: 'string'
    })
  )
  const textual = client(app, bearer(secret))
  const refused = await textual.post('/data/cups/records', { stock: '5x' })
  t.equal(refused.json().error.message, '\'stock\' must be an integer, such as "42".')
  t.equal((await textual.post('/data/cups/records', { stock: '42' })).statusCode, 200)
})

t.test('a wrong key of an operation has the path of the key', async (t) => {
  for (const operation of [
    { op: 'update', values: { name: 'Tom' } },
    { op: 'delete' },
    { op: 'incr', field: 'lives' }
  ]) {
    const refused = await token.post('/data/_batch', { operations: [{ ...operation, table: 'cats', pk: null }] })
    expectError(t, refused, 400, 'VALIDATION_FAILED')
    t.match(refused.json().error.details, [{ path: '/operations/0' }, { path: '/operations/0/pk' }])
  }
})

t.test('the values of a key of several fields are reported together', async (t) => {
  const refused = await token.post('/data/seats/records', { hall: 'a', row: 1 })
  expectError(t, refused, 409, 'UNIQUE_VIOLATION')
  const message = "'hall', 'row' together have the values of a stored record."
  t.strictSame(refused.json().error.details, [
    { path: '/hall', code: 'unique', message },
    { path: '/row', code: 'unique', message }
  ])
  t.equal((await token.post('/data/seats/records', { hall: 'a', row: 2 })).statusCode, 200)
})

t.test('a misspelled table gets a similar name of those that the token can use', async (t) => {
  const me = 'GET /data/_me lists the tables that this token can use.'
  t.equal(hintOf(await token.get('/data/cupps')), `Did you mean 'cups'? ${me}`)
  t.equal(hintOf(await token.get('/data/birds')), me)
  const operations = [{ op: 'delete', table: 'cupps', pk: 999 }]
  t.equal(hintOf(await token.post('/data/_batch', { operations })), `Did you mean 'cups'? ${me}`)
  t.equal(hintOf(await admin.post('/admin/batch', { operations })), "Did you mean 'cups'?")
  const { id } = await createTable(admin, { name: 'unpublished', fields: [{ name: 'a', jsonType: 'string' }] })
  dataOf(await admin.put(`/admin/tables/${id}`, { isPublished: false }))
  for (const name of ['unpublished', 'unpublishd']) t.equal(hintOf(await token.get(`/data/${name}`)), me)
})

t.test('permissions for a table that is not registered are issued with a similar name', async (t) => {
  const warningsFor = async (...tables: string[]) =>
    dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions: { tables, actions: ['read'] } })).warnings
  const start = "There is no table 'cupps' now. The token can use it as soon as it is registered."
  t.strictSame(await warningsFor('cupps'), [`${start} Did you mean 'cups'?`])
  t.equal(await warningsFor('cups'), undefined)
})

t.test('an array instead of a record or a batch gets the form that works', async (t) => {
  const records = await token.post('/data/cups/records', [{ name: 'Cup' }])
  expectError(t, records, 400, 'VALIDATION_FAILED')
  t.equal(hintOf(records), 'An import takes a list of records: POST …/import. A batch takes {"operations": […]}.')
  const operations = [{ op: 'create', table: 'cups', values: { name: 'Cup' } }]
  t.equal(hintOf(await token.post('/data/_batch', operations)), 'Send {"operations": […]}.')
  t.equal((await token.post('/data/_batch', { operations })).statusCode, 200)
  t.equal(hintOf(await token.post('/data/cups/query', { filter: 5 })), undefined)
})

t.test('a query may begin with a cursor that is null', async (t) => {
  const { rows, next } = dataOf(await token.post('/data/cups/query', { cursor: null, size: 1 }))
  t.equal(rows.length, 1)
  t.type(next, 'string')
})

t.test('a parameter for a part of one record names the query', async (t) => {
  for (const [who, path, query] of [
    [token, '/data/cups/records/1', '/data/cups/query'],
    [admin, `/admin/tables/${cups.id}/data/1`, `/admin/tables/${cups.id}/query`]
  ] as const) {
    for (const sent of ['fields=name', 'expand=x', 'select=name']) {
      const refused = await who.get(`${path}?${sent}`)
      expectError(t, refused, 400, 'VALIDATION_FAILED')
      t.match(hintOf(refused), `A query chooses and expands fields: POST ${query} with {"filter"`)
    }
    t.equal(hintOf(await who.get(`${path}?x=1`)), undefined)
    const body = { filter: { where: { id: { eq: 1 } } }, fields: ['name'] }
    t.strictSame(Object.keys(dataOf(await who.post(query, body)).rows[0]), ['id', 'name'])
  }
})

t.test('empty `fields` are those of the key', async (t) => {
  t.strictSame(dataOf(await token.get('/data/cups?fields=&size=1')).rows, [{ id: 1 }])
})

t.test('an update of a record that does not exist names the upsert', async (t) => {
  const refused = await token.put('/data/cups/records/999', { name: 'Cup' })
  expectError(t, refused, 404, 'RECORD_NOT_FOUND')
  t.equal(hintOf(refused), 'To create the record if there is none, send its key, too: POST with `upsert`.')
  t.equal(hintOf(await token.delete('/data/cups/records/999')), undefined)
  const upserted = await token.post('/data/cups/records?upsert=id', { id: 999, name: 'Cup' })
  t.equal(upserted.json().data.created, true)
})

t.test('permissions in another form get the form that works', async (t) => {
  const url = '/admin/tokens'
  const list = await admin.post(url, { name: 'Till', permissions: ['read'] })
  t.equal(hintOf(list), 'For example: {"tables": ["products"], "actions": ["read"]}.')
  const scopes = [
    [{ tables: ['cups'], actions: ['read'] }, '"permissions": {"tables":["cups"],"actions":["read"]}'],
    [{ tables: 'cups' }, '"permissions": {"tables":["cups"],"actions":["read"]}'],
    [{ actions: ['read'] }, '"permissions": {"tables":["*"],"actions":["read"]}']
  ] as const
  for (const [sent, suggested] of scopes) {
    t.equal(hintOf(await admin.post(url, { name: 'Till', ...sent })), `Use ${suggested}.`)
    t.equal((await admin.post(url, { name: 'Till', ...JSON.parse(`{${suggested}}`) })).statusCode, 200)
  }
})

t.test('a time that is text gets its epoch milliseconds', async (t) => {
  const issue = (expiresAt: unknown) =>
    admin.post('/admin/tokens', { name: 'Till', permissions: { tables: ['cups'], actions: ['read'] }, expiresAt })
  const time = Date.parse('2100-01-01')
  t.equal(hintOf(await issue('2100-01-01')), `Send epoch milliseconds: ${time}.`)
  t.equal((await issue(time)).statusCode, 200)
  for (const sent of ['soon', true]) t.equal(hintOf(await issue(sent)), 'Send epoch milliseconds.')
})

t.test('a new table in the form of another service gets the names that work', async (t) => {
  const create = (body: object) => admin.post('/admin/tables', { name: 'plates', label: '', ...body })
  const field = { name: 'a', jsonType: 'integer' }
  t.equal(hintOf(await create({ columns: [field] })), 'Use "fields": [{"name":"a","jsonType":"integer"}].')
  for (const [sent, hint] of [
    [{ name: 'a', type: 'int' }, 'Use "jsonType": "integer".'],
    [{ name: 'a', type: 5 }, 'For example: "jsonType": "number".'],
    [{ name: 'a', jsonType: 'text' }, "Did you mean 'string'?"],
    [{ name: 'a', jsonType: 'strng' }, "Did you mean 'string'?"],
    [{ ...field, default: 5 }, 'Use "defaultValue": 5.'],
    [{ ...field, primaryKey: true }, 'Use "isPrimary": true.'],
    [{ ...field, pk: true }, 'Use "isPrimary": true.']
  ] as const)
    t.equal(hintOf(await create({ fields: [sent] })), hint)
  t.equal((await create({ fields: [{ ...field, isPrimary: true }] })).statusCode, 200)
})

t.test('the number to add, and the names of operations, of other services get those that work', async (t) => {
  for (const name of ['by', 'value', 'amount']) {
    const refused = await token.post('/data/cups/records/1/incr', { field: 'stock', [name]: 2 })
    t.equal(hintOf(refused), 'Use "count": 2.')
  }
  t.equal((await token.post('/data/cups/records/1/incr', { field: 'stock', count: 2 })).statusCode, 200)
  t.equal(hintOf(await token.post('/data/cups/records/1/incr', { field: 'stock', by: null })), undefined)
  for (const [sent, op] of [
    ['insert', 'create'],
    ['remove', 'delete'],
    ['increment', 'incr'],
    ['updte', 'update']
  ]) {
    const refused = await token.post('/data/_batch', { operations: [{ op: sent, table: 'cups' }] })
    expectError(t, refused, 400, 'VALIDATION_FAILED', '/operations/0/op')
    t.equal(hintOf(refused), `Did you mean '${op}'?`)
  }
})
