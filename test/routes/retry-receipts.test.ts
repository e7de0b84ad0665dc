import t, { type Test } from 'tap'
import {
  asAdmin,
  bearer,
  type Client,
  client,
  createDatabase,
  createTable,
  dataOf,
  expectDone,
  expectError,
  logIn,
  startApp
} from '../helpers.ts'
import { openServed } from '../served.ts'

const setup = async (t: Test) => {
  const file = createDatabase(t, 'CREATE TABLE first (id INTEGER PRIMARY KEY)')
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const permissions = { tables: ['*'], actions: ['read', 'write'] }
  const { id, token } = dataOf(await admin.post('/admin/tokens', { name: 'till', permissions }))
  const db = openServed(t, file, { readonly: true })
  const stored = () => db.prepare('SELECT key FROM _rowhouse_retries ORDER BY id').pluck().all()
  const keyed = ({ headers }: Client, key: string) => client(app, { ...headers, 'idempotency-key': key })
  const create = (name: string) =>
    createTable(admin, {
      name,
      fields: [
        { name: 'id', jsonType: 'integer', isPrimary: true },
        { name: 'a', jsonType: 'string' }
      ]
    })
  return { app, admin, token: client(app, bearer(token)), tokenId: id, stored, keyed, create }
}

t.test('a table that is dropped takes along the results of requests that changed it', async (t) => {
  const { admin, token, stored, keyed, create } = await setup(t)
  const { id } = await create('cats')
  await create('dogs')
  const add = () => keyed(token, 'cat').post('/data/cats/records', { id: 1, a: 'secret' })
  t.equal((await add()).statusCode, 200)
  t.equal((await keyed(token, 'dog').post('/data/dogs/records', { id: 1, a: 'x' })).statusCode, 200)
  const operations = ['dogs', 'cats'].map((table) => ({ op: 'create', table, values: { id: 2, a: 'secret' } }))
  t.equal((await keyed(token, 'both').post('/data/_batch', { operations })).statusCode, 200)
  t.strictSame(stored(), ['cat', 'dog', 'both'])
  expectDone(t, await admin.delete(`/admin/tables/${id}?drop=true&confirm=true`))
  t.strictSame(stored(), ['dog'])
  await create('cats')
  const again = await add()
  t.equal(again.headers['idempotency-replayed'], undefined)
  t.equal(dataOf(await token.get('/data/cats')).total, 1)
})

t.test('the key of a table that was registered again belongs to another request', async (t) => {
  const { admin, token, keyed, create } = await setup(t)
  const { id } = await create('cats')
  const add = () => keyed(token, 'cat').post('/data/cats/records', { id: 1, a: 'secret' })
  t.equal((await add()).statusCode, 200)
  t.equal((await add()).headers['idempotency-replayed'], 'true')
  expectDone(t, await admin.delete(`/admin/tables/${id}?confirm=true`))
  t.equal((await admin.post('/admin/tables/import', { name: 'cats' })).statusCode, 200)
  expectError(t, await add(), 422, 'IDEMPOTENCY_KEY_REUSED')
})

t.test('a token or an administrator that is deleted takes along its keys', async (t) => {
  const { app, admin, token, tokenId, stored, keyed, create } = await setup(t)
  const { id } = await create('cats')
  const [first, second] = ['a long password of eve', 'another long password']
  const eve = dataOf(await admin.post('/admin/admins', { name: 'eve', nickname: 'Eve', password: first }))
  const hers = client(app, await logIn(app, 'eve', first))
  expectDone(t, await hers.put('/auth/password', { oldPassword: first, newPassword: second }))
  await keyed(token, 'of token').post('/data/cats/records', { id: 1 })
  await keyed(hers, 'of eve').post(`/admin/tables/${id}/data`, { id: 2 })
  await keyed(admin, 'of admin').post(`/admin/tables/${id}/data`, { id: 3 })
  t.strictSame(stored(), ['of token', 'of eve', 'of admin'])
  expectDone(t, await admin.delete(`/admin/tokens/${tokenId}`))
  t.strictSame(stored(), ['of eve', 'of admin'])
  expectDone(t, await admin.delete(`/admin/admins/${eve.id}`))
  t.strictSame(stored(), ['of admin'])
})
