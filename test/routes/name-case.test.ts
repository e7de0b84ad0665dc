import t from 'tap'
import {
  asAdmin,
  createDatabase,
  dataOf,
  expectData,
  expectDone,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'

const DATABASE = createDatabase(
  t,
  `CREATE TABLE folded (k TEXT PRIMARY KEY COLLATE NOCASE, n INTEGER);
   INSERT INTO folded VALUES ('Tom', 1);
   CREATE TABLE folded_strictly (k TEXT PRIMARY KEY COLLATE NOCASE, n INTEGER) STRICT;
   INSERT INTO folded_strictly VALUES ('Tom', 1);
   CREATE TABLE split (k TEXT COLLATE NOCASE, n INTEGER, PRIMARY KEY (k COLLATE BINARY));
   INSERT INTO split VALUES ('abc', 1), ('ABC', 2);
   CREATE TABLE secrets (id INTEGER PRIMARY KEY, Secret TEXT);
   INSERT INTO secrets VALUES (1, 's');
   CREATE TABLE _odd (a);`
)
const app = await startApp(t, { env: { DATABASE } })
const admin = await asAdmin(app)

t.test('a key is case-sensitive, whatever its collation', async (t) => {
  for (const name of ['folded', 'folded_strictly']) {
    const { id } = await importTable(admin, name)
    expectData(t, await admin.get(`/admin/tables/${id}/data/Tom`), { k: 'Tom', n: 1 })
    expectError(t, await admin.get(`/admin/tables/${id}/data/TOM`), 404, 'RECORD_NOT_FOUND')
  }

  const split = await importTable(admin, 'split')
  expectData(t, await admin.get(`/admin/tables/${split.id}/data/ABC`), { k: 'ABC', n: 2 })
  expectDone(t, await admin.put(`/admin/tables/${split.id}/data/ABC`, { n: 3 }))
  expectData(t, await admin.get(`/admin/tables/${split.id}/data/abc`), { k: 'abc', n: 1 })
  expectDone(t, await admin.delete(`/admin/tables/${split.id}/data/ABC`))
  expectError(t, await admin.get(`/admin/tables/${split.id}/data/ABC`), 404, 'RECORD_NOT_FOUND')
})

t.test('a hidden field stays hidden when its name changes case', async (t) => {
  const { id } = await importTable(admin, 'secrets')
  dataOf(await admin.put(`/admin/tables/${id}`, { fields: [{ name: 'Secret', isHidden: true }] }))
  await app.database.write([{ sql: 'ALTER TABLE secrets RENAME Secret TO secret', params: [] }])
  const { fields } = dataOf(await admin.post(`/admin/tables/${id}/refresh`))
  t.match(fields[1], { name: 'secret', isHidden: true })
})

t.test('of two concurrent requests to unregister a table, one responds 404', async (t) => {
  const { id } = await importTable(admin, '_odd')
  const deleted = await Promise.all([1, 2].map(() => admin.delete(`/admin/tables/${id}?confirm=true`)))
  t.same(deleted.map(({ statusCode }) => statusCode).sort(), [200, 404])
})
