import t from 'tap'
import type { Grant } from '../../../schemas/role.ts'
import { bearer, client, createTable, dataOf, expectError } from '../../helpers.ts'
import { openServed } from '../../served.ts'
import { OWN, startOrders } from './orders-app.ts'

// A name in grants and permissions stands for the table or the field for which it was set.

const ARCHIVE: Grant = { tables: ['Archive'], actions: ['read'] }

t.test('a table gets no name that grants or permissions have', async (t) => {
  const { app, admin, orders, newRole, keyOf } = await startOrders(t)
  const role = await newRole('customer', [OWN, ARCHIVE])
  await newRole('reader', [ARCHIVE])
  const permissions = { tables: ['archive'], actions: ['read'] }
  const issued = dataOf(await admin.post('/admin/tokens', { name: 'backup', permissions }))
  const keys = [await keyOf('customer'), await keyOf('reader'), client(app, bearer(issued.token))]
  const rowsOf = async (table: string) =>
    Promise.all(keys.map(async (key) => (await key.get(`/data/${table}`)).json().data?.rows))

  for (const sent of [{ name: 'archive' }, { name: 'archive', updateTokens: true }]) {
    const refused = await admin.put(orders, sent)
    expectError(t, refused, 409, 'RIGHTS_CONFLICT', '/name')
    const messages = refused.json().error.details.map(({ message }: { message: string }) => message)
    t.match(messages, [/role 'customer' names/, /role 'reader' names/, /token 'backup' \(id \d+\) names/])
    t.equal(messages.length, 3)
    t.match(refused.json().error.hint, /PUT \/admin\/roles\/:id/)
    t.strictSame(await rowsOf('archive'), [undefined, undefined, undefined])
    t.strictSame(await rowsOf('orders'), [[{ id: 1, owner: 'ann' }], undefined, undefined])
  }

  dataOf(await admin.put(orders, { name: 'bills' }))
  t.strictSame(await rowsOf('bills'), [[{ id: 1, owner: 'ann' }], undefined, undefined], 'another name is allowed')
  dataOf(await admin.put(orders, { name: 'Bills' }))
  t.strictSame(await rowsOf('Bills'), [[{ id: 1, owner: 'ann' }], undefined, undefined], 'its own name in another case')

  dataOf(await admin.put(`/admin/roles/${role.id}`, { grants: [{ ...OWN, tables: ['bills'] }] }))
  for (const { id, name } of dataOf(await admin.get('/admin/roles')))
    if (name === 'reader') dataOf(await admin.put(`/admin/roles/${id}`, { grants: [] }))
  dataOf(await admin.put(`/admin/tokens/${issued.id}`, { permissions: { tables: [], actions: [] } }))
  dataOf(await admin.put(orders, { name: 'archive' }))
  t.strictSame(await rowsOf('archive'), [[{ id: 1, owner: 'ann' }], undefined, undefined], 'a name that nothing has')
})

t.test('a name that another program has just given to a role or a token is refused, too', async (t) => {
  const { admin, file, orders, newRole } = await startOrders(t)
  await newRole('other', [{ tables: ['cats'], actions: ['read'] }])
  dataOf(await admin.post('/admin/tokens', { name: 'cats', permissions: { tables: ['dogs'], actions: ['read'] } }))
  const external = openServed(t, file)
  for (const [table, column, from] of [
    ['_rowhouse_roles', 'grants', 'cats'],
    ['_rowhouse_tokens', 'permissions', 'dogs']
  ]) {
    external.exec(`UPDATE ${table} SET ${column} = replace(${column}, '${from}', 'ARCHIVE')`)
    const refused = await admin.put(orders, { name: 'archive' })
    t.equal(refused.statusCode, 409, refused.body)
    external.exec(`UPDATE ${table} SET ${column} = replace(${column}, 'ARCHIVE', '${from}')`)
  }
  while ((await admin.put(orders, { name: 'archive' })).statusCode !== 200)
    await new Promise((resolve) => setTimeout(resolve, 50))
})

