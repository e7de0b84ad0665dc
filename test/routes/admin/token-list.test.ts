import t from 'tap'
import { asAdmin, dataOf, expectError, startApp } from '../../helpers.ts'

const app = await startApp(t)
const admin = await asAdmin(app)
const permissions = { tables: ['cats'], actions: ['read'] }

const create = async (name: string, access: object = { permissions }) =>
  dataOf(await admin.post('/admin/tokens', { name, ...access }))

dataOf(await admin.post('/admin/roles', { name: 'Customer', grants: [] }))
for (const name of ['Web shop', 'Till', 'Shop 100%', 'Ärger']) await create(name)
for (const name of ['Ada', 'Ben']) await create(name, { role: 'Customer' })

const list = async (query: string) => dataOf(await admin.get(`/admin/tokens${query}`))
const namesOf = async (query: string) => (await list(query)).map(({ name }: { name: string }) => name)

const ALL = ['Web shop', 'Till', 'Shop 100%', 'Ärger', 'Ada', 'Ben']

t.test('without parameters, all tokens are listed by id', async (t) => {
  t.strictSame(await namesOf(''), ALL)
})

t.test('pages follow each other', async (t) => {
  const first = await list('?limit=4')
  t.equal(first.length, 4)
  t.strictSame(await namesOf(`?limit=4&after=${first.at(-1).id}`), ['Ada', 'Ben'])
  t.strictSame(await namesOf('?after=6'), [])
  t.strictSame(await namesOf('?after=999999999'), [])
  dataOf(await admin.delete(`/admin/tokens/${(await create('gone')).id}`))
  t.strictSame(await namesOf('?after=4'), ['Ada', 'Ben'])
})

t.test('a search finds a part of the name, ignoring case', async (t) => {
  t.strictSame(await namesOf('?search=SHOP'), ['Web shop', 'Shop 100%'])
  t.strictSame(await namesOf('?search=shop&limit=1'), ['Web shop'])
  t.strictSame(await namesOf('?search=shop&after=1'), ['Shop 100%'])
  t.strictSame(await namesOf('?search=%C3%A4'), ['Ärger'])
})

t.test('a search has no special characters', async (t) => {
  t.strictSame(await namesOf('?search=%25'), ['Shop 100%'])
  for (const text of ['.*', '[', '?', 'Web%'])
    t.strictSame(await namesOf(`?search=${encodeURIComponent(text)}`), [], text)
  // Asterisks end each prefix.
  t.strictSame(await namesOf('?search=**'), ALL)
})

t.test('a search finds a part of the prefix', async (t) => {
  const [token] = await list('?limit=1')
  t.strictSame(await namesOf(`?search=${token.token_prefix.slice(0, 11).toUpperCase()}`), ['Web shop'])
})

t.test('a search finds the tokens of a role', async (t) => {
  t.strictSame(await namesOf('?search=custom'), ['Ada', 'Ben'])
  dataOf(await admin.put('/admin/roles/1', { name: 'Tenant' }))
  t.strictSame(await namesOf('?search=custom'), [])
  t.strictSame(await namesOf('?search=tenant'), ['Ada', 'Ben'])
})

t.test('each parameter has limits', async (t) => {
  const invalid = [
    ['limit=0', '/limit'],
    ['limit=1001', '/limit'],
    ['limit=x', '/limit'],
    ['limit=1&limit=2', '/limit'],
    ['after=0', '/after'],
    ['after=-1', '/after'],
    ['after=1000000000', '/after'],
    ['search=', '/search'],
    [`search=${'x'.repeat(1001)}`, '/search'],
    ['page=2', '/page']
  ] as const
  for (const [query, path] of invalid)
    expectError(t, await admin.get(`/admin/tokens?${query}`), 400, 'VALIDATION_FAILED', path)
  for (const query of ['limit=1', 'limit=1000', 'after=1', 'search=x', `search=${'x'.repeat(1000)}`])
    t.equal((await admin.get(`/admin/tokens?${query}`)).statusCode, 200, query)
})

t.test('a list without a limit has 1,000 tokens', async (t) => {
  for (let n = 0; n < 1000; n += 100) await Promise.all(Array.from({ length: 100 }, (_, i) => create(`many ${n + i}`)))
  const page = await list('')
  t.equal(page.length, 1000)
  t.equal((await list(`?after=${page.at(-1).id}`)).length, 6)
})
