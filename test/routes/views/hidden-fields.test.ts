import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Table } from '../../../schemas/table.ts'
import { overloaded } from '../../../services/model/errors.ts'
import { asAdmin, asToken, createDatabase, dataOf, expectDone, expectError, startApp } from '../../helpers.ts'
import { onlyOnFile, openServed } from '../../served.ts'

const SECRET = 'pw-of-ann'

/** Views that may show `staff.password`, and for each its fields, those that do last. */
const SHOWING: Readonly<Record<string, readonly [sql: string, shown: readonly string[], hidden: readonly string[]]>> = {
  star: ['SELECT * FROM staff', ['id', 'name', 'boss'], ['password']],
  alias: ['SELECT id, "PASSWORD" AS p FROM Staff AS s', ['id'], ['p']],
  quoted: ["SELECT id, s.password FROM 'staff' AS s", ['id'], ['password']],
  computed: ["SELECT id, password || '' AS p, 1 AS one FROM staff", ['id'], ['p', 'one']],
  counted: ['SELECT name, max(password) AS p FROM staff GROUP BY name', ['name'], ['p']],
  compound: ['SELECT password AS a FROM staff UNION ALL SELECT name FROM staff', [], ['a']],
  last_arm: ['SELECT name AS a FROM staff EXCEPT SELECT password FROM staff', [], ['a']],
  of_view: ['SELECT boss, password AS p FROM star', ['boss'], ['p']],
  of_views: ['SELECT v.boss, v.p FROM (SELECT * FROM of_view) AS v', ['boss'], ['p']],
  of_compound: ['SELECT a AS b FROM compound', [], ['b']],
  cte: ['WITH c (i, x) AS (SELECT id, password FROM staff) SELECT i, x FROM c', ['i'], ['x']],
  scalar: [
    'SELECT n.id, (SELECT password FROM staff) AS p, (SELECT name FROM staff) AS o FROM notes AS n',
    ['id', 'o'],
    ['p']
  ],
  nested: [
    'SELECT id, (SELECT group_concat(s.x) FROM (SELECT password AS x FROM staff) AS s) AS p FROM notes',
    ['id'],
    ['p']
  ],
  exploded: [
    'SELECT n.id, j.value FROM notes AS n, json_each((SELECT json_group_array(password) FROM staff)) AS j',
    ['id'],
    ['value']
  ],
  indexed: ['SELECT id, trim(password) AS p FROM staff ORDER BY password', ['id'], ['p']],
  filled: ['VALUES ((SELECT password FROM staff)), ((SELECT name FROM staff))', [], ['column1']],
  found: ['SELECT rowid AS id, password AS p FROM staff_fts', [], ['id', 'p']],
  recursive: [
    'WITH RECURSIVE c (i, x) AS (SELECT 1, password FROM staff UNION SELECT i + 1, x FROM c WHERE i < 2) SELECT * FROM c',
    [],
    ['i', 'x']
  ]
}

const OTHER: Readonly<Record<string, string>> = {
  harmless: 'SELECT id, name, boss FROM staff',
  joined: 'SELECT n.id, s.name, n.text FROM notes AS n JOIN staff AS s ON s.id = n.staff',
  of_notes: 'SELECT id, upper(text) AS t FROM notes UNION ALL SELECT 0, count(*) FROM notes',
  named_like: 'SELECT id, text || 1 AS staff FROM notes'
}

const TABLES = `
  CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, boss INTEGER, password TEXT);
  CREATE INDEX staff_password ON staff (password, id);
  CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT, staff INTEGER REFERENCES staff (id));
  CREATE VIRTUAL TABLE staff_fts USING fts5 (password, content = 'staff', content_rowid = 'id');
  INSERT INTO staff VALUES (1, 'Ann', NULL, '${SECRET}');
  INSERT INTO notes VALUES (1, 'note', 1);`

const SCHEMA = `${TABLES}
  ${Object.entries(SHOWING)
    .map(([name, [sql]]) => `CREATE VIEW ${name} AS ${sql};`)
    .join('\n')}
  ${Object.entries(OTHER)
    .map(([name, sql]) => `CREATE VIEW ${name} AS ${sql};`)
    .join('\n')}`

