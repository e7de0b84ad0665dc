import t, { type Test } from 'tap'
import { selectStoredNames } from '../../services/tables/registry/table-statements.ts'
import { asAdmin, bearer, client, createDatabase, createTable, dataOf, expectError, startApp } from '../helpers.ts'
import { startCluster } from './cluster.ts'

const PERMISSIONS = { tables: ['*'], actions: ['read', 'write'] }
const VIEWS = `CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO cats VALUES (1, 'Tom');
  CREATE VIEW names AS SELECT id, name FROM cats; CREATE VIEW loud AS SELECT id, upper(name) AS name FROM cats;`

/** Starts two services of one cluster. `statementsOf`: the SQL that a call sends to the cluster. */
const startTwo = async (t: Test, schema = VIEWS) => {
  const { env, fake } = await startCluster(t, createDatabase(t, schema))
  const [first, second] = [await startApp(t, { env }), await startApp(t, { env })]
  const admin = await asAdmin(first)
  dataOf(await admin.post('/admin/tables/import', { names: ['*'] }))
  const issue = async (name: string) => dataOf(await admin.post('/admin/tokens', { name, permissions: PERMISSIONS }))
  const { token } = await issue('reader')
  const reader = client(second, bearer(token))
  t.equal((await reader.get('/data/loud')).statusCode, 200)
  const statementsOf = async (call: () => Promise<unknown>) => {
    const before = fake.requests.length
    await call()
    return fake.requests.slice(before).flatMap(({ statements }) => statements.map(({ sql }) => sql))
  }
  return { fake, first, second, admin, issue, reader, statementsOf }
}

t.test('after a change of one token, the other service reads this token only', async (t) => {
  const { issue, admin, second, reader, statementsOf } = await startTwo(t)
  const { id, token } = await issue('Till')
  const statements = await statementsOf(() => reader.get('/data/cats'))
  const reloads = statements.filter((sql) =>
    /_rowhouse_(?:tokens|roles|tables|settings|admin_keys)|sqlite_schema/.test(sql)
  )
  t.match(reloads, [/FROM _rowhouse_tokens WHERE id IN/])
  t.equal(reloads.length, 1)
  const other = client(second, bearer(token))
  t.equal((await other.get('/data/cats')).statusCode, 200)
  dataOf(await admin.put(`/admin/tokens/${id}`, { permissions: { tables: ['names'], actions: ['read'] } }))
  expectError(t, await other.get('/data/cats'), 403, 'ACTION_NOT_ALLOWED')
  t.equal((await other.get('/data/names')).statusCode, 200)
  dataOf(await admin.delete(`/admin/tokens/${id}`))
  expectError(t, await other.get('/data/names'), 401, 'INVALID_TOKEN')
})

t.test('views are described again only after a change of the structure', async (t) => {
  const { admin, reader, statementsOf } = await startTwo(t)
  const describes = (sql: string) => sql === selectStoredNames.sql
  const [cats] = dataOf(await admin.get('/admin/tables'))
  dataOf(await admin.put(`/admin/tables/${cats.id}`, { label: 'Pets' }))
  const afterLabel = await statementsOf(() => reader.get('/data/cats'))
  t.ok(afterLabel.some((sql) => sql.includes('FROM _rowhouse_tables')))
  t.notOk(afterLabel.some(describes))
  dataOf(await admin.post(`/admin/tables/${cats.id}/fields`, { field: { name: 'lives', jsonType: 'integer' } }))
  const afterField = await statementsOf(() => reader.get('/data/cats'))
  t.ok(afterField.some(describes))
  t.match(dataOf(await reader.get('/data/cats')), { rows: [{ id: 1, name: 'Tom', lives: null }] })
})

t.test('a write by a role fails at the next request after the role changed, and others are not delayed', async (t) => {
  const { fake, admin, issue, second } = await startTwo(t)
  await createTable(admin, { name: 'dogs', fields: [{ name: 'name', jsonType: 'string' }] })
  const grants = (table: string) => [{ tables: [table], actions: ['read', 'create'] }]
  const role = dataOf(await admin.post('/admin/roles', { name: 'keeper', grants: grants('dogs') }))
  const { token } = dataOf(await admin.post('/admin/tokens', { name: 'Role', role: 'keeper' }))
  const keeper = client(second, bearer(token))
  /** Creates a record, and makes a change by the other service before the record is stored. */
  const createDuring = async (change: () => Promise<unknown>) => {
    t.equal((await keeper.get('/data/dogs')).statusCode, 200)
    const held = fake.faults.holdRequest()
    const creating = keeper.post('/data/dogs/records', { name: 'Rex' })
    await held.arrived
    await change()
    held.release()
    return creating
  }
  await keeper.get('/data/dogs')
  const before = Number(second.database.counts().cluster?.reloads)
  t.equal((await createDuring(() => issue('other'))).statusCode, 200)
  t.equal(second.database.counts().cluster?.reloads, before, 'stored without a reload')
  const refused = await createDuring(() => admin.put(`/admin/roles/${role.id}`, { grants: grants('cats') }))
  t.ok([403, 409].includes(refused.statusCode), refused.body)
  expectError(t, await keeper.get('/data/dogs'), 403, 'ACTION_NOT_ALLOWED')
})

t.test('an admin key writes by the service that has not issued it', async (t) => {
  const { admin, second } = await startTwo(t)
  const { key } = dataOf(await admin.post('/admin/keys', { name: 'script', scopes: ['tables:read', 'records:write'] }))
  const [cats] = dataOf(await admin.get('/admin/tables'))
  const script = client(second, bearer(key))
  t.equal((await script.post(`/admin/tables/${cats.id}/data`, { name: 'Kitty' })).statusCode, 200)
})

t.test('a write fails if the other service keeps changing its table', async (t) => {
  const { fake, admin, reader } = await startTwo(t)
  const [cats] = dataOf(await admin.get('/admin/tables'))
  const creating = reader.post('/data/cats/records', { name: 'Kitty' })
  let isDone = false
  creating.finally(() => {
    isDone = true
  })
  let attempts = 0
  while (!isDone) {
    const held = fake.faults.holdRequest()
    await Promise.race([held.arrived, creating])
    if (!isDone) dataOf(await admin.put(`/admin/tables/${cats.id}`, { label: `Pets ${attempts++}` }))
    held.release()
  }
  t.equal(attempts, 11)
  expectError(t, await creating, 409, 'TABLE_CHANGED')
})
