import t, { type Test } from 'tap'
import type { Field, Table } from '../../../schemas/table.ts'
import {
  asAdmin,
  asToken,
  bearer,
  client,
  createDatabase,
  createTable,
  dataOf,
  expectDone,
  expectError,
  importTable,
  startApp
} from '../../helpers.ts'
import { onlyOnFile, openServed, ROWID_KEY } from '../../served.ts'

const SCHEMA = `
  CREATE TABLE owners (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, "first name" VARCHAR(20) DEFAULT ('a'), age INT DEFAULT -1 CHECK (age < 200), nick TEXT UNIQUE, UNIQUE (name));
  INSERT INTO owners (name, age) VALUES ('Ann', 30), ('Bob', 40), ('Gone', 50);
  DELETE FROM owners WHERE name = 'Gone';
  CREATE TABLE pets (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES owners ON DELETE CASCADE, name TEXT, weight, born DATE, initial TEXT AS (substr(name, 1, 1)));
  CREATE INDEX pets_by_name ON pets (name);
  CREATE INDEX pets_by_lower_name ON pets (lower(name));
  INSERT INTO pets (owner, name, weight) VALUES (1, 'Tom', 4), (2, 'Rex', 'much');
  CREATE VIEW pet_names AS SELECT name FROM pets;
  CREATE TABLE log (line TEXT);
  CREATE TRIGGER logged AFTER INSERT ON pets BEGIN INSERT INTO log VALUES (new.name); END;
  CREATE TABLE keyless (a TEXT, b TEXT DEFAULT 'x' NOT NULL);
  INSERT INTO keyless (rowid, a) VALUES (5, 'five'), (9, 'nine');
  CREATE TABLE without_rowid (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID;
  INSERT INTO without_rowid VALUES ('a', '1');
  CREATE TABLE named (k TEXT PRIMARY KEY, v, 'w' TEXT);
  INSERT INTO named (rowid, k, v) VALUES (7, 'seven', 1);
  CREATE TABLE lonely (id INTEGER PRIMARY KEY, a TEXT);
`

/** A fresh service on a file of another program. */
const start = async (t: Test, sql = SCHEMA) => {
  const file = createDatabase(t, sql)
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const db = openServed(t, file)
  const field = ({ id }: Pick<Table, 'id'>, name: string) => `/admin/tables/${id}/fields/${encodeURIComponent(name)}`
  return {
    app,
    admin,
    db,
    change: (table: Pick<Table, 'id'>, name: string, body: object) => admin.put(field(table, name), body),
    drop: (table: Pick<Table, 'id'>, name: string) => admin.delete(`${field(table, name)}?confirm=true`),
    dropTable: ({ id }: Pick<Table, 'id'>) => admin.delete(`/admin/tables/${id}?confirm=true&drop=true`),
    rename: ({ id }: Pick<Table, 'id'>, body: object) => admin.put(`/admin/tables/${id}`, body),
    records: async ({ id }: Pick<Table, 'id'>) => dataOf(await admin.get(`/admin/tables/${id}/data`)).rows,
    declaration: (name: string) => db.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(name),
    isIntact: () => db.pragma('integrity_check', { simple: true }) === 'ok'
  }
}

const fieldOf = ({ fields }: Table, name: string) => fields.find((field) => field.name === name) as Field

