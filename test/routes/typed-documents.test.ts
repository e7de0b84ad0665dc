import t from 'tap'
import {
  asAdmin,
  asToken,
  createDatabase,
  createTable,
  dataOf,
  expectError,
  importTable,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { openServed } from '../served.ts'

const externalFile = createDatabase(
  t,
  `CREATE TABLE "order items" (order_id INTEGER, sku TEXT, quantity INTEGER NOT NULL, PRIMARY KEY (order_id, sku)) STRICT;
   CREATE TABLE parts (a INTEGER, bytes TEXT, PRIMARY KEY (a, bytes));
   CREATE TABLE events (
     id INTEGER PRIMARY KEY,
     day DATE NOT NULL CHECK (day IS date(day) AND day >= '1900-01-01'),
     ends TEXT CHECK (ends IS strftime('%Y-%m-%dT%H:%M:%SZ', ends) AND ends >= '1900-01-01'),
     free DATE
   );
   INSERT INTO events VALUES (1, '2026-01-31', '2026-01-31T09:30:00Z', 5);
   CREATE TABLE loose (id INTEGER PRIMARY KEY, n INTEGER, day DATE);
   INSERT INTO loose VALUES (1, 'text', '2026-01-01');`
)

const app = await startApp(t, { env: { DATABASE: externalFile } })
const admin = await asAdmin(app)
const products = await createTable(admin, {
  name: 'products',
  label: 'Products',
  fields: [
    { name: 'title', jsonType: 'string', nullable: false },
    { name: 'price', jsonType: 'number' },
    { name: 'cost', jsonType: 'number' },
    { name: 'stock', jsonType: 'integer', nullable: false, defaultValue: 0 }
  ]
})
await importTable(admin, 'order items')
const loose = await importTable(admin, 'loose')
const parts = await importTable(admin, 'parts')

const URL = '/data/_openapi.json'
const token = await asToken(app, admin)
const documentOf = async (client = token, query = '') => (await client.get(URL + query)).json()
const operationsOf = (document: { paths: Record<string, object> }) =>
  Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((key) => key !== 'parameters')
      .map((method) => `${method} ${path}`)
  )

t.test('a token reads the operations and the types of its tables', async (t) => {
  const document = await documentOf()
  const { schemas } = document.components
  t.strictSame(
    operationsOf(document).filter((operation) => operation.includes('products')),
    [
      'get /data/products',
      'post /data/products/query',
      'post /data/products/records',
      'get /data/products/records/{id}',
      'put /data/products/records/{id}',
      'delete /data/products/records/{id}',
      'post /data/products/records/{id}/incr',
      'post /data/products/aggregate',
      'get /data/products/export',
      'post /data/products/import',
      'get /data/products/schema'
    ]
  )
  const properties: Record<string, { type?: unknown }> = schemas.Products.properties
  const types = Object.entries(properties).map(([name, { type }]) => [name, type])
  t.strictSame(types, [
    ['id', 'integer'],
    ['title', 'string'],
    ['price', ['number', 'null']],
    ['cost', ['number', 'null']],
    ['stock', 'integer']
  ])
  t.strictSame(schemas.Products.required, ['id', 'title', 'price', 'cost', 'stock'])
  t.strictSame(schemas.ProductsCreate.required, ['title'])
  t.equal(schemas.ProductsCreate.properties.id.type, 'integer', 'a generated key is never null')
  t.strictSame(Object.keys(schemas.ProductsUpdate.properties), ['title', 'price', 'cost', 'stock'])
  t.strictSame(schemas.ProductsAddition.properties.field.enum, ['price', 'cost', 'stock'])
  t.strictSame(schemas.ProductsAddition.required, ['field'])
})

t.test('a change takes If-Match if the token can read, and a read returns the tag to send', async (t) => {
  const path = '/data/products/records/{id}'
  const writer = await asToken(app, admin, { tables: ['products'], actions: ['update', 'delete'] })
  const { paths, components } = await documentOf()
  const without = (await documentOf(writer)).paths
  t.match(components.parameters.ifMatch, { in: 'header', name: 'If-Match', required: false })
  t.strictSame(Object.keys(paths[path].get.responses[200].headers), ['ETag'])
  t.notOk('parameters' in paths[path].get)
  const reference = { $ref: '#/components/parameters/ifMatch' }
  const { put, delete: remove } = paths[path]
  for (const operation of [put, remove, paths[`${path}/incr`].post])
    t.has(operation.parameters, [{ $ref: '#/components/parameters/return' }, reference])
  for (const operation of [without[path].put, without[path].delete]) t.notOk('parameters' in operation)
})

