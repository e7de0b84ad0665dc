import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import {
  asAdmin,
  asToken,
  createDatabase,
  createTable,
  dataOf,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'
import { openServed } from '../served.ts'

const externalFile = createDatabase(
  t,
  `CREATE TABLE notes (code TEXT PRIMARY KEY, body TEXT) STRICT;
   CREATE VIEW lengths AS SELECT length(body) AS size, body FROM notes;
   CREATE VIEW prices AS SELECT price FROM sales;
   CREATE TABLE sales (id INTEGER PRIMARY KEY, color TEXT NOT NULL, price REAL, sold_on TEXT) STRICT;
   INSERT INTO sales VALUES (1, 'red', 2.5, '2026-01-31'), (2, 'red', 1.5, '2026-02-01'), (3, 'blue', 4, NULL);`
)

const app = await startApp(t, { env: { DATABASE: externalFile } })
const admin = await asAdmin(app)
for (const name of ['notes', 'lengths', 'prices', 'sales']) await importTable(admin, name)
const token = await asToken(app, admin)

const documentOf = async (client = token) => (await client.get('/data/_openapi.json')).json()
const schemasOf = async () => (await documentOf()).components.schemas

t.test('an aggregate names the fields that each function takes', async (t) => {
  const { SalesAggregate, SalesAggregateFunction, SalesAggregatePeriod } = await schemasOf()
  const names = ['id', 'color', 'price', 'sold_on']
  t.strictSame(SalesAggregate.properties.groupBy.items.enum, names)
  t.strictSame(SalesAggregate.required, ['compute'])
  const { sum, avg, min, max, countDistinct } = SalesAggregateFunction.properties
  t.strictSame(
    [sum.enum, avg.enum],
    [
      ['id', 'price'],
      ['id', 'price']
    ]
  )
  t.strictSame([min.enum, max.enum, countDistinct.enum], [names, names, names])
  t.strictSame(SalesAggregatePeriod.properties.field.enum, ['id', 'color', 'sold_on'])
})

t.test('an aggregate that the document describes runs, and one with another field is refused', async (t) => {
  const body = (field: string) => ({
    filter: { where: { sold_on: { isNull: false } } },
    groupBy: ['color'],
    by: { field: 'sold_on', unit: 'month' },
    compute: { value: { sum: field } },
    having: { value: { gt: 2 } },
    order: '-value',
    size: 5
  })
  const url = '/data/sales/aggregate'
  t.strictSame(dataOf(await token.post(url, body('price'))).rows, [{ color: 'red', sold_on: '2026-01', value: 2.5 }])
  expectError(t, await token.post(url, body('color')), 400, 'VALIDATION_FAILED')
})

t.test('a function or a period that no field can have is left out', async (t) => {
  const schemas = await schemasOf()
  t.notOk('sum' in schemas.NotesAggregateFunction.properties)
  t.ok('by' in schemas.NotesAggregate.properties)
  t.strictSame(schemas.LengthsAggregateFunction.properties.sum.enum, ['size'], 'an expression may be a number')
  t.notOk('by' in schemas.PricesAggregate.properties)
  t.notOk('PricesAggregatePeriod' in schemas)
})

t.test('an import takes an array of new records, as the document says', async (t) => {
  const { paths } = await documentOf()
  t.strictSame(paths['/data/sales/import'].post.requestBody.content, {
    'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/SalesCreate' } } }
  })
  const url = '/data/sales/import?dryRun=true&atomic=true&mode=upsert'
  t.match(dataOf(await token.post(url, [{ id: 1, color: 'green' }])), { rows: 1, updated: 1 })
  expectError(t, await token.post(url, [{ id: 1, shade: 'green' }]), 400, 'IMPORT_FAILED')
})

t.test('an export takes the parameters of the document', async (t) => {
  const { paths, components } = await documentOf()
  const operation = paths['/data/sales/export'].get
  const names = operation.parameters.map(({ $ref }: { $ref: string }) => $ref.split('/').at(-1))
  t.strictSame(
    names.map((name: string) => components.parameters[name].name),
    ['order', 'q', 'filter', 'fields', 'format']
  )
  t.strictSame(Object.keys(operation.responses[200].content), ['text/csv', 'application/x-ndjson'])
  const filter = encodeURIComponent('{"where":{"color":{"eq":"red"}}}')
  const url = `/data/sales/export?order=-price&q=red&filter=${filter}&fields=id,price`
  t.equal((await token.get(url)).body, '"id","price"\r\n1,2.5\r\n2,1.5\r\n')
  t.equal((await token.get(`${url}&format=ndjson`)).body, '{"id":1,"price":2.5}\n{"id":2,"price":1.5}\n')
  expectError(t, await token.get(`${url}&format=xml`), 400, 'VALIDATION_FAILED')
})

t.test('a token that can change a table has the batch, and one that can only read has none', async (t) => {
  const reader = await asToken(app, admin, { tables: ['sales'], actions: ['read'] })
  t.ok('/data/_batch' in (await documentOf()).paths)
  t.notOk('/data/_batch' in (await documentOf(reader)).paths)
  for (const action of ['create', 'update', 'delete'] as const)
    t.ok(
      '/data/_batch' in (await documentOf(await asToken(app, admin, { tables: ['sales'], actions: [action] }))).paths
    )
  const views = await asToken(app, admin, { tables: ['prices'], actions: ['read', 'write'] })
  t.notOk('/data/_batch' in (await documentOf(views)).paths, 'a view cannot be changed')
})

t.test('the document of administrators has aggregates, exports and imports, too', async (t) => {
  const { id } = dataOf(await admin.get('/admin/tables')).find(({ name }: { name: string }) => name === 'sales')
  const { paths } = (await admin.get('/admin/openapi.json')).json()
  t.equal(paths[`/admin/tables/${id}/aggregate`].post.operationId, 'aggregateSales')
  t.equal(paths[`/admin/tables/${id}/export`].get.operationId, 'exportSales')
  t.equal(paths[`/admin/tables/${id}/import`].post.operationId, 'importSales')
})

t.test('a table that is older than the name of an aggregate keeps its name', async (t) => {
  await createTable(admin, { name: 'other', fields: [{ name: 'n', jsonType: 'integer' }] })
  const bodyOf = async () =>
    /schemas\/(\w+)/.exec(JSON.stringify((await documentOf()).paths['/data/sales/aggregate'].post.requestBody))?.[1]
  t.equal(await bodyOf(), 'SalesAggregate')
  openServed(t, externalFile).exec(
    "UPDATE _rowhouse_tables SET choices = json_set(choices, '$.clientName', 'SalesAggregate') WHERE name = 'other'"
  )
  while ((await schemasOf()).SalesAggregate['x-table'] !== 'other') await setTimeout(20)
  t.equal(await bodyOf(), 'TableRecordAggregate')
})