t.test('a table is renamed with everything that names it', async (t) => {
  const { admin, rename, records, declaration, db } = await start(t)
  const owners = await importTable(admin, 'owners')
  const pets = await importTable(admin, 'pets')
  const renamed = dataOf(await rename(owners, { name: 'people', label: 'People' }))
  t.match(renamed, { id: owners.id, name: 'people', label: 'People', clientName: 'Owners', tokens: [] })
  t.ok(renamed.updatedAt > owners.updatedAt)
  const { tokens: _, ...table } = renamed
  t.strictSame(dataOf(await admin.get(`/admin/tables/${owners.id}`)), table)
  t.strictSame(fieldOf(dataOf(await admin.get(`/admin/tables/${pets.id}`)), 'owner').references, {
    table: 'people',
    field: 'id'
  })
  t.equal((await records(owners)).length, 2)
  t.match(declaration('pets'), /REFERENCES "people"/)
  t.equal(db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'people'").pluck().get(), 3)
  dataOf(await rename(pets, { name: 'animals' }))
  t.match(declaration('pet_names'), /FROM "animals"/)
  t.match(declaration('logged'), /ON "animals"/)
  dataOf(await admin.post(`/admin/tables/${pets.id}/data`, { name: 'Kit' }))
  t.equal(db.prepare('SELECT line FROM log').pluck().get(), 'Kit')
})

t.test('a new table can get the old name', async (t) => {
  const { admin, rename, records } = await start(t, 'CREATE TABLE other (id INTEGER PRIMARY KEY)')
  const cats = await createTable(admin, { name: 'cats', fields: [{ name: 'a', jsonType: 'string', isUnique: true }] })
  dataOf(await admin.post(`/admin/tables/${cats.id}/data`, { a: 'x' }))
  t.equal((await records(cats)).length, 1)
  dataOf(await rename(cats, { name: 'dogs' }))
  const more = await createTable(admin, { name: 'cats', fields: [{ name: 'a', jsonType: 'string', isUnique: true }] })
  t.strictSame(await records(more), [])
  t.equal(dataOf(await admin.get(`/admin/tables/${more.id}/data`)).total, 0)
  t.equal(dataOf(await admin.get(`/admin/tables/${cats.id}/data`)).total, 1)
  const indexes = dataOf(await admin.get(`/admin/tables/${more.id}/indexes`))
  t.equal(indexes.length, 1)
})

t.test('a rename returns the tokens that name the table, and renames it in them on request', async (t) => {
  const { app, admin, rename } = await start(t)
  const owners = await importTable(admin, 'owners')
  const permissions = { tables: ['other', 'OWNERS'], actions: ['read'] }
  const issued = dataOf(await admin.post('/admin/tokens', { name: 'shop', permissions }))
  const everything = await asToken(app, admin)
  const token = client(app, bearer(issued.token))
  dataOf(await token.get('/data/owners'))

  const first = dataOf(await rename(owners, { name: 'clients' }))
  t.strictSame(first.tokens, [{ id: issued.id, name: 'shop' }])
  expectError(t, await token.get('/data/clients'), 403, 'ACTION_NOT_ALLOWED')
  expectError(t, await token.get('/data/owners'), 403, 'ACTION_NOT_ALLOWED')
  // It is still the client name.
  dataOf(await everything.get('/data/owners'))
  dataOf(await everything.get('/data/clients'))
  expectError(t, await rename(owners, { name: 'owners' }), 409, 'RIGHTS_CONFLICT', '/name')
  const tables = ['other', 'Clients', 'CLIENTS']
  dataOf(await admin.put(`/admin/tokens/${issued.id}`, { permissions: { ...permissions, tables } }))
  dataOf(await token.get('/data/clients'))

  const second = dataOf(await rename(owners, { name: 'people', updateTokens: true }))
  t.strictSame(second.tokens, [{ id: issued.id, name: 'shop' }])
  dataOf(await token.get('/data/people'))
  const listed = dataOf(await admin.get('/admin/tokens')).find(({ id }: { id: number }) => id === issued.id)
  t.strictSame(listed.permissions, { tables: ['other', 'people'], actions: ['read'] })
  t.strictSame(dataOf(await rename(owners, { name: 'nobody_names_it', updateTokens: true })).tokens, [
    { id: issued.id, name: 'shop' }
  ])
  t.strictSame(dataOf(await rename(owners, { name: 'last', updateTokens: false })).tokens.length, 1)
})

t.test('only the case of a name can change, too', async (t) => {
  const { admin, rename, records } = await start(t)
  const owners = await importTable(admin, 'owners')
  t.equal(dataOf(await rename(owners, { name: 'Owners' })).name, 'Owners')
  t.equal(dataOf(await rename(owners, { name: 'Owners', label: 'same' })).label, 'same')
  t.equal((await records(owners)).length, 2)
})

t.test('a rename needs a free name and a table, also in a file with a broken view', async (t) => {
  const { admin, rename, db } = await start(t)
  const owners = await importTable(admin, 'owners')
  const view = await importTable(admin, 'pet_names')
  await importTable(admin, 'log')
  expectError(t, await rename(owners, { name: 'log' }), 409, 'TABLE_REGISTERED')
  expectError(t, await rename(owners, { name: 'pets' }), 409, 'TABLE_EXISTS')
  expectError(t, await rename(owners, { name: 'pets_by_name' }), 409, 'TABLE_EXISTS')
  expectError(t, await rename(owners, { name: 'sqlite_a' }), 400, 'VALIDATION_FAILED', '/name')
  expectError(t, await rename(owners, { name: 'a b' }), 400, 'VALIDATION_FAILED', '/name')
  expectError(t, await rename(owners, { updateTokens: true }), 400, 'VALIDATION_FAILED', '/updateTokens')
  expectError(t, await rename(view, { name: 'names' }), 403, 'TABLE_READ_ONLY')
  db.exec('CREATE VIEW broken AS SELECT * FROM missing')
  dataOf(await rename(owners, { name: 'people' }))
  db.exec('DROP TABLE people')
  expectError(t, await rename(owners, { name: 'owners' }), 409, 'STRUCTURE_CHANGED')
})

t.test('a search index is kept after a table and a field are renamed', async (t) => {
  const { admin, rename, change, drop } = await start(t)
  const fields = [{ name: 'a', jsonType: 'string' } as const, { name: 'n', jsonType: 'integer' } as const]
  const table = await createTable(admin, { name: 'notes', fields })
  const data = `/admin/tables/${table.id}/data`
  const search = async (q: string) => dataOf(await admin.get(`${data}?q=${q}`)).total
  const state = async () => dataOf(await admin.get(`/admin/tables/${table.id}`)).searchIndex.state
  const isReady = async () => {
    while ((await state()) === 'building') await new Promise((resolve) => setTimeout(resolve, 5))
    t.equal(await state(), 'ready')
  }
  dataOf(await admin.post(data, { a: 'first', n: 12345 }))
  dataOf(await rename(table, { searchIndex: true, name: 'remarks' }))
  await isReady()
  t.equal(await search('firs'), 1)
  dataOf(await change(table, 'a', { name: 'text' }))
  t.equal(await state(), 'ready')
  dataOf(await change(table, 'text', { defaultValue: 'default' }))
  t.equal(await state(), 'ready')
  dataOf(await admin.post(data, { n: 1 }))
  t.equal(await search('efaul'), 1)
  dataOf(await change(table, 'n', { jsonType: 'string', name: 'm' }))
  await isReady()
  t.equal(await search('2345'), 1)
  dataOf(await drop(table, 'text'))
  await isReady()
  t.equal(await search('2345'), 1)
  t.equal(await search('efaul'), 0)
  dataOf(await change(table, 'm', { jsonType: 'integer' }))
  t.equal(await state(), 'off', 'no text is left')
})

t.test('a label that is a copy of the name follows a rename', async (t) => {
  const { admin, rename, change } = await start(t)
  const fields = [{ name: 'name', jsonType: 'string' }] as const
  const table = dataOf(await admin.post('/admin/tables', { name: 'cats', fields })) as Table
  t.match(dataOf(await rename(table, { name: 'dogs' })), { name: 'dogs', label: 'dogs' })
  t.match(dataOf(await rename(table, { name: 'birds', label: 'dogs' })), { name: 'birds', label: 'dogs' })
  t.match(dataOf(await rename(table, { name: 'fish' })), { name: 'fish', label: 'dogs' }, 'it is no copy any more')
  const renamed = dataOf(await change(table, 'name', { name: 'title' })) as Table
  t.match(fieldOf(renamed, 'title'), { label: 'title' })
  dataOf(await change(table, 'title', { label: 'Title' }))
  const again = dataOf(await change(table, 'title', { name: 'heading' })) as Table
  t.match(fieldOf(again, 'heading'), { label: 'Title' })
})

t.test('a field is renamed with everything that names it', async (t) => {
  const { app, admin, change, declaration, records } = await start(t)
  const pets = await importTable(admin, 'pets')
  const owners = await importTable(admin, 'owners')
  const clientName = fieldOf(pets, 'name').clientName
  const renamed = dataOf(await change(pets, 'name', { name: 'title', label: 'Title' })) as Table
  t.match(fieldOf(renamed, 'title'), { label: 'Title', clientName, isIndexed: true })
  t.strictSame(
    renamed.fields.map(({ name }) => name),
    ['id', 'owner', 'title', 'weight', 'born', 'initial']
  )
  t.match(declaration('pets_by_name'), /title/)
  t.match(await records(pets), [{ title: 'Tom', initial: 'T' }, { title: 'Rex' }])
  const key = dataOf(await change(owners, 'id', { name: 'number' })) as Table
  t.equal(key.primaryKey, 'number')
  t.match(fieldOf(dataOf(await admin.get(`/admin/tables/${pets.id}`)), 'owner').references, { field: 'number' })
  const token = await asToken(app, admin)
  t.match(dataOf(await token.get('/data/owners/records/1')), { number: 1 })
  dataOf(await change(owners, 'age', { name: 'AGE' }))
  dataOf(await change(owners, 'first name', { label: 'First' }))
})

t.test('the name of a field must be free and valid', async (t) => {
  const { admin, change } = await start(t)
  const pets = await importTable(admin, 'pets')
  const view = await importTable(admin, 'pet_names')
  const timed = await createTable(admin, {
    name: 'timed',
    autoTimestamps: true,
    fields: [{ name: 'a', jsonType: 'string' }]
  })
  expectError(t, await change(pets, 'name', { name: 'Owner' }), 409, 'FIELD_EXISTS')
  expectError(t, await change(pets, 'name', { name: 'sqlite_a' }), 400, 'VALIDATION_FAILED', '/name')
  expectError(t, await change(pets, 'name', { name: 'a b' }), 400, 'VALIDATION_FAILED', '/name')
  expectError(t, await change(pets, 'nam', { name: 'a' }), 404, 'FIELD_NOT_FOUND')
  expectError(t, await change(pets, 'name', {}), 400, 'VALIDATION_FAILED')
  expectError(t, await change(view, 'name', { name: 'a' }), 403, 'TABLE_READ_ONLY')
  const refused = await change(timed, 'created_at', { name: 'a' })
  expectError(t, refused, 409, 'STRUCTURE_IN_USE')
  t.match(refused.json().error, {
    message: "'created_at' is a timestamp that Rowhouse fills (autoTimestamps). Only its label can change.",
    hint: 'To change it, drop the other timestamp first: this switches autoTimestamps off.'
  })
  expectError(t, await change({ id: 999 }, 'name', { name: 'a' }), 404, 'TABLE_NOT_FOUND')
  t.equal(fieldOf(dataOf(await change(view, 'name', { label: 'Name' })), 'name').label, 'Name')
})

t.test('a field is dropped with its own indexes', async (t) => {
  const { admin, drop, records, isIntact } = await start(t)
  const owners = await importTable(admin, 'owners')
  const fields = [
    { name: 'a', jsonType: 'string', isUnique: true } as const,
    { name: 'b', jsonType: 'string' } as const
  ]
  const table = await createTable(admin, { name: 'made', fields, autoTimestamps: true })
  dataOf(await admin.post(`/admin/tables/${table.id}/data`, { a: 'x', b: 'y' }))
  const dropped = dataOf(await drop(table, 'a')) as Table
  t.strictSame(
    dropped.fields.map(({ name }) => name),
    ['id', 'b', 'created_at', 'updated_at']
  )
  t.match(await records(table), [{ id: 1, b: 'y' }])
  t.notOk('a' in (await records(table))[0])
  dataOf(await drop(table, 'updated_at'))
  dataOf(await admin.put(`/admin/tables/${table.id}/data/1`, { b: 'z' }))
  dataOf(await drop(owners, 'age'))
  t.ok(isIntact())

  const unconfirmed = await admin.delete(`/admin/tables/${table.id}/fields/b`)
  expectError(t, unconfirmed, 400, 'CONFIRMATION_REQUIRED')
  t.match(unconfirmed.json().error.message, /has 1 row\./)
  expectError(t, await drop(table, 'nothing'), 404, 'FIELD_NOT_FOUND')
  expectError(t, await drop({ id: 999 }, 'nothing'), 404, 'TABLE_NOT_FOUND')
})

t.test('a field that something needs is not dropped', async (t) => {
  const { admin, drop, db } = await start(t)
  const pets = await importTable(admin, 'pets')
  const owners = await importTable(admin, 'owners')
  const view = await importTable(admin, 'pet_names')
  const refused = async (table: Table, name: string, message: RegExp) => {
    const response = await drop(table, name)
    expectError(t, response, 409, 'STRUCTURE_IN_USE')
    t.match(response.json().error.message, message)
  }
  await refused(pets, 'id', /is the key/)
  await refused(owners, 'nick', /as its key or as unique/)
  await refused(owners, 'name', /table 'owners'/)
  await refused(pets, 'name', /table 'pets'/)
  db.exec('CREATE INDEX pets_by_birth ON pets (born); CREATE VIEW weights AS SELECT weight FROM pets')
  await refused(pets, 'born', /index 'pets_by_birth'/)
  await refused(pets, 'weight', /view 'weights'/)
  db.exec('CREATE TABLE friends (id INTEGER PRIMARY KEY, pet TEXT REFERENCES pets (name))')
  await refused(pets, 'name', /table 'pets'/)
  expectError(t, await drop(view, 'name'), 403, 'TABLE_READ_ONLY')
  db.exec('DROP TABLE friends; DROP VIEW weights; DROP TABLE pets')
  expectError(t, await drop(pets, 'weight'), 409, 'STRUCTURE_CHANGED')
})

t.test('a table is dropped with its rows and indexes', async (t) => {
  const { admin, dropTable, declaration, db } = await start(t)
  const lonely = await importTable(admin, 'lonely')
  dataOf(await admin.post(`/admin/tables/${lonely.id}/data`, { a: 'x' }))
  dataOf(await admin.put(`/admin/tables/${lonely.id}`, { searchIndex: true }))
  const unconfirmed = await admin.delete(`/admin/tables/${lonely.id}?drop=true`)
  expectError(t, unconfirmed, 400, 'CONFIRMATION_REQUIRED')
  t.match(unconfirmed.json().error.message, /has 1 row\. Dropping it/)
  expectDone(t, await dropTable(lonely))
  t.equal(declaration('lonely'), undefined)
  t.equal(db.prepare("SELECT count(*) FROM sqlite_schema WHERE name LIKE '_rowhouse_search%'").pluck().get(), 0)
  expectError(t, await admin.get(`/admin/tables/${lonely.id}`), 404, 'TABLE_NOT_FOUND')
  expectError(t, await dropTable(lonely), 404, 'TABLE_NOT_FOUND')
  const again = await createTable(admin, { name: 'lonely', fields: [{ name: 'a', jsonType: 'string' }] })
  t.equal(dataOf(await admin.get(`/admin/tables/${again.id}/data`)).total, 0)
})

t.test('a table that refers to itself is dropped, and its children keep their rows until it can be', async (t) => {
  const { admin, dropTable, db } = await start(
    t,
    `CREATE TABLE nodes (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES nodes ON DELETE RESTRICT);
     INSERT INTO nodes VALUES (1, NULL), (2, 1);
     CREATE TABLE leaves (id INTEGER PRIMARY KEY, node INTEGER REFERENCES nodes ON DELETE CASCADE);
     INSERT INTO leaves VALUES (1, 2)`
  )
  const nodes = await importTable(admin, 'nodes')
  const leaves = await importTable(admin, 'leaves')
  const refused = await dropTable(nodes)
  expectError(t, refused, 409, 'STRUCTURE_IN_USE')
  t.match(refused.json().error.message, /table 'leaves'/)
  t.equal(db.prepare('SELECT count(*) FROM leaves').pluck().get(), 1)
  expectDone(t, await dropTable(leaves))
  expectDone(t, await dropTable(nodes))
})

t.test('a table that a view or a trigger reads is not dropped', async (t) => {
  const { admin, dropTable, db } = await start(
    t,
    `${SCHEMA} CREATE VIEW already_broken AS SELECT pets.nope FROM pets;
     CREATE VIEW named_only AS SELECT a AS without_rowid FROM lonely`
  )
  const view = await importTable(admin, 'pet_names')
  const refused = async (name: string, message: RegExp) => {
    const response = await dropTable(await importTable(admin, name))
    expectError(t, response, 409, 'STRUCTURE_IN_USE')
    t.match(response.json().error.message, message)
  }
  await refused('pets', /view 'pet_names'/)
  await refused('log', /trigger 'logged'/)
  expectError(t, await dropTable(view), 403, 'TABLE_READ_ONLY')
  expectDone(t, await dropTable(await importTable(admin, 'without_rowid')))
  const lonely = await importTable(admin, 'keyless')
  db.exec('DROP TABLE keyless')
  expectError(t, await dropTable(lonely), 409, 'STRUCTURE_CHANGED')
})

t.test('a default is changed, and the table stays as it was', async (t) => {
  const { admin, change, declaration, db, isIntact, records } = await start(t)
  const owners = await importTable(admin, 'owners')
  const pets = await importTable(admin, 'pets')
  const before = await records(owners)
  const changed = dataOf(await change(owners, 'age', { defaultValue: 18 })) as Table
  t.match(fieldOf(changed, 'age'), { defaultValue: 18, maximum: 199 })
  t.equal(
    declaration('owners'),
    'CREATE TABLE owners (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, "first name" VARCHAR(20) DEFAULT (\'a\'), age INT DEFAULT 18 CHECK (age < 200), nick TEXT UNIQUE, UNIQUE (name))'
  )
  dataOf(await change(owners, 'first name', { defaultValue: 'x', name: 'given' }))
  t.match(declaration('owners'), /"given" VARCHAR\(20\) DEFAULT 'x', age/)
  dataOf(await change(owners, 'given', { defaultValue: null }))
  t.match(declaration('owners'), /"given" VARCHAR\(20\), age/)
  t.strictSame(
    (await records(owners)).map(({ given, ...row }: Record<string, unknown>) => ({ ...row, 'first name': given }))
      .length,
    before.length
  )
  t.match(dataOf(await admin.post(`/admin/tables/${owners.id}/data`, { name: 'Eve' })), { id: 4, age: 18, given: null })
  t.match(declaration('pets'), /REFERENCES owners ON DELETE CASCADE/)
  t.equal((await records(pets)).length, 2, 'no cascade')
  dataOf(await change(pets, 'name', { defaultValue: 'nameless' }))
  for (const name of ['pets_by_name', 'pets_by_lower_name', 'logged', 'pet_names']) t.ok(declaration(name), name)
  dataOf(await admin.post(`/admin/tables/${pets.id}/data`, { owner: 1 }))
  t.equal(db.prepare('SELECT line FROM log').pluck().get(), 'nameless')
  expectError(t, await admin.post(`/admin/tables/${pets.id}/data`, { owner: 99 }), 409, 'FOREIGN_KEY_VIOLATION')
  dataOf(await admin.delete(`/admin/tables/${owners.id}/data/1`))
  t.equal((await records(pets)).length, 1, 'the cascade works again')
  t.ok(isIntact())
  t.strictSame(db.pragma('foreign_key_check'), [])
})

t.test('rowids that are no field are kept', onlyOnFile(ROWID_KEY), async (t) => {
  const { admin, change, records } = await start(t)
  const keyless = await importTable(admin, 'keyless')
  dataOf(await change(keyless, 'b', { defaultValue: 'y' }))
  t.strictSame(await records(keyless), [
    { rowid: 5, a: 'five', b: 'x' },
    { rowid: 9, a: 'nine', b: 'x' }
  ])
})

t.test('rowids, WITHOUT ROWID and STRICT are kept', async (t) => {
  const { admin, change, declaration, records, db } = await start(t)
  const without = await importTable(admin, 'without_rowid')
  const made = await createTable(admin, { name: 'made', fields: [{ name: 'a', jsonType: 'string' }] })
  dataOf(await change(without, 'v', { jsonType: 'integer' }))
  t.match(declaration('without_rowid'), /WITHOUT ROWID$/)
  t.strictSame(await records(without), [{ k: 'a', v: 1 }])
  dataOf(await change(made, 'a', { defaultValue: 'z' }))
  t.match(declaration('made'), /AUTOINCREMENT.*STRICT$/)
  const named = await importTable(admin, 'named')
  dataOf(await change(named, 'v', { jsonType: 'integer', defaultValue: -3 }))
  dataOf(await change(named, 'w', { defaultValue: "it's" }))
  t.match(declaration('named'), /v INTEGER DEFAULT -3, 'w' TEXT DEFAULT 'it''s'\)$/)
  dataOf(await change(named, 'v', { defaultValue: null }))
  t.match(declaration('named'), /v INTEGER, 'w'/)
  t.strictSame(db.prepare('SELECT rowid, v FROM named').all(), [{ rowid: 7, v: 1 }])
})