t.test('a field gets no name that grants have', async (t) => {
  const { admin, orders, newRole, keyOf } = await startOrders(t)
  await newRole('closed', [{ tables: ['orders'], actions: ['read'], fields: { read: ['id', 'code'] } }])
  const key = await keyOf('closed')
  expectError(t, await key.get('/data/orders'), 403, 'ACTION_NOT_ALLOWED')
  const refused = await admin.put(`${orders}/fields/secret`, { name: 'code' })
  expectError(t, refused, 409, 'RIGHTS_CONFLICT', '/name')
  t.match(refused.json().error.details, [{ message: /The role 'closed' names 'code'/ }])
  expectError(t, await key.get('/data/orders'), 403, 'ACTION_NOT_ALLOWED')
  dataOf(await admin.put(`${orders}/fields/secret`, { name: 'other' }))
  dataOf(await admin.put(`${orders}/fields/other`, { name: 'Other' }))
})

t.test('a field of a view gets no name that grants have, by a rename in its table', async (t) => {
  const { admin, file, orders, newRole, keyOf } = await startOrders(t)
  openServed(t, file).exec(`CREATE VIEW shown AS SELECT * FROM orders;
    CREATE VIEW nested AS SELECT * FROM shown;
    CREATE VIEW counted AS SELECT owner, count(secret) FROM orders GROUP BY owner`)
  const views = ['shown', 'nested', 'counted']
  dataOf(await admin.post('/admin/tables/import', { names: views }))
  await newRole('fields', [{ tables: ['shown'], actions: ['read'], fields: { read: ['id', 'code'] } }])
  await newRole('rows', [{ tables: ['nested'], actions: ['read'], rows: { where: { key: { isNull: false } } } }])
  await newRole('sums', [{ tables: ['counted'], actions: ['read'], fields: { read: ['count(total)'] } }])
  const keys = [await keyOf('fields'), await keyOf('rows'), await keyOf('sums')]
  for (const [index, name] of ['code', 'key', 'total'].entries()) {
    expectError(t, await admin.put(`${orders}/fields/secret`, { name }), 409, 'RIGHTS_CONFLICT', '/name')
    const read = await keys[index]?.get(`/data/${views[index]}`)
    t.equal(read?.statusCode, 403, name)
  }
  dataOf(await admin.put(`${orders}/fields/owner`, { name: 'holder' }))
  dataOf(await admin.put(`${orders}/fields/secret`, { name: 'other' }))
})

t.test('a new or an adopted table opens for those that name it, and its warnings list them', async (t) => {
  const { admin, newRole, keyOf } = await startOrders(t)
  await newRole('early', [{ tables: ['made', 'old'], actions: ['read'] }])
  const many = Array.from({ length: 25 }, (_, index) => `many ${index}`)
  for (const name of many)
    dataOf(await admin.post('/admin/tokens', { name, permissions: { tables: ['MADE'], actions: ['read'] } }))
  const made = await createTable(admin, { name: 'made', fields: [{ name: 'a', jsonType: 'string' }] })
  t.match(made.warnings, [/^The role 'early' names this table already/, /^The token 'many 0' \(id \d+\) names/])
  t.equal(made.warnings.length, 21)
  t.equal(made.warnings.at(-1), 'So do 6 more roles and tokens.')
  const key = await keyOf('early')
  t.strictSame(dataOf(await key.get('/data/made')).rows, [])
  const adopted = dataOf(await admin.post('/admin/tables/import', { names: ['*'] }))
  t.match(adopted, [{ name: 'old', warnings: [/^The role 'early' names/] }])
  t.strictSame(dataOf(await admin.get(`/admin/tables/${made.id}`)).warnings, [], 'only when it is new')
  const free = await createTable(admin, { name: 'free', fields: [{ name: 'a', jsonType: 'string' }] })
  t.strictSame(free.warnings, [])
})
