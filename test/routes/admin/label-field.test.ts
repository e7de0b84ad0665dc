import t, { type Test } from 'tap'
import type { Table } from '../../../schemas/table.ts'
import {
  asAdmin,
  asToken,
  createDatabase,
  createTable,
  dataOf,
  expectError,
  importTable,
  startApp,
  temporaryDirectory
} from '../../helpers.ts'
import { openServed } from '../../served.ts'

const start = async (t: Test, sql: string) => {
  const file = createDatabase(t, sql)
  const env = { DATABASE: file, DATA_DIR: temporaryDirectory(t) }
  const app = await startApp(t, { env })
  const admin = await asAdmin(app)
  const external = openServed(t, file)
  return {
    app,
    admin,
    external,
    /** Starts the service again on the same file. Returns the client of an administrator. */
    restart: async () => {
      await app.close()
      return asAdmin(await startApp(t, { env }))
    },
    /** Returns the label field of a table as an administrator sees it now. */
    labelOf: async ({ id }: Table) => (dataOf(await admin.get(`/admin/tables/${id}`)) as Table).labelField
  }
}

/** Returns the guessed label field of a table with these columns. */
const GUESSES = [
  ['name', 'id INTEGER PRIMARY KEY, label TEXT, Title TEXT, NAME TEXT', 'NAME'],
  ['title', 'id INTEGER PRIMARY KEY, LastName TEXT, label TEXT, Title TEXT', 'Title'],
  ['label', 'id INTEGER PRIMARY KEY, LastName TEXT, label TEXT', 'label'],
  ['the first name in camel case', 'id INTEGER PRIMARY KEY, LastName TEXT, FirstName TEXT', 'LastName'],
  ['a name in snake case', 'id INTEGER PRIMARY KEY, filename TEXT, last_name TEXT', 'last_name'],
  ['a name in capitals', 'id INTEGER PRIMARY KEY, a TEXT UNIQUE, LAST_NAME TEXT', 'LAST_NAME'],
  ['a unique text', 'id INTEGER PRIMARY KEY, a TEXT, n INT UNIQUE, b TEXT UNIQUE', 'b'],
  ['a text without a type', 'id INTEGER PRIMARY KEY, name', 'name'],
  ['a part of the key', 'name TEXT, n INT, PRIMARY KEY (name, n)', 'name'],
  ['no number', 'id INTEGER PRIMARY KEY, name INTEGER UNIQUE', null],
  ['no bytes', 'id INTEGER PRIMARY KEY, name BLOB UNIQUE', null],
  ['no text that is not unique', 'id INTEGER PRIMARY KEY, a TEXT, b TEXT, UNIQUE (a, b)', null],
  ['not the whole key', 'name TEXT PRIMARY KEY, a TEXT', null]
] as const

t.test('the label field of an imported table is guessed', async (t) => {
  const { admin } = await start(t, GUESSES.map(([, columns], index) => `CREATE TABLE t${index} (${columns});`).join(''))
  for (const [index, [guess, , labelField]] of GUESSES.entries())
    t.equal((await importTable(admin, `t${index}`)).labelField, labelField, guess)
})

t.test('a guess is never a hidden field', async (t) => {
  const sql =
    'CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, title TEXT); CREATE VIEW v AS SELECT name, title FROM t'
  const { admin } = await start(t, sql)
  const body = { name: 't', fields: [{ name: 'name', isHidden: true }] }
  t.match(dataOf(await admin.post('/admin/tables/import', body)), { labelField: 'title' })
  t.match(await importTable(admin, 'v'), { labelField: 'title' }, 'nor one that shows a hidden field')
})

t.test('a table that is created gets a label field, which a restart keeps', async (t) => {
  const { admin, external, restart } = await start(t, '')
  const fields = [{ name: 'code', jsonType: 'string' }] as const
  const created = await createTable(admin, { name: 'a', fields: [{ name: 'n', jsonType: 'integer' }, ...fields] })
  t.equal(created.labelField, null)
  const unique = await createTable(admin, { name: 'b', fields: [{ ...fields[0], isUnique: true }] })
  t.equal(unique.labelField, 'code')
  external.exec('CREATE UNIQUE INDEX a_code ON a (code)')
  t.match(dataOf(await (await restart()).get('/admin/tables')), [{ labelField: null }, { labelField: 'code' }])
})

t.test('a table that an earlier version has registered gets a label field', async (t) => {
  const { admin, external, restart } = await start(t, 'CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)')
  const { id } = await importTable(admin, 't')
  const stored = () => external.prepare("SELECT choices ->> 'labelField' FROM _rowhouse_tables").pluck().get()
  external.exec("UPDATE _rowhouse_tables SET choices = json_remove(choices, '$.labelField')")
  const again = await restart()
  t.match(dataOf(await again.get(`/admin/tables/${id}`)), { labelField: 'name' })
  t.equal(stored(), null)
  await again.put(`/admin/tables/${id}`, { note: 'x' })
  t.equal(stored(), 'name', 'the next change stores it')
})

const PEOPLE = `CREATE TABLE people (
  id INTEGER PRIMARY KEY, name TEXT, nick TEXT, age INTEGER, tags JSON, photo BLOB, secret TEXT
)`

const startPeople = async (t: Test) => {
  const started = await start(t, PEOPLE)
  const { admin } = started
  const body = { name: 'people', fields: [{ name: 'secret', isHidden: true }] }
  const table = dataOf(await admin.post('/admin/tables/import', body)) as Table
  const put = (changes: object) => admin.put(`/admin/tables/${table.id}`, changes)
  return { ...started, table, put }
}