t.test('a new name together with a new default is updated everywhere, too', async (t) => {
  const { admin, change, declaration } = await start(
    t,
    `${SCHEMA} CREATE TABLE friends (id INTEGER PRIMARY KEY, nick TEXT REFERENCES owners (nick));
     CREATE VIEW nicks AS SELECT nick FROM owners;
     CREATE TRIGGER nicknamed AFTER INSERT ON log BEGIN UPDATE owners SET nick = new.line; END;`
  )
  const owners = await importTable(admin, 'owners')
  dataOf(await change(owners, 'nick', { name: 'alias', defaultValue: 'x' }))
  t.match(declaration('owners'), /alias TEXT DEFAULT 'x' UNIQUE|"alias" TEXT DEFAULT 'x' UNIQUE/)
  t.match(declaration('friends'), /REFERENCES owners \("?alias"?\)/)
  t.match(declaration('nicks'), /SELECT "?alias"? FROM owners/)
  t.match(declaration('nicknamed'), /SET "?alias"? = new/)
})

t.test('a default must be a value of the field', async (t) => {
  const { admin, change } = await start(t)
  const fields = [
    { name: 'n', jsonType: 'integer', check: { minimum: 1 } } as const,
    { name: 'd', jsonType: 'integer', defaultValue: 5 } as const,
    { name: 'big', jsonType: 'integer' } as const
  ]
  const table = await createTable(admin, { name: 'made', fields })
  expectError(t, await change(table, 'n', { defaultValue: 'x' }), 400, 'VALIDATION_FAILED', '/defaultValue')
  expectError(t, await change(table, 'n', { defaultValue: 0 }), 400, 'VALIDATION_FAILED', '/defaultValue')
  t.equal(fieldOf(dataOf(await change(table, 'n', { defaultValue: 1 })), 'n').defaultValue, 1)
  expectError(t, await change(table, 'd', { jsonType: 'string' }), 400, 'VALIDATION_FAILED', '/defaultValue')
  t.match(fieldOf(dataOf(await change(table, 'd', { jsonType: 'string', defaultValue: '6' })), 'd'), {
    jsonType: 'string',
    defaultValue: '6'
  })
  const same = dataOf(await change(table, 'd', { defaultValue: '6', jsonType: 'string', nullable: true, name: 'd' }))
  t.match(fieldOf(same, 'd'), { defaultValue: '6' })
  t.match(fieldOf(dataOf(await change(table, 'd', { jsonType: 'integer', defaultValue: null })), 'd'), {
    jsonType: 'integer',
    defaultValue: null
  })
  t.match(fieldOf(dataOf(await change(table, 'big', { defaultValue: '9007199254740993' })), 'big'), {
    defaultValue: '9007199254740993'
  })
})