const setup = async (t: Test, schema = SCHEMA) => {
  const file = createDatabase(t, schema)
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const token = await asToken(app, admin, { tables: ['*'], actions: ['read'] })
  const register = async (body: object) => dataOf(await admin.post('/admin/tables/import', body)) as Table
  const find = async (name: string) =>
    (dataOf(await admin.get('/admin/tables')) as Table[]).find((table) => table.name === name) as Table
  const change = async (name: string, ...fields: object[]) =>
    dataOf(await admin.put(`/admin/tables/${(await find(name)).id}`, { fields })) as Table
  const execute = (sql: string) => {
    openServed(t, file).exec(sql)
  }
  return { app, admin, token, register, find, change, execute }
}

const hide = (name: string) => ({ name, isHidden: true })
const show = (name: string) => ({ name, isHidden: false })
const hiddenOf = ({ fields }: Table) => fields.flatMap(({ name, isHidden }) => (isHidden ? [name] : []))
const visible = async (token: Awaited<ReturnType<typeof asToken>>, name: string) =>
  (dataOf(await token.get(`/data/${name}/schema`)) as Table).fields.map((field) => field.name)

t.test('a field that may show a hidden column is hidden, and the response says why', async (t) => {
  const { admin, token, register, find } = await setup(t)
  await register({ name: 'staff', fields: [hide('password')] })
  const views = dataOf(await admin.post('/admin/tables/import', { names: ['*'] })) as Table[]
  for (const [name, [, shown, hidden]] of Object.entries(SHOWING)) {
    const view = views.find((table) => table.name === name) as Table
    t.strictSame(hiddenOf(view), hidden, name)
    t.equal(view.warnings.length, hidden.length)
    for (const [index, field] of hidden.entries())
      t.match(view.warnings[index], new RegExp(`'${field}' is hidden.*'staff.password'`))
    t.strictSame((await find(name)).warnings, view.warnings)
    t.strictSame(await visible(token, name), shown, name)
    t.strictSame(dataOf(await token.get(`/data/${name}/schema`)).warnings, [])
    for (const field of hidden) {
      t.notMatch((await token.get(`/data/${name}`)).body, SECRET)
      expectError(t, await token.get(`/data/${name}?order=${field}`), 400, 'VALIDATION_FAILED')
      const query = (body: object) => token.post(`/data/${name}/query`, body)
      expectError(t, await query({ fields: [field] }), 400, 'VALIDATION_FAILED')
      expectError(t, await query({ filter: { fields: { [field]: SECRET } } }), 400, 'VALIDATION_FAILED')
      expectError(
        t,
        await token.post(`/data/${name}/aggregate`, { compute: { n: { max: field } } }),
        400,
        'VALIDATION_FAILED'
      )
    }
    if (shown.length > 0) t.strictSame(dataOf(await token.get(`/data/${name}?q=pw-of`)).rows, [], name)
  }
  t.notMatch((await token.get('/data/_openapi.json')).body, /"password"/)
  for (const name of ['star', 'compound']) t.notMatch((await token.get(`/data/${name}/export`)).body, SECRET)
  for (const name of Object.keys(OTHER)) {
    const view = views.find((table) => table.name === name) as Table
    t.strictSame([hiddenOf(view), view.warnings], [[], []], name)
  }
  t.equal((dataOf(await admin.get(`/admin/tables/${(await find('star')).id}/data`)).rows as object[]).length, 1)
})

t.test('a column that is hidden later is hidden in views, and shown again with the column', async (t) => {
  const { token, register, change, find } = await setup(t)
  const view = await register({ name: 'of_views' })
  t.strictSame(hiddenOf(view), [])
  t.equal(dataOf(await token.get('/data/of_views')).rows[0].p, SECRET)
  // The table is registered after the view.
  await register({ name: 'staff', fields: [hide('password')] })
  t.strictSame(await visible(token, 'of_views'), ['boss'])
  await change('staff', hide('boss'))
  t.strictSame(await visible(token, 'of_views'), [])
  await change('staff', show('boss'), show('password'))
  t.strictSame(await visible(token, 'of_views'), ['boss', 'p'])
  t.strictSame((await find('of_views')).warnings, [])
})