t.test('an administrator chooses the label field', async (t) => {
  const { app, admin, table, put, labelOf } = await startPeople(t)
  const token = await asToken(app, admin, { tables: ['people'], actions: ['read'] })
  for (const labelField of ['nick', 'age', 'id', null, 'name']) {
    t.match(dataOf(await put({ labelField })), { labelField })
    t.equal(await labelOf(table), labelField)
    t.match(dataOf(await token.get('/data/people/schema')), { labelField })
  }
  await admin.put(`/admin/tables/${table.id}/fields/tags`, { label: 'Tags' })
  t.equal(await labelOf(table), 'name', 'other changes keep it')
})

t.test('a field that cannot be the label field is refused', async (t) => {
  const { admin, table, put, labelOf } = await startPeople(t)
  const added = { field: { name: 'list', jsonType: 'array' } }
  await admin.post(`/admin/tables/${table.id}/fields`, added)
  const hiding = { fields: [{ name: 'nick', isHidden: true }], labelField: 'nick' }
  const cases = [
    [{ labelField: 'nam' }, /Did you mean 'name'/],
    [{ labelField: 'secret' }, /isHidden: false/],
    [hiding, /isHidden: false/],
    [{ labelField: 'list' }, /texts, numbers or booleans/],
    [{ labelField: 'photo' }, /texts, numbers or booleans/]
  ] as const
  for (const [body, hint] of cases) {
    const response = await put(body)
    expectError(t, response, 400, 'VALIDATION_FAILED', '/labelField')
    t.match(response.json().error.hint, hint)
  }
  expectError(t, await put({ labelField: 5 }), 400, 'VALIDATION_FAILED', '/labelField')
  t.equal(await labelOf(table), 'name')
  const showing = { fields: [{ name: 'secret', isHidden: false }], labelField: 'secret' }
  t.match(dataOf(await put(showing)), { labelField: 'secret' })
})

t.test('a hidden field is not the label field', async (t) => {
  const { app, admin, put, table, labelOf } = await startPeople(t)
  const token = await asToken(app, admin, { tables: ['people'], actions: ['read'] })
  await put({ labelField: 'nick' })
  t.match(dataOf(await put({ fields: [{ name: 'nick', isHidden: true }] })), { labelField: null })
  t.notMatch((await token.get('/data/people/schema')).body, 'nick')
  await put({ fields: [{ name: 'nick', isHidden: false }] })
  t.equal(await labelOf(table), 'nick')
  t.match((await token.get('/data/people/schema')).body, '"labelField":"nick"')
})

t.test('a field that becomes JSON is not the label field any more', async (t) => {
  const { admin } = await start(t, '')
  const fields = [{ name: 'name', jsonType: 'string' }] as const
  const { id, labelField } = await createTable(admin, { name: 'notes', fields: [...fields] })
  t.equal(labelField, 'name')
  const changed = await admin.put(`/admin/tables/${id}/fields/name`, { jsonType: 'array' })
  t.match(dataOf(changed), { labelField: null })
})

t.test('a field stays the label field when it is renamed, and not when it is dropped', async (t) => {
  const { admin, table, labelOf } = await startPeople(t)
  const field = (name: string) => `/admin/tables/${table.id}/fields/${name}`
  t.match(dataOf(await admin.put(field('name'), { name: 'full' })), { labelField: 'full' })
  t.match(dataOf(await admin.put(field('nick'), { name: 'name' })), { labelField: 'full' })
  t.match(dataOf(await admin.delete(`${field('age')}?confirm=true`)), { labelField: 'full' })
  t.match(dataOf(await admin.delete(`${field('full')}?confirm=true`)), { labelField: null })
  await admin.post(`/admin/tables/${table.id}/fields`, { field: { name: 'full', jsonType: 'string' } })
  t.equal(await labelOf(table), null, 'a new field of the name is another field')
})

t.test('a refresh keeps the label field while the field exists', async (t) => {
  const { admin, external, table } = await startPeople(t)
  const refresh = () => admin.post(`/admin/tables/${table.id}/refresh`)
  external.exec('ALTER TABLE people RENAME COLUMN name TO Name')
  t.match(dataOf(await refresh()), { labelField: 'Name' })
  external.exec('ALTER TABLE people DROP COLUMN Name')
  t.match(dataOf(await refresh()), { labelField: null })
  external.exec('ALTER TABLE people ADD COLUMN Name TEXT')
  t.match(dataOf(await refresh()), { labelField: null })
})

t.test('a view keeps its label field when a rename renames its column', async (t) => {
  const sql = 'CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); CREATE VIEW v AS SELECT * FROM t'
  const { admin, labelOf } = await start(t, sql)
  const table = await importTable(admin, 't')
  const view = await importTable(admin, 'v')
  await admin.put(`/admin/tables/${table.id}/fields/name`, { name: 'full' })
  t.equal(await labelOf(view), 'full')
  await admin.delete(`/admin/tables/${table.id}/fields/full?confirm=true`)
  t.equal(await labelOf(view), null)
})

t.test('a view without a label field gets none by a rename', async (t) => {
  const sql = 'CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); CREATE VIEW v AS SELECT * FROM t'
  const { admin, labelOf } = await start(t, sql)
  const table = await importTable(admin, 't')
  const view = await importTable(admin, 'v')
  await admin.put(`/admin/tables/${table.id}/fields/a`, { name: 'name' })
  t.equal(await labelOf(view), null)
})