t.test('a field becomes required, and optional again', async (t) => {
  const { admin, change } = await start(t)
  const pets = await importTable(admin, 'pets')
  t.match(fieldOf(dataOf(await change(pets, 'weight', { nullable: false })), 'weight'), {
    nullable: false,
    isRequired: true
  })
  expectError(t, await admin.post(`/admin/tables/${pets.id}/data`, { weight: null }), 400, 'VALIDATION_FAILED')
  t.match(fieldOf(dataOf(await change(pets, 'weight', { nullable: true })), 'weight'), { nullable: true })
  dataOf(await admin.post(`/admin/tables/${pets.id}/data`, { id: 7, owner: 1 }))
  const refused = await change(pets, 'weight', { nullable: false })
  expectError(t, refused, 409, 'VALUES_DO_NOT_FIT', '/nullable')
  t.match(refused.json().error.message, /record with id = 7 has NULL in 'weight'/)
})

t.test('a type is changed where every value fits it', async (t) => {
  const { admin, change, records, declaration } = await start(t)
  const fields = [{ name: 'v', jsonType: 'string', isIndexed: true } as const]
  const table = await createTable(admin, { name: 'made', fields })
  const data = `/admin/tables/${table.id}/data`
  dataOf(await admin.post(data, { v: '12' }))
  dataOf(await admin.post(data, { v: null }))
  const values = async () => (await records(table)).map(({ v }: { v: unknown }) => v)
  const become = async (jsonType: string, expected: readonly unknown[]) => {
    const field = fieldOf(dataOf(await change(table, 'v', { jsonType })), 'v')
    t.match(field, { jsonType, isExact: true, isIndexed: true })
    t.strictSame(await values(), expected, jsonType)
  }
  const refuse = async (jsonType: string, message: RegExp) => {
    const refused = await change(table, 'v', { jsonType })
    expectError(t, refused, 409, 'VALUES_DO_NOT_FIT', '/jsonType')
    t.match(refused.json().error.message, message)
  }
  await refuse('object', /record with id = 1 has '12' in 'v', which does not fit the type object/)
  await become('integer', [12, null])
  await refuse('boolean', /has 12/)
  await become('number', [12, null])
  t.match(declaration('made'), /"v" REAL\) STRICT/)
  await become('string', ['12.0', null])
  await refuse('integer', /has '12.0'/)
  await become('number', [12, null])
  dataOf(await admin.put(`${data}/1`, { v: 0.5 }))
  await refuse('integer', /has 0.5/)
  dataOf(await admin.put(`${data}/1`, { v: 1 }))
  await become('integer', [1, null])
  await become('boolean', [true, null])
  await become('integer', [1, null])
  dataOf(await admin.put(`${data}/1`, { v: '9007199254740993' }))
  await refuse('number', /9007199254740993/)
  await become('string', ['9007199254740993', null])
  await refuse('number', /9007199254740993/)
  dataOf(await admin.put(`${data}/1`, { v: 'abc' }))
  await refuse('number', /abc/)
  dataOf(await admin.put(`${data}/1`, { v: '{"a":1}' }))
  await refuse('array', /a/)
  await become('object', [{ a: 1 }, null])
})