t.test('an administrator shows a field again, but no column that is hidden after that', async (t) => {
  const { token, register, change } = await setup(t)
  await register({ name: 'staff', fields: [hide('password')] })
  const imported = await register({ name: 'computed', fields: [show('p')] })
  t.strictSame(hiddenOf(imported), ['one'])
  t.equal(dataOf(await token.get('/data/computed')).rows[0].p, SECRET)
  await change('staff', hide('boss'))
  t.strictSame(await visible(token, 'computed'), ['id'])
  const shown = await change('computed', show('p'), show('one'))
  t.strictSame([hiddenOf(shown), shown.warnings], [[], []])
  t.strictSame(hiddenOf(await change('computed', hide('p'))), ['p'])
})

t.test('a hidden field of a view is hidden in the views over it', async (t) => {
  const { token, register, change } = await setup(t)
  for (const name of ['of_view', 'of_views', 'star', 'computed', 'of_compound', 'compound']) await register({ name })
  await change('star', hide('password'))
  t.strictSame(await visible(token, 'of_views'), ['boss'])
  t.strictSame(await visible(token, 'of_view'), ['boss'])
  t.strictSame(await visible(token, 'computed'), ['id', 'p', 'one'])
  await change('compound', hide('a'))
  t.strictSame(await visible(token, 'of_compound'), [])
})

t.test('renames and external changes update the hidden fields', async (t) => {
  const { admin, token, register, find, execute } = await setup(t, `${TABLES}; CREATE VIEW star AS SELECT * FROM staff`)
  await register({ name: 'staff', fields: [hide('password')] })
  await register({ name: 'star' })
  const { id } = await find('staff')
  t.equal((await admin.put(`/admin/tables/${id}`, { name: 'people' })).statusCode, 200)
  t.strictSame(await visible(token, 'star'), ['id', 'name', 'boss'])
  execute('DROP VIEW star; CREATE VIEW star AS SELECT id, password AS name FROM people')
  const view = await find('star')
  t.equal((await admin.post(`/admin/tables/${view.id}/refresh`)).statusCode, 200)
  t.strictSame(await visible(token, 'star'), ['id'])
  // Not registered, it may be the hidden column.
  execute('ALTER TABLE people RENAME COLUMN password TO boss2')
  t.equal((await admin.post(`/admin/tables/${view.id}/refresh`)).statusCode, 200)
  t.strictSame(await visible(token, 'star'), ['id'])
})

t.test('the fields stay hidden after the table is unregistered', async (t) => {
  const { admin, token, register, find } = await setup(t)
  await register({ name: 'staff', fields: [hide('password')] })
  await register({ name: 'star' })
  await register({ name: 'harmless' })
  expectDone(t, await admin.delete(`/admin/tables/${(await find('staff')).id}?confirm=true`))
  t.strictSame(await visible(token, 'star'), ['id', 'name', 'boss'])
  t.strictSame(await visible(token, 'harmless'), ['id', 'name', 'boss'])
})

t.test(
  'a view that changes while a table is unregistered',
  onlyOnFile('A service of a cluster reads what another one has changed before it changes anything.'),
  async (t) => {
    const { app, admin, register, execute, find } = await setup(t, `${TABLES}; CREATE VIEW star AS SELECT * FROM staff`)
    const { id } = await register({ name: 'staff', fields: [hide('password')] })
    await register({ name: 'star' })
    const unregister = () => admin.delete(`/admin/tables/${id}?confirm=true`)
    const { write } = app.database
    app.database.write = () => Promise.reject(overloaded('Full.', 1))
    expectError(t, await unregister(), 503, 'OVERLOADED')
    app.database.write = write
    execute("UPDATE _rowhouse_tables SET updated_at = updated_at + 1 WHERE name = 'star'")
    expectError(t, await unregister(), 409, 'TABLE_CHANGED')
    t.strictSame(hiddenOf(await find('star')), ['password'])
  }
)

