import t, { type Test } from 'tap'
import type { Claims, Grant } from '../../../schemas/role.ts'
import {
  asAdmin,
  asKey,
  bearer,
  client,
  createDatabase,
  createTable,
  dataOf,
  expectError,
  importTable,
  startApp
} from '../../helpers.ts'

const file = createDatabase(
  t,
  `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, region TEXT);
   CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id),
     state TEXT NOT NULL DEFAULT 'new', total REAL, note TEXT, secret TEXT, labels TEXT);
   CREATE TABLE others (id INTEGER PRIMARY KEY, owner INTEGER);
   CREATE TABLE hidden (id INTEGER PRIMARY KEY);
   CREATE VIEW totals AS SELECT id, total FROM orders;`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const ids: Record<string, number> = {}
for (const name of ['customers', 'orders', 'others', 'hidden', 'totals'])
  ids[name] = (await importTable(admin, name)).id
dataOf(await admin.put(`/admin/tables/${ids.hidden}`, { isPublished: false }))

dataOf(await admin.put(`/admin/tables/${ids.orders}/fields/labels`, { name: 'labels', jsonType: 'object' }))

const URL = '/admin/openapi.json'
const own = { where: { customer_id: { eq: { $claim: 'customer' } } } }

let made = 0

/** Returns the document without the title, which has the name of the role or the token, and without its digest. */
const withoutNames = (body: string) => {
  const { info, ...others } = JSON.parse(body)
  const { title, version, ...kept } = info
  return { title, document: { ...others, info: kept } }
}

/** Asserts that a token of the role gets the document of the role, except for the title. Returns the document. */
const expectSame = async (t: Test, grants: readonly Grant[], claims: Claims) => {
  made += 1
  const name = `role ${made}`
  const role = dataOf(await admin.post('/admin/roles', { name, grants }))
  const issued = dataOf(await admin.post('/admin/tokens', { name: `token ${made}`, role: name, claims }))
  const token = client(app, bearer(issued.token))
  const url = `${URL}?role=${encodeURIComponent(name)}`
  for (const version of ['3.0', '3.1']) {
    const [ofRole, ofToken] = [
      await admin.get(`${url}&openapi=${version}`),
      await token.get(`/data/_openapi.json?openapi=${version}`)
    ]
    t.equal(ofRole.statusCode, 200)
    const [expected, found] = [withoutNames(ofToken.body), withoutNames(ofRole.body)]
    t.strictSame(found.document, expected.document, `OpenAPI ${version}`)
    t.strictSame([found.title, expected.title], [`Rowhouse: ${name}`, `Rowhouse: token ${made}`])
  }
  return { role, url, document: (await admin.get(url)).json() }
}

t.test('the document of a role is that of its tokens', async (t) => {
  const grants: readonly Grant[] = [
    {
      tables: ['orders'],
      actions: ['read', 'create', 'update'],
      rows: { ...own, any: [{ where: { state: { in: [{ $claim: 'state' }, 'new'] } } }] },
      fields: { read: ['id', 'state', 'customer_id'], write: ['state', 'note'] },
      presets: { customer_id: { $claim: 'customer' }, total: 0 }
    },
    { tables: ['customers'], actions: ['read'], rows: { where: { region: { in: { $claim: 'regions' } } } } },
    { tables: ['*'], actions: ['read', 'delete'], rows: { where: { owner: { eq: { $claim: 'customer' } } } } }
  ]
  const claims = { customer: 1, state: 'paid', regions: ['north'] }
  const { document } = await expectSame(t, grants, claims)
  const paths = Object.keys(document.paths)
  t.ok(paths.includes('/data/others'))
  t.notOk(paths.some((path) => path.startsWith('/data/hidden') || path.startsWith('/data/totals')))
  t.notMatch(JSON.stringify(document), 'secret')
})

t.test('a role with rules over foreign keys, and one without claims', async (t) => {
  const via = { via: { customer_id: { where: { region: { eq: { $claim: 'region' } } } } } }
  await expectSame(t, [{ tables: ['orders'], actions: ['read'], rows: via }], { region: 'north' })
  await expectSame(t, [{ tables: ['*'], actions: ['read', 'schema'] }], {})
  const presets = { labels: { by: { $claim: 'customer' } } }
  await expectSame(t, [{ tables: ['orders'], actions: ['create'], presets }], { customer: 1 })
  await expectSame(t, [], {})
})

t.test('a token whose integers are text gets another document than its role', async (t) => {
  dataOf(await admin.post('/admin/roles', { name: 'reader', grants: [{ tables: ['others'], actions: ['read'] }] }))
  const issued = dataOf(await admin.post('/admin/tokens', { name: 'text', role: 'reader', integers: 'string' }))
  const ofRole = (await admin.get(`${URL}?role=reader`)).json()
  const ofToken = (await client(app, bearer(issued.token)).get('/data/_openapi.json')).json()
  t.strictSame(Object.keys(ofToken.paths), Object.keys(ofRole.paths))
  t.equal(ofRole.components.schemas.Others.properties.id.type, 'integer')
  t.equal(ofToken.components.schemas.Others.properties.id.type, 'string')
})

t.test('a table that lacks a field of a grant is closed in the document', async (t) => {
  const grants = (grant: object): readonly Grant[] => [
    { tables: ['customers'], actions: ['read'] },
    { tables: ['orders'], actions: ['read', 'create'], ...grant }
  ]
  for (const grant of [
    { rows: { where: { colour: { eq: { $claim: 'customer' } } } } },
    { presets: { colour: { $claim: 'customer' } } }
  ]) {
    const { document } = await expectSame(t, grants(grant), { customer: 1 })
    t.notOk('/data/orders' in document.paths)
    t.ok('/data/customers' in document.paths)
  }
})

t.test('the document follows changes of the role and of its tables', async (t) => {
  const { role, url } = await expectSame(t, [{ tables: ['later', 'others'], actions: ['read'] }], {})
  const has = async (path: string) => path in (await admin.get(url)).json().paths
  t.equal(await has('/data/later'), false)
  await createTable(admin, { name: 'later', fields: [{ name: 'a', jsonType: 'string' }] })
  t.equal(await has('/data/later'), true)
  dataOf(await admin.put(`/admin/roles/${role.id}`, { grants: [] }))
  t.equal(await has('/data/later'), false)
  const { headers } = await admin.get(url)
  const unchanged = await app.inject({ url, headers: { ...admin.headers, 'if-none-match': String(headers.etag) } })
  t.equal(unchanged.statusCode, 304)
})

t.test('names ignore case, and unknown roles are refused', async (t) => {
  dataOf(await admin.post('/admin/roles', { name: 'Clerk', grants: [{ tables: ['others'], actions: ['read'] }] }))
  t.ok('/data/others' in (await admin.get(`${URL}?role=clerk`)).json().paths)
  expectError(t, await admin.get(`${URL}?role=nobody`), 404, 'ROLE_NOT_FOUND')
  expectError(t, await admin.get(`${URL}?role=`), 400, 'VALIDATION_FAILED', '/role')
  expectError(t, await admin.get(`${URL}?role=clerk&tables=others`), 400, 'VALIDATION_FAILED', '/role')
})

t.test('without a role, the document describes the records of administrators', async (t) => {
  const paths = Object.keys((await admin.get(`${URL}?tables=others`)).json().paths)
  t.ok(paths.includes(`/admin/tables/${ids.others}/data`))
  t.notOk(paths.some((path) => path.startsWith('/data/')))
})

t.test('an admin key needs the scopes `tables:read` and `roles`', async (t) => {
  const url = `${URL}?role=clerk`
  const both = await asKey(app, admin, ['tables:read', 'roles'])
  t.equal((await both.get(url)).statusCode, 200)
  const tables = await asKey(app, admin, ['tables:read'])
  t.equal((await tables.get(URL)).statusCode, 200)
  expectError(t, await tables.get(url), 403, 'ADMIN_KEY_NOT_ALLOWED')
  expectError(t, await (await asKey(app, admin, ['roles'])).get(url), 403, 'ADMIN_KEY_NOT_ALLOWED')
})