t.test('a type that another declaration depends on is not changed', async (t) => {
  const { admin, change, db } = await start(t)
  const owners = await importTable(admin, 'owners')
  const pets = await importTable(admin, 'pets')
  const refused = async (table: Table, name: string, body: object, message: RegExp) => {
    const response = await change(table, name, body)
    expectError(t, response, 409, 'STRUCTURE_IN_USE')
    t.match(response.json().error.message, message)
  }
  await refused(owners, 'id', { jsonType: 'number' }, /is the key/)
  await refused(owners, 'age', { jsonType: 'string', defaultValue: null }, /The CHECK 'age < 200' names 'age'/)
  await refused(pets, 'owner', { jsonType: 'string' }, /part of a foreign key/)
  await refused(pets, 'initial', { defaultValue: 'a' }, /generated/)
  db.exec('CREATE TABLE friends (id INTEGER PRIMARY KEY, nick TEXT REFERENCES owners (nick))')
  await refused(owners, 'nick', { jsonType: 'integer' }, /'friends.nick' refers to 'nick'/)
})

t.test('a type is not changed while an expression, a trigger or a view names the field', async (t) => {
  const { admin, change, db, records } = await start(
    t,
    `CREATE TABLE items (id INTEGER PRIMARY KEY, n INTEGER, m INTEGER);
     CREATE INDEX items_by_n ON items (n);
     INSERT INTO items VALUES (1, 12, 5);
     CREATE TABLE log (line TEXT, n TEXT);
     CREATE VIEW lines AS SELECT line, n FROM log;`
  )
  const items = await importTable(admin, 'items')
  const dependents = [
    [
      'ALTER TABLE items ADD COLUMN "twice" AS ("N" * 2)',
      'ALTER TABLE items DROP COLUMN twice',
      "generated column 'twice'"
    ],
    ['CREATE UNIQUE INDEX large ON items (m) WHERE n > 5', 'DROP INDEX large', "index 'large'"],
    ['CREATE INDEX doubled ON items (n * 2)', 'DROP INDEX doubled', "index 'doubled'"],
    [
      'CREATE TRIGGER logged AFTER UPDATE ON items WHEN new.n > 5 BEGIN INSERT INTO log (line) VALUES (1); END',
      'DROP TRIGGER logged',
      "trigger 'logged'"
    ],
    [
      'CREATE TRIGGER noted AFTER INSERT ON log BEGIN UPDATE items SET m = 1 WHERE n > 5; END',
      'DROP TRIGGER noted',
      "trigger 'noted'"
    ],
    ['CREATE VIEW large AS SELECT id FROM items WHERE [n] > 5', 'DROP VIEW large', "view 'large'"],
    [
      'CREATE VIEW outer_items AS SELECT n FROM all_items; CREATE VIEW all_items AS SELECT * FROM items',
      'DROP VIEW outer_items; DROP VIEW all_items',
      "view 'outer_items'"
    ]
  ] as const
  for (const [create, drop, user] of dependents) {
    db.exec(create)
    const refused = await change(items, 'n', { jsonType: 'string' })
    expectError(t, refused, 409, 'STRUCTURE_IN_USE')
    t.equal(refused.json().error.message, `The ${user} names 'n', so its type cannot change.`)
    dataOf(await change(items, 'n', { defaultValue: 7 }))
    dataOf(await change(items, 'n', { defaultValue: null }))
    db.exec(drop)
  }
  dataOf(await admin.post(`/admin/tables/${items.id}/refresh`))
  dataOf(await change(items, 'n', { jsonType: 'string' }))
  t.strictSame(await records(items), [{ id: 1, n: '12', m: 5 }])
})