t.test('a create has the path of the record, and each change has the tag if the token can read', async (t) => {
  const path = '/data/products/records/{id}'
  const writer = await asToken(app, admin, { tables: ['products'], actions: ['write'] })
  const { paths } = await documentOf()
  const without = (await documentOf(writer)).paths
  const headersOf = (operation: { responses: Record<number, { headers?: object }> }) =>
    Object.keys(operation.responses[200]?.headers ?? {}).sort()
  t.strictSame(headersOf(paths['/data/products/records'].post), ['ETag', 'Location'])
  t.strictSame(headersOf(without['/data/products/records'].post), ['Location'])
  for (const [url, method] of [
    [path, 'put'],
    [`${path}/incr`, 'post']
  ] as const) {
    t.strictSame(headersOf(paths[url][method]), ['ETag'], url)
    t.strictSame(headersOf(without[url][method]), [], url)
  }
  t.strictSame(headersOf(paths[path].delete), [])
})

t.test('every tag of an operation is described', async (t) => {
  const { tags, paths } = await documentOf()
  const operations = Object.values<Record<string, { tags?: string[] }>>(paths).flatMap((path) => Object.values(path))
  const used = new Set(operations.flatMap((operation) => operation.tags ?? []))
  t.strictSame(tags.map(({ name }: { name: string }) => name).sort(), [...used].sort())
})

t.test('a composite key is a path parameter for each part', async (t) => {
  const { paths } = await documentOf()
  const path = '/data/OrderItems/records/{order_id},{sku}'
  t.strictSame(
    paths[path].parameters.map(({ name, schema }: { name: string; schema: { type: string } }) => [name, schema.type]),
    [
      ['order_id', 'integer'],
      ['sku', 'string']
    ]
  )
})

t.test('an increment of one record has the parameters of its key', async (t) => {
  const { paths } = await documentOf()
  for (const path of ['/data/products/records/{id}', '/data/OrderItems/records/{order_id},{sku}'])
    t.strictSame(paths[`${path}/incr`].parameters, paths[path].parameters)
})

t.test('a key parameter has no name that Go clients use themselves', async (t) => {
  t.ok('/data/parts/records/{key1},{key2}' in (await documentOf()).paths)
})

t.test('a field without a label has a description only if there is more than its name', async (t) => {
  const unlabelled = (name: string) => admin.put(`/admin/tables/${loose.id}`, { fields: [{ name, label: '' }] })
  for (const name of ['id', 'n', 'day']) t.equal((await unlabelled(name)).statusCode, 200)
  const { Loose, LooseCreate } = (await documentOf()).components.schemas
  t.match(Loose.properties.n.description, /^SQLite does not enforce/)
  t.notOk('description' in LooseCreate.properties.n)
  t.notOk('description' in LooseCreate.properties.day)
})

t.test('a label, a note or a name of a token does not end a comment of a generated client', async (t) => {
  const texts = { label: 'Parts */', note: 'Of a machine */ or a tool.' }
  await admin.put(`/admin/tables/${parts.id}`, { ...texts, fields: [{ name: 'a', label: 'A */' }] })
  const permissions = { tables: ['*'], actions: ['read', 'write'] }
  const issued = dataOf(await admin.post('/admin/tokens', { name: 'Till */', permissions }))
  const { body } = await app.inject({ url: URL, headers: { authorization: `Bearer ${issued.token}` } })
  t.notOk(body.includes('*/'))
  t.match(body, 'Of a machine * / or a tool.')
})

t.test('a column that may hold any value has no type, and the value to store has one', async (t) => {
  const { schemas } = (await documentOf()).components
  t.notOk('type' in schemas.Loose.properties.n)
  t.match(schemas.Loose.properties.n.description, /does not enforce/)
  t.strictSame(schemas.LooseCreate.properties.n.type, ['integer', 'null'])
  t.notOk('type' in schemas.LooseCreate.properties.day)
})

t.test('a field has the format of a date only if a CHECK requires it of every value', async (t) => {
  await importTable(admin, 'events')
  const { schemas } = (await documentOf()).components
  const { day, ends, free } = schemas.Events.properties
  t.strictSame([day.type, day.format, day['x-sqlite-type']], ['string', 'date', 'DATE'])
  t.strictSame([ends.type, ends.format], [['string', 'null'], 'date-time'])
  t.notOk('type' in free || 'format' in free)
  for (const name of ['EventsCreate', 'EventsUpdate']) {
    const { properties } = schemas[name]
    t.strictSame([properties.day.type, properties.day.format], ['string', 'date'])
    t.strictSame([properties.ends.type, properties.ends.format], [['string', 'null'], undefined])
  }
  const url = '/data/events/records'
  t.equal((await token.post(url, { day: '2026-02-28' })).statusCode, 200)
  expectError(t, await token.post(url, { day: '2026-02-30' }), 400, 'CONSTRAINT_VIOLATION')
})

