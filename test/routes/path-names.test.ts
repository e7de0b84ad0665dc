import t, { type Test } from 'tap'
import {
  asAdmin,
  asToken,
  bearer,
  client,
  createDatabase,
  createTable,
  dataOf,
  expectData,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'
import { openServed } from '../served.ts'

const SCHEMA = `
  CREATE TABLE "Order Details" (id INTEGER PRIMARY KEY, qty INTEGER); INSERT INTO "Order Details" VALUES (1, 5);
  CREATE TABLE "line items" (id INTEGER PRIMARY KEY); INSERT INTO "line items" VALUES (2);
  CREATE TABLE LineItems (id INTEGER PRIMARY KEY); INSERT INTO LineItems VALUES (3);`

const start = async (t: Test) => {
  const file = createDatabase(t, SCHEMA)
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const orders = await importTable(admin, 'Order Details')
  const items = await importTable(admin, 'line items')
  const tokenFor = async (...tables: readonly string[]) => {
    const permissions = { tables, actions: ['read', 'write'] }
    return client(app, bearer(dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions })).token))
  }
  return { file, app, admin, orders, items, token: await asToken(app, admin), tokenFor }
}

t.test('a path finds a table by its client name', async (t) => {
  const { token } = await start(t)
  const record = { id: 1, qty: 5 }
  for (const name of ['Order%20Details', 'OrderDetails', 'orderdetails'])
    expectData(t, await token.get(`/data/${name}/records/1`), record)
  expectData(t, await token.post('/data/OrderDetails/records', { qty: 7 }), { id: 2, qty: 7 })
  t.equal(dataOf(await token.get('/data/OrderDetails/schema')).name, 'Order Details')
  expectError(t, await token.get('/data/OrderDetail'), 404, 'TABLE_NOT_FOUND')
})

t.test('an operation of a batch finds a table by its client name, and permissions do not', async (t) => {
  const { admin, token, tokenFor } = await start(t)
  const operations = [{ op: 'incr', table: 'OrderDetails', pk: 1, field: 'qty' }]
  dataOf(await token.post('/data/_batch', { operations }))
  dataOf(await admin.post('/admin/batch', { operations }))
  dataOf(await (await tokenFor('Order Details')).post('/data/_batch', { operations }))
  t.equal(dataOf(await token.get('/data/OrderDetails/records/1')).qty, 8)
  expectError(t, await (await tokenFor('line items')).post('/data/_batch', { operations }), 403, 'ACTION_NOT_ALLOWED')
  const permissions = { tables: ['OrderDetails'], actions: ['read'] }
  const { warnings } = dataOf(await admin.post('/admin/tokens', { name: 'Till', permissions }))
  t.match(warnings, [/There is no table 'OrderDetails' now\..* Did you mean 'Order Details'\?/])
})

t.test('a stored name wins over a client name', async (t) => {
  const { file, admin, token, items } = await start(t)
  t.equal(items.clientName, 'LineItems')
  expectError(t, await token.get('/data/LineItems'), 404, 'TABLE_NOT_FOUND')
  const registered = await importTable(admin, 'LineItems')
  t.same(dataOf(await token.get('/data/LineItems')).rows, [{ id: 3 }])
  await admin.put(`/admin/tables/${registered.id}`, { isPublished: false })
  expectError(t, await token.get('/data/LineItems'), 404, 'TABLE_NOT_FOUND')
  await admin.delete(`/admin/tables/${registered.id}?confirm=true`)
  expectError(t, await token.get('/data/LineItems'), 404, 'TABLE_NOT_FOUND')
  const other = openServed(t, file)
  other.exec('DROP TABLE LineItems')
  await t.resolves(
    (async () => {
      while ((await token.get('/data/LineItems')).statusCode !== 200) await new Promise((done) => setTimeout(done, 50))
    })()
  )
  t.same(dataOf(await token.get('/data/LineItems')).rows, [{ id: 2 }])
})