t.test('a table that has text in double quotes is named if it prevents a rename', async (t) => {
  const { admin, change, rename, drop, db } = await start(
    t,
    'CREATE TABLE dogs (id INTEGER PRIMARY KEY, v TEXT, w TEXT)'
  )
  const dogs = await importTable(admin, 'dogs')
  // Other programs can create such a table: their SQLite accepts it.
  const quoted = (quote: string) => {
    const sql = `CREATE TABLE cats (id INTEGER PRIMARY KEY, v TEXT CHECK (v <> ${quote}none${quote}))`
    db.unsafeMode().pragma('writable_schema = ON')
    db.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'cats'").run(sql)
    db.pragma('writable_schema = RESET')
  }
  db.exec('CREATE TABLE cats (id INTEGER PRIMARY KEY, v TEXT)')
  quoted('"')
  for (const refused of [
    await rename(dogs, { name: 'wolves' }),
    await change(dogs, 'v', { name: 'x' }),
    await drop(dogs, 'w')
  ]) {
    expectError(t, refused, 409, 'STRUCTURE_IN_USE')
    t.match(refused.json().error, {
      message: `The table 'cats' prevents the change: it has the text "none" in double quotes, which are for names.`,
      hint: /single quotes/
    })
  }
  quoted("'")
  dataOf(await rename(dogs, { name: 'wolves' }))
})