t.test('all fields are hidden while the choices for a table cannot be read', async (t) => {
  const { admin, token, register, find, execute } = await setup(t)
  const { id } = await register({ name: 'staff', fields: [hide('password')] })
  for (const name of ['star', 'of_notes', 'compound']) await register({ name })
  execute(`UPDATE _rowhouse_tables SET choices = '{}' WHERE id = ${id}`)
  // The writer reports the commit of another program with its next batch.
  await register({ name: 'notes' })
  while ((await find('staff')).fields.length > 0) await pause(10)
  t.strictSame(await visible(token, 'star'), [])
  t.strictSame(await visible(token, 'compound'), [])
  t.strictSame(await visible(token, 'of_notes'), ['id', 't'])
  expectDone(t, await admin.delete(`/admin/tables/${id}?confirm=true`))
  t.strictSame(await visible(token, 'star'), [])
})

t.test('a warning names some of many columns', async (t) => {
  const { register } = await setup(
    t,
    `${TABLES}; CREATE VIEW v AS SELECT id || '' AS i FROM many;
    CREATE TABLE many (id INTEGER PRIMARY KEY, a, b, c, d)`
  )
  await register({ name: 'many', fields: ['a', 'b', 'c', 'd'].map(hide) })
  t.match((await register({ name: 'v' })).warnings, [/'many.a', 'many.b', 'many.c', 1 more/])
})

t.test('a hidden column is no key of a view', async (t) => {
  const { admin, token, register, change } = await setup(t)
  await register({ name: 'staff', fields: [hide('password')] })
  const keyed = { name: 'star', primaryKey: ['password'] }
  expectError(t, await admin.post('/admin/tables/import', keyed), 400, 'VALIDATION_FAILED', '/primaryKey/0')
  await register({ ...keyed, fields: [show('password')] })
  t.equal(dataOf(await token.get(`/data/star/records/${SECRET}`)).name, 'Ann')
  await register({ name: 'harmless', primaryKey: ['name'] })
  await change('staff', hide('name'))
  expectError(t, await token.get('/data/harmless'), 409, 'STRUCTURE_CHANGED')
})

t.test(
  'a generated field that may show a hidden column is hidden, and so are the fields of views that show it',
  async (t) => {
    const { token, register, change, find } = await setup(
      t,
      `CREATE TABLE people (
       id INTEGER PRIMARY KEY, name TEXT, "pass word" TEXT,
       'login' TEXT AS (name || ':' || "Pass Word") STORED, twice TEXT GENERATED ALWAYS AS (login || login), upper AS (upper(name)));
     CREATE VIEW logins AS SELECT id, login AS shown, upper FROM people;
     INSERT INTO people (name, "pass word") VALUES ('Ann', '${SECRET}');`
    )
    const people = await register({ name: 'people', fields: [hide('pass word')] })
    t.strictSame(hiddenOf(people), ['pass word', 'login', 'twice'])
    t.match(people.warnings, [/'login' is hidden: it is computed from 'people.pass word'/, /'twice' is hidden/])
    t.strictSame(hiddenOf(await register({ name: 'logins' })), ['shown'])
    t.strictSame(await visible(token, 'people'), ['id', 'name', 'upper'])
    for (const path of ['people', 'logins', 'people/export', 'people?q=pw-of'])
      t.notMatch((await token.get(`/data/${path}`)).body, SECRET, path)
    expectError(t, await token.get('/data/people?order=twice'), 400, 'VALIDATION_FAILED')

    t.strictSame(hiddenOf(await change('people', show('login'))), ['pass word', 'twice'], 'on request it is shown')
    t.match((await token.get('/data/people')).body, SECRET)
    t.strictSame(hiddenOf(await find('logins')), [])
    t.strictSame(hiddenOf(await change('people', show('pass word'))), [])
    t.strictSame(await visible(token, 'people'), ['id', 'name', 'pass word', 'login', 'twice', 'upper'])
  }
)
