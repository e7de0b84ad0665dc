import t from 'tap'
import { dataOf, expectError, importTable } from '../../helpers.ts'
import { openServed } from '../../served.ts'
import { OWN, startOrders } from './orders-app.ts'

// Grants that another program has written pass the checks of those that an administrator sends.

t.test('of two stored grants for one table and action, neither opens it', async (t) => {
  const { admin, file, lines, orders, newRole, keyOf } = await startOrders(t)
  const { id } = await newRole('customer', [OWN, { tables: ['*'], actions: ['read'] }])
  await importTable(admin, 'old')
  const key = await keyOf('customer')
  t.strictSame(dataOf(await key.get('/data/orders')).rows, [{ id: 1, owner: 'ann' }])
  const external = openServed(t, file)
  const store = async (grants: unknown) => {
    external.prepare('UPDATE _rowhouse_roles SET grants = ?').run(JSON.stringify(grants))
    // The service notices the commit within a second.
    const shown = JSON.stringify(dataOf(await admin.get(`/admin/roles/${id}`)))
    while (JSON.stringify(dataOf(await admin.get(`/admin/roles/${id}`))) === shown)
      await new Promise((resolve) => setTimeout(resolve, 50))
    return dataOf(await admin.get(`/admin/roles/${id}`))
  }
  const pair = [OWN, { tables: ['Orders'], actions: ['read'] }, { tables: ['*'], actions: ['read'] }]
  const shown = await store(pair)
  t.strictSame(shown.grants, pair)
  t.match(shown.warnings, ["Two grants name the action 'read' and the table 'orders'. Neither opens it."])
  t.match(lines.join(''), /Stored grants of the role open nothing/)
  expectError(t, await key.get('/data/orders'), 403, 'ACTION_NOT_ALLOWED')
  t.equal((await key.get('/data/old')).statusCode, 200, 'the other grants still apply')
  expectError(t, await admin.put(orders, { name: 'bills' }), 409, 'RIGHTS_CONFLICT')

  const everything = await store([
    { tables: ['*'], actions: ['read'] },
    { tables: ['*'], actions: ['read'] }
  ])
  t.match(everything.warnings, [/the table '\*'/])
  expectError(t, await key.get('/data/old'), 403, 'ACTION_NOT_ALLOWED')

  dataOf(await admin.put(`/admin/roles/${id}`, { grants: [OWN] }))
  t.strictSame(dataOf(await key.get('/data/orders')).rows, [{ id: 1, owner: 'ann' }])
  dataOf(await admin.put(orders, { name: 'bills' }))
})

t.test('stored grants of another form open nothing', async (t) => {
  const { admin, file, newRole, keyOf } = await startOrders(t)
  await newRole('valid', [OWN])
  const forms: readonly unknown[] = [
    {},
    ['orders'],
    [{ ...OWN, fields: 'id' }],
    [{ ...OWN, fields: { reads: ['id'] } }],
    [{ ...OWN, rows: { any: 1 } }],
    [{ ...OWN, actions: ['all'] }],
    [{ ...OWN, tables: 'orders' }],
    [{ ...OWN, more: 1 }],
    [{ ...OWN, presets: [] }]
  ]
  const keys = []
  for (const index of forms.keys()) {
    await newRole(`role ${index}`, [OWN])
    keys.push(await keyOf(`role ${index}`))
  }
  const external = openServed(t, file)
  for (const [index, form] of [...forms.entries(), [0, undefined] as const])
    external
      .prepare('UPDATE _rowhouse_roles SET grants = ? WHERE name = ?')
      .run(form === undefined ? '{' : JSON.stringify(form), `role ${index}`)
  const shown = async () => dataOf(await admin.get('/admin/roles')).slice(1)
  // The service notices the commits within a second.
  while ((await shown()).some(({ grants }: { grants: object[] }) => grants.length > 0))
    await new Promise((resolve) => setTimeout(resolve, 50))
  for (const role of await shown())
    t.match(role, { grants: [], warnings: [/are not valid, so the role opens nothing/] })
  for (const key of keys) expectError(t, await key.get('/data/orders'), 403, 'ACTION_NOT_ALLOWED')
  t.strictSame(dataOf(await (await keyOf('valid')).get('/data/orders')).rows, [{ id: 1, owner: 'ann' }])
})