t.test('a field that is renamed and dropped concurrently is not found by one of the requests', async (t) => {
  const { admin, change, drop, rename } = await start(t)
  const fields = ['b', 'c'].map((name) => ({ name, jsonType: 'string' as const }))
  for (const [index, renameFirst] of [true, false].entries()) {
    const table = await createTable(admin, { name: `made_${index}`, fields })
    const requests = [() => change(table, 'b', { name: 'd' }), () => drop(table, 'b')]
    const responses = await Promise.all((renameFirst ? requests : requests.reverse()).map((send) => send()))
    const failed = responses.find(({ statusCode }) => statusCode !== 200)
    t.ok(failed && responses.some(({ statusCode }) => statusCode === 200))
    if (failed) expectError(t, failed, 404, 'FIELD_NOT_FOUND')
    const both = await Promise.all([rename(table, { name: `renamed_${index}` }), drop(table, 'c')])
    t.strictSame(both.map(dataOf).length, 2)
  }
})

t.test('a table that takes the name of a dropped one concurrently stays', async (t) => {
  const { app, admin, dropTable, rename, declaration } = await start(t)
  const table = await createTable(admin, { name: 'made', fields: [{ name: 'a', jsonType: 'string' }] })
  const { write } = app.database
  t.teardown(() => Object.assign(app.database, { write }))
  Object.assign(app.database, {
    write: async (unit: Parameters<typeof write>[0]) => {
      Object.assign(app.database, { write })
      dataOf(await rename(table, { name: 'renamed' }))
      await createTable(admin, { name: 'made', fields: [{ name: 'b', jsonType: 'string' }] })
      return write(unit)
    }
  })
  expectError(t, await dropTable(table), 409, 'TABLE_CHANGED')
  t.match(declaration('made'), /"b"/)
  expectDone(t, await dropTable(table))
  t.strictSame([declaration('renamed'), typeof declaration('made')], [undefined, 'string'])
})

t.test('values that are the same after the conversion are refused', async (t) => {
  const { admin, change, records, isIntact } = await start(t)
  const table = await createTable(admin, { name: 'made', fields: [{ name: 'v', jsonType: 'string', isUnique: true }] })
  for (const v of ['1', '1.0']) dataOf(await admin.post(`/admin/tables/${table.id}/data`, { v }))
  expectError(t, await change(table, 'v', { jsonType: 'number' }), 409, 'VALUES_DO_NOT_FIT')
  t.match(await records(table), [{ v: '1' }, { v: '1.0' }])
  t.ok(isIntact())
})

t.test('a large table is not rewritten', async (t) => {
  const { admin, change, drop } = await start(
    t,
    `CREATE TABLE wide (id INTEGER PRIMARY KEY, a TEXT, b BLOB);
     INSERT INTO wide (b) VALUES (zeroblob(70000000))`
  )
  const wide = await importTable(admin, 'wide')
  expectError(t, await change(wide, 'a', { defaultValue: 'x' }), 409, 'TABLE_TOO_LARGE')
  expectError(t, await drop(wide, 'b'), 409, 'TABLE_TOO_LARGE')
  dataOf(await change(wide, 'a', { name: 'c' }))
})