t.test('a condition follows from the type of its field, whatever is stored', async (t) => {
  const { schemas } = (await documentOf()).components
  const conditionsOf = (name: string) =>
    Object.entries<{ $ref: string }>(schemas[name].properties).map(([field, { $ref }]) => [
      field,
      $ref.split('/').at(-1)
    ])
  t.strictSame(conditionsOf('ProductsWhere'), [
    ['id', 'IntegerCondition'],
    ['title', 'TextCondition'],
    ['price', 'NumberCondition'],
    ['cost', 'NumberCondition'],
    ['stock', 'IntegerCondition']
  ])
  t.strictSame(conditionsOf('LooseWhere'), [
    ['id', 'IntegerCondition'],
    ['n', 'IntegerCondition'],
    ['day', 'MixedCondition']
  ])
  t.ok('contains' in schemas.MixedCondition.properties)
  t.notOk('contains' in schemas.IntegerCondition.properties)
})

t.test('the document has only what the token may use', async (t) => {
  const reader = await asToken(app, admin, { tables: ['products'], actions: ['read'] })
  const document = await documentOf(reader)
  t.strictSame(operationsOf(document), [
    'get /data/products',
    'post /data/products/query',
    'get /data/products/records/{id}',
    'post /data/products/aggregate',
    'get /data/products/export',
    'get /data/products/schema',
    'get /data/_me'
  ])
  t.notMatch(JSON.stringify(document), /loose|order items|ProductsCreate|ProductsAddition/)
  const creator = await asToken(app, admin, { tables: ['loose'], actions: ['create'] })
  const created = await documentOf(creator)
  t.strictSame(operationsOf(created), [
    'post /data/loose/records',
    'post /data/loose/import',
    'get /data/_me',
    'post /data/_batch'
  ])
  const parametersOf = (operation: { parameters: { $ref: string }[] }) =>
    operation.parameters.map(({ $ref }) => $ref.split('/').at(-1))
  t.strictSame(parametersOf(created.paths['/data/loose/import'].post), ['importAtomic', 'importDryRun'])
  const writer = (await documentOf()).paths['/data/loose/import'].post
  t.strictSame(parametersOf(writer), ['importAtomic', 'importDryRun', 'importMode', 'importOn'])
  const updater = await asToken(app, admin, { tables: ['loose'], actions: ['update', 'delete'] })
  const { components, paths } = await documentOf(updater)
  t.notOk('record' in components.schemas.LooseChange.properties, 'a token without `read` gets no record')
  t.notMatch(JSON.stringify(paths), /parameters\/return/)
})

t.test('every change is in the next document, and without a change the client has it already', async (t) => {
  const first = await token.get(URL)
  const again = () =>
    app.inject({ url: URL, headers: { ...token.headers, 'if-none-match': String(first.headers.etag) } })
  t.equal((await again()).statusCode, 304)
  await admin.put(`/admin/tables/${products.id}`, { fields: [{ name: 'cost', isHidden: true }] })
  const hidden = await again()
  t.equal(hidden.statusCode, 200)
  t.notMatch(hidden.body, /cost/)
  t.not(hidden.json().info.version, first.json().info.version)
  await admin.put(`/admin/tables/${products.id}`, { isEditable: false })
  t.notOk('ProductsCreate' in (await documentOf()).components.schemas)
  await admin.put(`/admin/tables/${products.id}`, { isEditable: true, isPublished: false })
  t.notMatch(JSON.stringify(await documentOf()), /products/i)
  await admin.put(`/admin/tables/${products.id}`, { isPublished: true, fields: [{ name: 'cost', isHidden: false }] })
  t.equal((await again()).statusCode, 304, 'the document is the first one again')
  await admin.post(`/admin/tables/${products.id}/fields`, { field: { name: 'colour', jsonType: 'string' } })
  t.match((await again()).body, 'colour')
})