t.test('the scope of a token names the stored table', async (t) => {
  const { tokenFor } = await start(t)
  expectData(t, await (await tokenFor('Order Details')).get('/data/OrderDetails/records/1'), { id: 1, qty: 5 })
  const other = await tokenFor('line items', 'OrderDetails')
  const messageOf = async (name: string) => {
    const messages = [await other.get(`/data/${name}`), await other.post(`/data/${name}/records`, {})].map(
      (response) => {
        expectError(t, response, 403, 'ACTION_NOT_ALLOWED')
        return response.json().error.message
      }
    )
    t.equal(messages[0], messages[1])
    return messages[0]
  }
  t.equal(await messageOf('OrderDetails'), "The token's tables do not include the table 'OrderDetails'.")
  t.equal(await messageOf('Nothing'), "The token's tables do not include the table 'Nothing'.")
})

t.test('a renamed table keeps its client name until a table has this name', async (t) => {
  const { admin, token, orders } = await start(t)
  await admin.put(`/admin/tables/${orders.id}`, { name: 'Lines' })
  expectData(t, await token.get('/data/OrderDetails/records/1'), { id: 1, qty: 5 })
  expectError(t, await token.get('/data/Order%20Details'), 404, 'TABLE_NOT_FOUND')
  await createTable(admin, { name: 'orderdetails', fields: [{ name: 'a', jsonType: 'string' as const }] })
  expectData(t, await token.post('/data/OrderDetails/records', { a: 'new' }), { id: 1, a: 'new' })
})

t.test('a table whose choices cannot be read has no client name', async (t) => {
  const { file, token } = await start(t)
  const other = openServed(t, file)
  other.exec("UPDATE _rowhouse_tables SET choices = '{' WHERE name = 'Order Details'")
  while ((await token.get('/data/Order%20Details')).json().error?.code !== 'TABLE_UNUSABLE')
    await new Promise((done) => setTimeout(done, 50))
  expectError(t, await token.get('/data/OrderDetails'), 404, 'TABLE_NOT_FOUND')
})

t.test('the document of a token has no path that needs percent-encoding if a client name is free', async (t) => {
  const { token } = await start(t)
  const { paths } = (await token.get('/data/_openapi.json')).json()
  const lists = Object.keys(paths).filter((path) => /^\/data\/[^_/]*$/.test(path))
  t.same(lists.sort(), ['/data/OrderDetails', '/data/line%20items'])
})

t.test('a document changes when a table that the token cannot use takes the name of a path', async (t) => {
  const { file, tokenFor } = await start(t)
  const token = await tokenFor('Order Details')
  const hasPath = async (path: string) => path in (await token.get('/data/_openapi.json')).json().paths
  t.ok(await hasPath('/data/OrderDetails'))
  const other = openServed(t, file)
  other.exec('CREATE TABLE orderdetails (id INTEGER PRIMARY KEY)')
  while (!(await hasPath('/data/Order%20Details'))) await new Promise((done) => setTimeout(done, 50))
})

t.test('a new name must not be that of another table in paths', async (t) => {
  const { admin, orders, items, tokenFor } = await start(t)
  const table = { name: 'orderDetails', label: '', fields: [{ name: 'a', jsonType: 'string' }] }
  const creator = await tokenFor('OrderDetails')
  for (const response of [
    await admin.post('/admin/tables', table),
    await admin.put(`/admin/tables/${items.id}`, { name: 'OrderDetails' }),
    await creator.post('/data/_schema/tables', table)
  ]) {
    expectError(t, response, 409, 'TABLE_EXISTS')
    t.notMatch(response.body, /Order Details/)
  }
  const { id } = dataOf(await admin.get('/admin/tokens')).at(-1)
  dataOf(await admin.delete(`/admin/tokens/${id}`))
  const renamed = dataOf(await admin.put(`/admin/tables/${orders.id}`, { name: 'OrderDetails' }))
  t.equal(renamed.name, 'OrderDetails', 'the table itself can get the name')
  dataOf(await admin.put(`/admin/tables/${orders.id}`, { name: 'Lines' }))
  t.equal(dataOf(await admin.post('/admin/tables', table)).name, 'orderDetails', 'its paths have the name Lines now')
})
