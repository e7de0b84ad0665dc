import t from 'tap'
import { asAdmin, asToken, client, createTable, dataOf, expectError, startApp } from '../../helpers.ts'

const app = await startApp(t)
const admin = await asAdmin(app)
const { id } = await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
const token = await asToken(app, admin)
dataOf(await token.post('/data/cats/records', { name: 'Tom' }))

const CSV = { 'content-type': 'text/csv' }
const field = { field: { name: 'age', jsonType: 'integer' } }
const VALUES = { 'idempotency-key': 'one', 'if-match': '*', 'if-none-match': '*' }
type Header = keyof typeof VALUES

/** Requests that would change something, with the headers that they do not take. */
const requests: readonly [Header[], 'post' | 'put' | 'delete', string, (object | string)?, object?][] = [
  [['if-match', 'if-none-match'], 'post', '/data/cats/records', { name: 'x' }],
  [['if-none-match'], 'put', '/data/cats/records/1', { name: 'x' }],
  [['if-none-match'], 'delete', '/data/cats/records/1'],
  [['if-none-match'], 'put', `/admin/tables/${id}/data/1`, { name: 'x' }],
  [['if-none-match'], 'delete', `/admin/tables/${id}/data/1`],
  [['if-match', 'if-none-match'], 'post', '/data/_batch', { operations: [] }],
  [['idempotency-key', 'if-match', 'if-none-match'], 'post', '/data/cats/import', 'name\nx\n', CSV],
  [['idempotency-key', 'if-match', 'if-none-match'], 'post', `/admin/tables/${id}/import`, 'name\nx\n', CSV],
  [['idempotency-key', 'if-match'], 'post', '/data/_schema/tables/cats/fields', field],
  [['idempotency-key', 'if-match'], 'post', '/data/_schema/tables', { name: 'dogs', label: '', fields: [field.field] }],
  [['idempotency-key', 'if-match'], 'delete', `/admin/tables/${id}?confirm=true`],
  [['idempotency-key', 'if-match'], 'put', '/auth/password', { oldPassword: 'x', newPassword: 'y' }]
]

t.test('a header that would have no effect on a change is refused', async (t) => {
  for (const [headers, method, url, body, more] of requests)
    for (const header of headers) {
      const caller = url.startsWith('/data') ? token : admin
      const sent = client(app, { ...caller.headers, ...more, [header]: VALUES[header] })
      expectError(t, await sent[method](url, body), 400, 'VALIDATION_FAILED', `/${header}`)
    }
  t.match(dataOf(await token.get('/data/cats')), { total: 1, rows: [{ name: 'Tom' }] })
  t.equal(dataOf(await token.get('/data/cats/schema')).fields.length, 2)
})

t.test('the same headers are accepted where they have an effect, and by reads', async (t) => {
  const all = client(app, { ...token.headers, ...VALUES })
  t.match(dataOf(await all.get('/data/cats')), { total: 1 })
  const keyed = client(app, { ...token.headers, 'idempotency-key': 'two' })
  t.match(dataOf(await keyed.post('/data/cats/records', { name: 'Kit' })), { name: 'Kit' })
  const matching = client(app, { ...token.headers, 'if-match': '*' })
  t.match(dataOf(await matching.put('/data/cats/records/1', { name: 'Tim' })), { success: true })
  const creating = client(app, { ...token.headers, 'if-none-match': '*' })
  t.match(dataOf(await creating.post('/data/cats/records?upsert=id', { id: 9, name: 'Ada' })), { created: true })
})