t.test('the first request after a change of any kind gets another document', async (t) => {
  const permissions = { tables: ['fresh', 'stock'], actions: ['read', 'create'] }
  const issued = dataOf(await admin.post('/admin/tokens', { name: 'fresh', permissions }))
  const headers = { authorization: `Bearer ${issued.token}` }
  const read = async () => (await app.inject({ url: URL, headers })).body
  let last = await read()
  const expectChange = async (response: TestResponse, text: RegExp) => {
    t.equal(response.statusCode, 200, response.body)
    const body = await read()
    t.not(body, last)
    t.match(body, text)
    last = body
  }
  const fields = [{ name: 'n', jsonType: 'integer' }]
  await expectChange(await admin.post('/admin/tables', { name: 'fresh', label: '', fields }), /"Fresh"/)
  const [{ id }] = dataOf(await admin.get('/admin/tables')).filter(({ name }: { name: string }) => name === 'fresh')
  const change = (body: object) => admin.put(`/admin/tables/${id}`, body)
  await expectChange(await change({ label: 'Fresh things' }), /Fresh things/)
  await expectChange(await change({ note: 'Some note' }), /Some note/)
  await expectChange(await change({ clientName: 'Fruit' }), /"Fruit"/)
  await expectChange(await change({ fields: [{ name: 'n', label: 'Number' }] }), /Number\./)
  await expectChange(await change({ fields: [{ name: 'n', isReadonly: true }] }), /x-read-only/)
  const token = `/admin/tokens/${issued.id}`
  await expectChange(await admin.put(token, { name: 'Renamed' }), /Rowhouse: Renamed/)
  await expectChange(await admin.put(token, { integers: 'string' }), /pattern/)
  const more = { ...permissions, actions: ['read', 'create', 'delete'] }
  await expectChange(await admin.put(token, { permissions: more }), /deleteFruit/)
  const external = openServed(t, externalFile)
  external.exec('ALTER TABLE fresh ADD COLUMN later TEXT')
  external.exec('CREATE TABLE stock (id INTEGER PRIMARY KEY)')
  await expectChange(await admin.post(`/admin/tables/${id}/refresh`), /later/)
  await expectChange(await admin.post('/admin/tables/import', { name: 'stock' }), /"Stock"/)
  await expectChange(await admin.delete(`/admin/tables/${id}?confirm=true`), /^((?!fruit).)*$/is)
})

t.test('without a change, no request makes the document again', async (t) => {
  await documentOf()
  const stringify = t.capture(JSON, 'stringify', JSON.stringify)
  await token.get(URL)
  const documents = stringify().filter(({ args }) => 'openapi' in Object(args[0]))
  t.equal(documents.length, 0)
})

t.test('the format of integers is that of the token', async (t) => {
  const typeOf = async (integers: string) => {
    const permissions = { tables: ['products'], actions: ['read', 'write'] }
    const issued = dataOf(await admin.post('/admin/tokens', { name: 'client', permissions, integers }))
    const own = { authorization: `Bearer ${issued.token}` }
    const { components, paths } = (await app.inject({ url: URL, headers: own })).json()
    const { parameters } = paths['/data/products/records/{id}']
    const { id } = components.schemas.Products.properties
    return [id.type, components.schemas.ProductsCreate.properties.stock.type, parameters[0].schema.type]
  }
  t.strictSame(await typeOf('auto'), ['integer', 'integer', 'integer'])
  t.strictSame(await typeOf('number'), ['integer', 'integer', 'integer'])
  t.strictSame(await typeOf('string'), ['string', 'string', 'string'])
})

t.test('an administrator reads the document of all tables, or of some', async (t) => {
  const all = (await admin.get('/admin/openapi.json')).json()
  for (const operation of [`get /admin/tables/${loose.id}/data/{id}`, `post /admin/tables/${loose.id}/query`])
    t.ok(operationsOf(all).includes(operation), operation)
  t.ok('Products' in all.components.schemas)
  const some = (await admin.get('/admin/openapi.json?tables=loose&openapi=3.0')).json()
  t.equal(some.openapi, '3.0.3')
  t.notOk('Products' in some.components.schemas)
  t.equal(some.components.schemas.LooseCreate.properties.n.nullable, true)
  expectError(t, await admin.get('/admin/openapi.json?tables=loose,missing'), 404, 'TABLE_NOT_FOUND')
  expectError(t, await admin.get('/admin/openapi.json?tables='), 400, 'VALIDATION_FAILED', '/tables')
})

t.test('a document needs a credential', async (t) => {
  expectError(t, await app.inject({ url: URL }), 401, 'INVALID_TOKEN')
  expectError(t, await app.inject({ url: '/admin/openapi.json' }), 401, 'AUTHENTICATION_REQUIRED')
})
