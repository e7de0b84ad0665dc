import t from 'tap'
import type { ImportableTable } from '../../../schemas/adoption.ts'
import type { ErrorCode } from '../../../schemas/error.ts'
import type { NewField } from '../../../schemas/new-table.ts'
import type { Table } from '../../../schemas/table.ts'
import {
  asAdmin,
  asToken,
  createDatabase,
  createTable,
  dataOf,
  expectData,
  expectDone,
  expectError,
  importTable,
  keyField,
  plainField,
  startApp
} from '../../helpers.ts'
import { openServed } from '../../served.ts'

const file = createDatabase(
  t,
  `CREATE TABLE people (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     full_name NVARCHAR(40) NOT NULL DEFAULT 'nobody',
     born DATE,
     seen DATETIME DEFAULT CURRENT_TIMESTAMP,
     is_member BOOLEAN NOT NULL DEFAULT 1,
     height DOUBLE DEFAULT 1.5,
     balance NUMERIC(10, 2),
     photo BLOB,
     anything,
     initials TEXT GENERATED ALWAYS AS (substr(full_name, 1, 1)) VIRTUAL
   );
   INSERT INTO people (full_name) VALUES ('Ann'), ('Bob');
   CREATE TABLE membership (person INTEGER, club TEXT, since INTEGER, PRIMARY KEY (club, person)) WITHOUT ROWID;
   CREATE TABLE log (line TEXT);
   CREATE TABLE plain_key (n INTEGER PRIMARY KEY, "autoincrement" TEXT);
   CREATE TABLE "odd ""name"", with 'quotes'" ("the key" TEXT PRIMARY KEY, "select" INTEGER, "" TEXT);
   CREATE TABLE hidden_rowid (rowid TEXT, _rowid_ TEXT, oid TEXT);
   CREATE TABLE passing (id INTEGER PRIMARY KEY, kept TEXT, widened INTEGER);
   CREATE TABLE doomed (id INTEGER PRIMARY KEY);
   CREATE VIEW people_view AS SELECT * FROM people;
   CREATE INDEX people_by_name ON people (full_name);
   CREATE VIRTUAL TABLE texts USING fts5 (body);`
)

const executeExternally = (sql: string) => {
  openServed(t, file).exec(sql)
}

let time = Date.parse('2026-03-01T12:00:00Z')
const app = await startApp(t, { env: { DATABASE: file }, clock: () => time })
const admin = await asAdmin(app)
const token = await asToken(app, admin)

const fieldNames = ({ fields }: Table) => fields.map(({ name }) => name)
const blob = { name: 'extra', jsonType: 'string', sqliteType: 'BLOB' } as const
const declare = (name: string, ...fields: readonly object[]) => admin.post('/admin/tables', { name, label: '', fields })

t.test('a created table is returned as it was declared, with defaults for the rest', async (t) => {
  const response = await admin.post('/admin/tables', {
    name: 'cats',
    label: 'Cats',
    fields: [
      { name: 'id', jsonType: 'integer', isPrimary: true, isAutoIncrement: true },
      { name: 'name', jsonType: 'string' },
      { name: 'weight', jsonType: 'number' },
      { name: 'lives', jsonType: 'integer' }
    ],
    note: 'of the house'
  })
  const { id } = dataOf(response)
  expectData(t, response, {
    id,
    name: 'cats',
    label: 'Cats',
    primaryKey: 'id',
    clientName: 'Cats',
    kind: 'table',
    foreignKeys: [],
    warnings: [],
    searchIndex: { state: 'off', indexed: 0, total: 0 },
    labelField: 'name',
    fields: [
      { ...keyField('id', 'integer', 'INTEGER'), isAutoIncrement: true },
      plainField('name', 'string', 'TEXT'),
      plainField('weight', 'number', 'REAL'),
      plainField('lives', 'integer', 'INTEGER')
    ],
    isPublished: true,
    isEditable: true,
    note: 'of the house',
    createdAt: time,
    updatedAt: time
  })
  t.type(id, 'number')
  expectData(t, await admin.get(`/admin/tables/${id}`), dataOf(response))
})

t.test('the list shows every table in the shape of the single one', async (t) => {
  const table = await createTable(admin, { name: 'listed', fields: [{ name: 'a', jsonType: 'string' }] })
  const list = dataOf(await admin.get('/admin/tables')) as Table[]
  t.strictSame(
    list.find(({ id }) => id === table.id),
    table
  )
  t.equal(table.note, null)
})

t.test('every property of a field can be declared', async (t) => {
  const fields: NewField[] = [
    { name: 'code', jsonType: 'string', isPrimary: true, label: 'The code' },
    { name: 'flag', jsonType: 'boolean', nullable: false, defaultValue: true },
    { name: 'extra', jsonType: 'object', defaultValue: { a: [1] }, sqliteType: 'TEXT' },
    { name: 'tags', jsonType: 'array', isHidden: true, isReadonly: true },
    { name: 'size', jsonType: 'number', defaultValue: 2.5, label: '' }
  ]
  const table = await createTable(admin, { name: 'declared', fields })
  t.equal(table.primaryKey, 'code')
  t.strictSame(table.fields, [
    {
      ...keyField('code', 'string', 'TEXT'),
      isRequired: true,
      label: 'The code'
    },
    {
      ...plainField('flag', 'boolean', 'INTEGER'),
      nullable: false,
      isNullable: false,
      defaultKind: 'value',
      defaultValue: true
    },
    { ...plainField('extra', 'object', 'TEXT'), defaultKind: 'value', defaultValue: { a: [1] } },
    { ...plainField('tags', 'array', 'TEXT'), isHidden: true, isReadonly: true },
    { ...plainField('size', 'number', 'REAL'), defaultKind: 'value', defaultValue: 2.5, label: '' }
  ])
  const refreshed = dataOf(await admin.post(`/admin/tables/${table.id}/refresh`))
  t.strictSame(refreshed.fields, table.fields, 'a refresh reads the same fields')
})

t.test('a BLOB can be declared, and its values are base64 text', async (t) => {
  const bytes = Buffer.from([0, 255, 39]).toString('base64')
  const table = await createTable(admin, {
    name: 'files',
    fields: [
      { name: 'hash', jsonType: 'string', sqliteType: 'BLOB', isPrimary: true },
      { name: 'body', jsonType: 'string', sqliteType: 'BLOB', nullable: false, defaultValue: bytes }
    ]
  })
  const body = {
    ...plainField('body', 'string', 'BLOB'),
    nullable: false,
    isNullable: false,
    defaultKind: 'value',
    defaultValue: bytes
  }
  t.strictSame(table.fields, [{ ...keyField('hash', 'string', 'BLOB'), isRequired: true }, body])
  expectData(t, await token.post('/data/_schema/tables/files/fields', { field: { ...blob, defaultValue: bytes } }), {
    ...table,
    updatedAt: table.updatedAt + 1,
    fields: [...table.fields, { ...plainField('extra', 'string', 'BLOB'), defaultKind: 'value', defaultValue: bytes }]
  })
  expectData(t, await token.post('/data/files/records', { hash: 'qg==' }), { hash: 'qg==', body: bytes, extra: bytes })
  expectData(t, await token.get('/data/files/records/qg=='), { hash: 'qg==', body: bytes, extra: bytes })
  const db = openServed(t, file, { readonly: true })
  t.strictSame(db.prepare('SELECT typeof(hash), hex(body), hex(extra) FROM files').raw().all(), [
    ['blob', '00FF27', '00FF27']
  ])
  const refreshed = dataOf(await admin.post(`/admin/tables/${table.id}/refresh`))
  t.strictSame(refreshed.fields, [
    ...table.fields,
    { ...plainField('extra', 'string', 'BLOB'), defaultKind: 'value', defaultValue: bytes }
  ])
  expectError(t, await token.post('/data/files/records', { hash: 'no base64' }), 400, 'VALIDATION_FAILED', '/hash')
})

t.test('a table without a key gets one', async (t) => {
  t.test('an id as its first field', async (t) => {
    const table = await createTable(admin, { name: 'keyless', fields: [{ name: 'a', jsonType: 'string' }] })
    t.equal(table.primaryKey, 'id')
    t.strictSame(table.fields[0], { ...keyField('id', 'integer', 'INTEGER'), isAutoIncrement: true })
    t.strictSame(fieldNames(table), ['id', 'a'])
  })
  t.test('its declared integer id', async (t) => {
    const fields: NewField[] = [
      { name: 'a', jsonType: 'string' },
      { name: 'id', jsonType: 'integer', label: 'No.' }
    ]
    const table = await createTable(admin, { name: 'own_id', fields })
    t.equal(table.primaryKey, 'id')
    t.strictSame(table.fields[1], {
      ...keyField('id', 'integer', 'INTEGER'),
      isAutoIncrement: true,
      label: 'No.'
    })
  })
  t.test('but not if its id has another type', async (t) => {
    expectError(t, await declare('text_id', { name: 'id', jsonType: 'string' }), 400, 'VALIDATION_FAILED', '/fields/0')
    expectError(t, await declare('text_id', { name: 'ID', jsonType: 'string' }), 400, 'VALIDATION_FAILED', '/fields/0')
  })
  t.test('and keeps another key that is declared next to an id', async (t) => {
    const fields: NewField[] = [
      { name: 'id', jsonType: 'string' },
      { name: 'n', jsonType: 'integer', isPrimary: true }
    ]
    const table = await createTable(admin, { name: 'other_key', fields })
    t.equal(table.primaryKey, 'n')
    t.equal(table.fields[1]?.isAutoIncrement, false)
  })
})

t.test('automatic timestamps are two read-only integer fields at the end', async (t) => {
  const fields: NewField[] = [{ name: 'a', jsonType: 'string' }]
  const table = await createTable(admin, { name: 'timed', fields, autoTimestamps: true })
  t.strictSame(table.fields.slice(2), [
    { ...plainField('created_at', 'integer', 'INTEGER'), isReadonly: true },
    { ...plainField('updated_at', 'integer', 'INTEGER'), isReadonly: true }
  ])
  const changed = dataOf(
    await admin.put(`/admin/tables/${table.id}`, {
      fields: [
        { name: 'created_at', isReadonly: false, label: 'Born' },
        { name: 'a', isReadonly: true }
      ]
    })
  )
  t.match(
    changed.fields.slice(1),
    [{ isReadonly: true }, { label: 'Born', isReadonly: true }, { isReadonly: true }],
    'they stay read-only after a change of the flags'
  )
  const taken = {
    name: 'timed_twice',
    label: '',
    autoTimestamps: true,
    fields: [{ name: 'Created_At', jsonType: 'string' }]
  }
  const refusal = await admin.post('/admin/tables', taken)
  expectError(t, refusal, 400, 'VALIDATION_FAILED', '/fields/0/name')
  t.equal(refusal.json().error.message, "The field 'Created_At' is added by autoTimestamps.")
  const without = await createTable(admin, { name: 'untimed', fields, autoTimestamps: false })
  t.strictSame(fieldNames(without), ['id', 'a'])
})

t.test('any SQL keyword names a table and a field', async (t) => {
  for (const name of ['select', 'TABLE', 'order', 'index', 'rowid', 'group', 'values', 'constructor']) {
    const fields: NewField[] = [{ name, jsonType: 'string' }]
    const table = await createTable(admin, { name: `${name}`, fields })
    t.equal(table.name, name)
    const record = dataOf(await admin.post(`/admin/tables/${table.id}/data`, { [name]: 'x' }))
    t.strictSame(record, { id: 1, [name]: 'x' })
  }
})

t.test('a name is refused', async (t) => {
  const field = { name: 'a', jsonType: 'string' }
  const invalidNames = [
    '',
    '1a',
    'a-b',
    'a b',
    'a"b',
    "a'b",
    'ä',
    '_a',
    '_rowhouse_admins',
    'a'.repeat(64),
    'a;--',
    'a\n',
    'a.b'
  ]
  for (const name of invalidNames) {
    t.test(`${JSON.stringify(name)} of a table`, async (t) =>
      expectError(t, await declare(name, field), 400, 'VALIDATION_FAILED', '/name')
    )
    t.test(`${JSON.stringify(name)} of a field`, async (t) =>
      expectError(t, await declare('fine', { name, jsonType: 'string' }), 400, 'VALIDATION_FAILED', '/fields/0/name')
    )
  }
  t.test('if it begins with sqlite_', async (t) => {
    expectError(t, await declare('sqlite_mine', field), 400, 'VALIDATION_FAILED', '/name')
    expectError(t, await declare('SQLite_mine', field), 400, 'VALIDATION_FAILED', '/name')
    t.equal((await createTable(admin, { name: 'sqlite', fields: [{ name: 'a', jsonType: 'string' }] })).name, 'sqlite')
  })
  t.test('but not if it has 63 characters', async (t) => {
    const name = 'a'.repeat(63)
    const table = await createTable(admin, { name, fields: [{ name, jsonType: 'string' }] })
    t.equal(table.name, name)
  })
})

t.test('a table name is unique, ignoring case, among all objects of the database', async (t) => {
  const field = { name: 'a', jsonType: 'string' }
  await createTable(admin, { name: 'Unique_Name', fields: [{ name: 'a', jsonType: 'string' }] })
  for (const name of ['Unique_Name', 'unique_name']) {
    const response = await declare(name, field)
    expectError(t, response, 409, 'TABLE_EXISTS')
  }
  const stored = await declare('PEOPLE', field)
  expectError(t, stored, 409, 'TABLE_EXISTS')
  t.match(stored.json().error.hint, /import/)
  expectError(t, await declare('people_view', field), 409, 'TABLE_EXISTS')
  expectError(t, await declare('people_by_name', field), 409, 'TABLE_EXISTS')
})

t.test('a table without a label gets its name as the label', async (t) => {
  const fields = [{ name: 'a', jsonType: 'string' }]
  t.match(dataOf(await admin.post('/admin/tables', { name: 'unlabelled', fields })), { label: 'unlabelled' })
  t.match(dataOf(await admin.post('/admin/tables', { name: 'labelled', label: '', fields })), { label: '' })
})

t.test('a declaration is refused if', async (t) => {
  const text = { name: 'a', jsonType: 'string' }
  const cases: readonly (readonly [reason: string, body: object, path: string])[] = [
    ['there is no field', { fields: [] }, '/fields'],
    ['there are too many', { fields: Array.from({ length: 491 }, (_, i) => ({ ...text, name: `f${i}` })) }, '/fields'],
    ['fields are missing', { fields: undefined }, '/fields'],
    ['the label is too long', { label: 'x'.repeat(201) }, '/label'],
    ['the label is null', { label: null }, '/label'],
    ['the note is too long', { note: 'x'.repeat(4001) }, '/note'],
    ['the note is a number', { note: 5 }, '/note'],
    ['autoTimestamps is text', { autoTimestamps: 'true' }, '/autoTimestamps'],
    ['a key is unknown', { colour: 'red' }, '/colour'],
    ['a key of a field is unknown', { fields: [{ ...text, colour: 'red' }] }, '/fields/0/colour'],
    ['a type is unknown', { fields: [{ name: 'a', jsonType: 'date' }] }, '/fields/0/jsonType'],
    ['a type is missing', { fields: [{ name: 'a' }] }, '/fields/0/jsonType'],
    ['a field is declared twice', { fields: [text, { ...text, name: 'A' }] }, '/fields/1/name'],
    ['a flag is 1', { fields: [{ ...text, isPrimary: 1 }] }, '/fields/0/isPrimary'],
    ['a flag is null', { fields: [{ ...text, isHidden: null }] }, '/fields/0/isHidden'],
    [
      'text auto-increments',
      { fields: [{ ...text, isPrimary: true, isAutoIncrement: true }] },
      '/fields/0/isAutoIncrement'
    ],
    [
      'no key auto-increments',
      { fields: [{ name: 'n', jsonType: 'integer', isAutoIncrement: true }] },
      '/fields/0/isAutoIncrement'
    ],
    ['a boolean is the key', { fields: [{ name: 'b', jsonType: 'boolean', isPrimary: true }] }, '/fields/0/isPrimary'],
    ['the key is hidden', { fields: [{ ...text, isPrimary: true, isHidden: true }] }, '/fields/0/isHidden'],
    ['sqliteType contradicts', { fields: [{ ...text, sqliteType: 'INTEGER' }] }, '/fields/0/sqliteType'],
    ['sqliteType cannot be declared', { fields: [{ ...text, sqliteType: 'NUMERIC' }] }, '/fields/0/sqliteType'],
    ['a number is a BLOB', { fields: [{ name: 'n', jsonType: 'number', sqliteType: 'BLOB' }] }, '/fields/0/sqliteType'],
    [
      'the default of a BLOB is not base64',
      { fields: [{ ...text, sqliteType: 'BLOB', defaultValue: 'a' }] },
      '/fields/0/defaultValue'
    ],
    [
      'a default has another type',
      { fields: [{ name: 'n', jsonType: 'integer', defaultValue: 'x' }] },
      '/fields/0/defaultValue'
    ],
    [
      'a default is no integer',
      { fields: [{ name: 'n', jsonType: 'integer', defaultValue: 1.5 }] },
      '/fields/0/defaultValue'
    ],
    [
      'a default holds an integer that a JSON number would round',
      { fields: [{ name: 'o', jsonType: 'object', defaultValue: { a: [2 ** 53] } }] },
      '/fields/0/defaultValue/a/0'
    ]
  ]
  for (const [reason, change, path] of cases) {
    t.test(reason, async (t) => {
      const body = { name: 'refused', label: '', fields: [text], ...change }
      expectError(t, await admin.post('/admin/tables', body), 400, 'VALIDATION_FAILED', path)
    })
  }
})

t.test('the longest declaration is accepted', async (t) => {
  const fields: NewField[] = Array.from({ length: 490 }, (_, i) => ({ name: `f${i}`, jsonType: 'integer' }))
  const table = await createTable(admin, {
    name: 'longest',
    label: 'x'.repeat(200),
    note: 'x'.repeat(4000),
    fields,
    autoTimestamps: true
  })
  t.equal(table.fields.length, 493)
  const record = dataOf(await admin.post(`/admin/tables/${table.id}/data`, { f489: 7 }))
  t.equal(record.f489, 7)
  t.equal(Object.keys(record).length, 493)
})

t.test('of two concurrent creates of one table, one succeeds', async (t) => {
  const field = { name: 'a', jsonType: 'string' }
  const both = await Promise.all([declare('contested', field), declare('Contested', field)])
  t.strictSame(both.map(({ statusCode }) => statusCode).sort(), [200, 409])
  const tables = dataOf(await admin.get('/admin/tables')) as Table[]
  t.equal(tables.filter(({ name }) => name.toLowerCase() === 'contested').length, 1)
})

t.test('an imported table shows the stored structure', async (t) => {
  const table = await importTable(admin, 'people')
  const readonly = { ...plainField('initials', 'string', 'TEXT'), isReadonly: true, isExact: false }
  t.strictSame(table, {
    id: table.id,
    name: 'people',
    label: '',
    primaryKey: 'id',
    clientName: 'People',
    kind: 'table',
    foreignKeys: [],
    warnings: [],
    searchIndex: { state: 'off', indexed: 0, total: 0 },
    labelField: 'full_name',
    fields: [
      { ...keyField('id', 'integer', 'INTEGER'), isAutoIncrement: true },
      {
        ...plainField('full_name', 'string', 'TEXT'),
        nullable: false,
        isNullable: false,
        isIndexed: true,
        defaultKind: 'value',
        defaultValue: 'nobody'
      },
      { ...plainField('born', 'string', 'NUMERIC'), isExact: false },
      {
        ...plainField('seen', 'string', 'NUMERIC'),
        isExact: false,
        defaultKind: 'expression',
        defaultValue: 'CURRENT_TIMESTAMP'
      },
      {
        ...plainField('is_member', 'boolean', 'NUMERIC'),
        nullable: false,
        isNullable: false,
        defaultKind: 'value',
        defaultValue: true
      },
      { ...plainField('height', 'number', 'REAL'), defaultKind: 'value', defaultValue: 1.5 },
      plainField('balance', 'number', 'NUMERIC'),
      plainField('photo', 'string', 'BLOB'),
      { ...plainField('anything', 'string', 'BLOB'), isExact: false },
      readonly
    ],
    isPublished: true,
    isEditable: true,
    note: null,
    createdAt: time,
    updatedAt: time
  })
  const { total } = dataOf(await admin.get(`/admin/tables/${table.id}/data`))
  t.equal(total, 2)
})

t.test('an imported key is', async (t) => {
  t.test('the columns of a composite key, in the order of the key', async (t) => {
    const table = await importTable(admin, 'membership')
    t.equal(table.primaryKey, 'club,person')
    t.strictSame(
      table.fields.map(({ name, isPrimary }) => [name, isPrimary]),
      [
        ['person', true],
        ['club', true],
        ['since', false]
      ]
    )
  })
  t.test('the rowid if none is declared', async (t) => {
    const table = await importTable(admin, 'log')
    t.equal(table.primaryKey, 'rowid')
    t.strictSame(table.fields, [{ ...keyField('rowid', 'integer', 'INTEGER') }, plainField('line', 'string', 'TEXT')])
  })
  t.test('auto-incrementing only if that is declared', async (t) => {
    const table = await importTable(admin, 'plain_key')
    t.equal(table.fields[0]?.isAutoIncrement, false)
  })
})

t.test('an import ignores case in names, as SQLite does', async (t) => {
  const name = `odd "name", with 'quotes'`
  const table = await importTable(admin, name.toUpperCase())
  t.equal(table.name, name)
  t.equal(table.primaryKey, 'the key')
  t.strictSame(fieldNames(table), ['the key', 'select', ''])
  expectError(t, await admin.post('/admin/tables/import', { name }), 409, 'TABLE_REGISTERED')
})

t.test('an import is refused for', async (t) => {
  const cases = [
    ['a virtual table', 'texts', 400, 'TABLE_NOT_IMPORTABLE'],
    ['a shadow table', 'texts_data', 400, 'TABLE_NOT_IMPORTABLE'],
    ['our own table', '_rowhouse_admins', 400, 'TABLE_NOT_IMPORTABLE'],
    ['our own table in capitals', '_ROWHOUSE_TOKENS', 400, 'TABLE_NOT_IMPORTABLE'],
    ['an internal table', 'sqlite_sequence', 400, 'TABLE_NOT_IMPORTABLE'],
    ['the schema', 'sqlite_schema', 400, 'TABLE_NOT_IMPORTABLE'],
    ['a table without a key whose columns hide the rowid', 'hidden_rowid', 400, 'TABLE_NOT_IMPORTABLE'],
    ['an index', 'people_by_name', 404, 'TABLE_NOT_FOUND'],
    ['nothing', 'nothing', 404, 'TABLE_NOT_FOUND'],
    ['SQL', 'people; DROP TABLE people', 404, 'TABLE_NOT_FOUND'],
    ['a name of another schema', 'main.people', 404, 'TABLE_NOT_FOUND'],
    ['an empty name', '', 400, 'VALIDATION_FAILED'],
    ['a name with NUL', 'people\0', 400, 'VALIDATION_FAILED']
  ] as const
  for (const [reason, name, status, code] of cases) {
    t.test(reason, async (t) => expectError(t, await admin.post('/admin/tables/import', { name }), status, code))
  }
  t.test('a name that is not a string', async (t) => {
    expectError(t, await admin.post('/admin/tables/import', { name: 5 }), 400, 'VALIDATION_FAILED', '/name')
    expectError(t, await admin.post('/admin/tables/import', {}), 400, 'VALIDATION_FAILED', '/name')
  })
})

t.test('an import sets the choices of an administrator in the same step', async (t) => {
  executeExternally('CREATE TABLE secrets (id INTEGER PRIMARY KEY, title TEXT, body TEXT)')
  const choices = { label: 'S', note: 'n', isPublished: true, isEditable: false }
  const fields = [
    { name: 'body', isHidden: true },
    { name: 'title', label: 'Title', isReadonly: true }
  ]
  const url = '/admin/tables/import'

  t.test('but refuses those that PUT refuses, and imports nothing then', async (t) => {
    const cases: readonly (readonly [body: object, path: string])[] = [
      [{ fields: [{ name: 'gone', isHidden: true }] }, '/fields/0/name'],
      [{ fields: [{ name: 'id', isHidden: true }] }, '/fields/0/isHidden'],
      [{ fields: [] }, '/fields'],
      [{ fields: [{ name: 'body', jsonType: 'string' }] }, '/fields/0/jsonType'],
      [{ isPublished: 1 }, '/isPublished'],
      [{ label: null }, '/label'],
      [{ isHidden: true }, '/isHidden']
    ]
    for (const [body, path] of cases)
      expectError(t, await admin.post(url, { name: 'secrets', ...body }), 400, 'VALIDATION_FAILED', path)
  })
  t.test('and responds with them', async (t) => {
    const response = await admin.post(url, { name: 'Secrets', ...choices, fields })
    const { id } = dataOf(response)
    expectData(t, response, {
      ...choices,
      id,
      name: 'secrets',
      clientName: 'Secrets',
      kind: 'table',
      foreignKeys: [],
      warnings: [],
      searchIndex: { state: 'off', indexed: 0, total: 0 },
      labelField: 'title',
      primaryKey: 'id',
      fields: [
        { ...keyField('id', 'integer', 'INTEGER') },
        { ...plainField('title', 'string', 'TEXT'), label: 'Title', isReadonly: true },
        { ...plainField('body', 'string', 'TEXT'), isHidden: true }
      ],
      createdAt: time,
      updatedAt: time
    })
    expectData(t, await admin.get(`/admin/tables/${id}`), dataOf(response))
    t.strictSame(fieldNames(dataOf(await token.get('/data/secrets/schema'))), ['id', 'title'])
  })
})

t.test('the list of importable tables shows what is in the file and not registered', async (t) => {
  executeExternally(
    `CREATE TABLE "Unlisted" (id INTEGER PRIMARY KEY); INSERT INTO "Unlisted" VALUES (1), (7);
     CREATE TABLE keyed (code TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO keyed VALUES ('a');
     CREATE VIEW broken AS SELECT gone FROM missing; CREATE VIEW unlisted_ids AS SELECT id AS n FROM "Unlisted"; CREATE TABLE _me (a); INSERT INTO hidden_rowid (oid) VALUES ('x');`
  )
  const before = dataOf(await admin.get('/admin/tables'))
  const listed = dataOf(await admin.get('/admin/tables/importable')) as ImportableTable[]
  const importable = (name: string, rows: number | null, fields: ImportableTable['fields'], kind = 'table') => ({
    name,
    rows,
    isImportable: true,
    reason: null,
    kind,
    fields
  })
  const other = (name: string, rows: number | null, reason: string, kind = 'table') => ({
    name,
    rows,
    isImportable: false,
    reason,
    kind,
    fields: []
  })
  const byName = new Map(listed.map((table) => [table.name, table]))
  for (const table of [
    importable('Unlisted', 2, [{ name: 'id', jsonType: 'integer', isPrimary: true }]),
    importable('keyed', 1, [{ name: 'code', jsonType: 'string', isPrimary: true }]),
    importable('unlisted_ids', null, [{ name: 'n', jsonType: 'integer', isPrimary: false }], 'view'),
    other('broken', null, "SQLite cannot prepare the view 'broken': no such table: main.missing.", 'view'),
    other('texts', null, "'texts' is a virtual table; only ordinary tables and views can be served."),
    other('_me', 0, "'_me' is a reserved name."),
    other('hidden_rowid', 1, "'hidden_rowid' has no primary key, and its columns hide every name of its rowid.")
  ])
    t.strictSame(byName.get(table.name), table)
  const names = listed.map(({ name }) => name)
  t.strictSame(names, [...names].sort())
  t.notOk(names.some((name) => /^(?:_rowhouse_|sqlite_|texts_)/.test(name)))
  for (const { name } of before as Table[]) t.notOk(byName.has(name), name)

  const { id } = await importTable(admin, 'UNLISTED')
  const again = dataOf(await admin.get('/admin/tables/importable')) as ImportableTable[]
  t.strictSame(
    again,
    listed.filter(({ name }) => name !== 'Unlisted')
  )
  expectDone(t, await admin.delete(`/admin/tables/${id}?confirm=true`))
  t.strictSame(dataOf(await admin.get('/admin/tables/importable')), listed)
  executeExternally('DROP VIEW broken; DROP VIEW unlisted_ids')
})

t.test('a change of metadata changes only the properties that are sent', async (t) => {
  const fields: NewField[] = [{ name: 'a', jsonType: 'string' }]
  const table = await createTable(admin, { name: 'changed', label: 'before', note: 'n', fields })
  const url = `/admin/tables/${table.id}`

  t.test('the label, and with it updatedAt', async (t) => {
    expectData(t, await admin.put(url, { label: 'after' }), {
      ...table,
      label: 'after',
      updatedAt: table.updatedAt + 1
    })
  })
  t.test('all properties at once', async (t) => {
    time += 1000
    const changes = { label: '', note: 'other', isPublished: false, isEditable: false }
    expectData(t, await admin.put(url, changes), { ...table, ...changes, updatedAt: time })
    expectData(t, await admin.get(url), { ...table, ...changes, updatedAt: time })
  })
  t.test('the note, which null clears', async (t) => {
    t.equal(dataOf(await admin.put(url, { note: null })).note, null)
    t.equal(dataOf(await admin.put(url, { note: '' })).note, '')
  })
  t.test('the properties of a field', async (t) => {
    const change = { name: 'a', label: 'A', isHidden: true, isReadonly: true }
    const { fields } = dataOf(await admin.put(url, { fields: [change] }))
    t.strictSame(fields, [table.fields[0], { ...table.fields[1], ...change }])
    const back = dataOf(await admin.put(url, { fields: [{ name: 'a', isHidden: false }] }))
    t.strictSame(back.fields[1], { ...table.fields[1], ...change, isHidden: false })
  })
  t.test('the flags of an imported column', async (t) => {
    const imported = await importTable(admin, 'passing')
    const { fields } = dataOf(
      await admin.put(`/admin/tables/${imported.id}`, { fields: [{ name: 'kept', isHidden: true }] })
    )
    t.equal(fields[1].isHidden, true)
  })
})

t.test('a change of metadata is refused', async (t) => {
  const { id } = await createTable(admin, { name: 'unchanged', fields: [{ name: 'a', jsonType: 'string' }] })
  const cases: readonly (readonly [reason: string, body: object, path: string])[] = [
    ['without a change', {}, ''],
    ['to a null label', { label: null }, '/label'],
    ['to a numeric flag', { isPublished: 1 }, '/isPublished'],
    ['to a textual flag', { isEditable: 'false' }, '/isEditable'],
    ['to a numeric note', { note: 1 }, '/note'],
    ['of an unknown field', { fields: [{ name: 'b', label: '' }] }, '/fields/0/name'],
    ['of a field in another case', { fields: [{ name: 'A', label: '' }] }, '/fields/0/name'],
    ['of a type', { fields: [{ name: 'a', jsonType: 'integer' }] }, '/fields/0/jsonType'],
    ['that hides the key', { fields: [{ name: 'id', isHidden: true }] }, '/fields/0/isHidden'],
    ['of no field', { fields: [] }, '/fields']
  ]
  for (const [reason, body, path] of cases) {
    t.test(reason, async (t) =>
      expectError(t, await admin.put(`/admin/tables/${id}`, body), 400, 'VALIDATION_FAILED', path)
    )
  }
  t.test('of a table that does not exist', async (t) =>
    expectError(t, await admin.put('/admin/tables/999999', { label: '' }), 404, 'TABLE_NOT_FOUND')
  )
})

t.test('concurrent changes are all kept', async (t) => {
  const fields: NewField[] = [{ name: 'a', jsonType: 'string' }]
  const table = await createTable(admin, { name: 'crowded', fields })
  const url = `/admin/tables/${table.id}`
  await Promise.all([
    admin.put(url, { label: 'L' }),
    admin.put(url, { note: 'N' }),
    admin.put(url, { isEditable: false })
  ])
  expectData(t, await admin.get(url), {
    ...table,
    label: 'L',
    note: 'N',
    isEditable: false,
    updatedAt: table.updatedAt + 3
  })
})

t.test('an administrator adds a field', async (t) => {
  const { id } = await createTable(admin, {
    name: 'growing',
    fields: [{ name: 'a', jsonType: 'string' }],
    autoTimestamps: true
  })
  const url = `/admin/tables/${id}/fields`
  const record = dataOf(await admin.post(`/admin/tables/${id}/data`, { a: 'x' }))
  const table = dataOf(await admin.put(`/admin/tables/${id}`, { isEditable: false })) as Table
  const field: NewField = { name: 'lives', jsonType: 'integer', nullable: false, defaultValue: 9, isHidden: true }

  t.test('with every property, also to a table that tokens can only read', async (t) => {
    const lives = {
      ...plainField('lives', 'integer', 'INTEGER'),
      nullable: false,
      isNullable: false,
      defaultKind: 'value',
      defaultValue: 9,
      isHidden: true
    }
    const expected = { ...table, updatedAt: table.updatedAt + 1, fields: [...table.fields, lives] }
    expectData(t, await admin.post(url, { field }), expected)
    expectData(t, await admin.get(`/admin/tables/${id}`), expected)
    expectData(t, await admin.get(`/admin/tables/${id}/data/1`), { ...record, lives: 9 })
  })
  t.test('that tokens do not see if it is hidden', async (t) => {
    expectData(t, await token.get('/data/growing/records/1'), record)
    const other = { field: { name: 'other', jsonType: 'string' } }
    expectError(t, await token.post('/data/_schema/tables/growing/fields', other), 403, 'TABLE_READ_ONLY')
  })
  t.test('that nobody can write if it is read-only', async (t) => {
    dataOf(await admin.post(url, { field: { name: 'fixed', jsonType: 'string', isReadonly: true } }))
    const response = await admin.post(`/admin/tables/${id}/data`, { fixed: 'x' })
    expectError(t, response, 400, 'VALIDATION_FAILED', '/fixed')
  })
  t.test('but not if', async (t) => {
    const cases: readonly (readonly [reason: string, field: object, path: string])[] = [
      ['its name is invalid', { name: '_a', jsonType: 'string' }, '/field/name'],
      ['its type is missing', { name: 'b' }, '/field/jsonType'],
      ['it is a key', { name: 'b', jsonType: 'string', isPrimary: true }, '/field/isPrimary'],
      ['it needs a default', { name: 'b', jsonType: 'string', nullable: false }, '/field/defaultValue']
    ]
    for (const [reason, field, path] of cases)
      t.test(reason, async (t) => expectError(t, await admin.post(url, { field }), 400, 'VALIDATION_FAILED', path))
    t.test('there is none', async (t) => expectError(t, await admin.post(url, {}), 400, 'VALIDATION_FAILED', '/field'))
    t.test('its name is taken', async (t) => expectError(t, await admin.post(url, { field }), 409, 'FIELD_EXISTS'))
    t.test('the table does not exist', async (t) =>
      expectError(t, await admin.post('/admin/tables/999999/fields', { field }), 404, 'TABLE_NOT_FOUND')
    )
  })
})

t.test('a refresh', async (t) => {
  const passing = (dataOf(await admin.get('/admin/tables')) as Table[]).find(({ name }) => name === 'passing') as Table
  const url = `/admin/tables/${passing.id}`

  t.test('moves updatedAt even if nothing changed', async (t) => {
    expectData(t, await admin.post(`${url}/refresh`), { ...passing, updatedAt: passing.updatedAt + 1 })
  })
  t.test('reads the new structure and keeps the choices', async (t) => {
    await admin.put(url, { label: 'P', isPublished: false, fields: [{ name: 'kept', label: 'K', isReadonly: true }] })
    executeExternally(
      'ALTER TABLE passing ADD COLUMN fresh REAL NOT NULL DEFAULT 0.5; ALTER TABLE passing DROP COLUMN widened'
    )
    const table = dataOf(await admin.post(`${url}/refresh`)) as Table
    t.strictSame(table.fields, [
      keyField('id', 'integer', 'INTEGER'),
      { ...plainField('kept', 'string', 'TEXT'), label: 'K', isHidden: true, isReadonly: true },
      {
        ...plainField('fresh', 'number', 'REAL'),
        nullable: false,
        isNullable: false,
        defaultKind: 'value',
        defaultValue: 0.5,
        isHidden: true
      }
    ])
    t.match(table, { label: 'P', isPublished: false })
  })
  t.test('hides a new column if the table hides any, such as a column that was renamed', async (t) => {
    executeExternally('CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, salary INTEGER)')
    const { id } = await importTable(admin, 'staff')
    const refreshAfter = async (sql: string) => {
      executeExternally(sql)
      const { fields } = dataOf(await admin.post(`/admin/tables/${id}/refresh`)) as Table
      return fields.filter(({ isHidden }) => isHidden).map(({ name }) => name)
    }
    t.strictSame(await refreshAfter('ALTER TABLE staff ADD COLUMN phone TEXT'), [], 'none is hidden yet')
    await admin.put(`/admin/tables/${id}`, { fields: [{ name: 'salary', isHidden: true }] })
    t.strictSame(await refreshAfter('ALTER TABLE staff RENAME COLUMN salary TO pay'), ['pay'])
    const { fields } = dataOf(await token.get('/data/staff/schema')) as Table
    t.strictSame(
      fields.map(({ name }) => name),
      ['id', 'name', 'phone']
    )
  })
  t.test('of a table that is gone is a conflict', async (t) => {
    const { id } = await importTable(admin, 'doomed')
    executeExternally('DROP TABLE doomed')
    expectError(t, await admin.post(`/admin/tables/${id}/refresh`), 409, 'STRUCTURE_CHANGED')
    expectDone(t, await admin.delete(`/admin/tables/${id}?confirm=true`))
  })
  t.test('accepts only an empty body', async (t) => {
    t.equal((await admin.post(`${url}/refresh`, {})).statusCode, 200)
    expectError(t, await admin.post(`${url}/refresh`, { force: true }), 400, 'BODY_NOT_ALLOWED')
  })
  t.test('of a table that does not exist is refused', async (t) =>
    expectError(t, await admin.post('/admin/tables/999999/refresh'), 404, 'TABLE_NOT_FOUND')
  )
})

t.test('unregistering', async (t) => {
  const fields: NewField[] = [{ name: 'a', jsonType: 'string' }]
  const { id } = await createTable(admin, { name: 'forgotten', fields, autoTimestamps: true })
  const record = dataOf(await admin.post(`/admin/tables/${id}/data`, { a: 'kept' }))

  t.test('requires confirmation and reports the number of rows', async (t) => {
    for (const query of ['', '?confirm=false']) {
      const response = await admin.delete(`/admin/tables/${id}${query}`)
      expectError(t, response, 400, 'CONFIRMATION_REQUIRED')
      t.match(response.json().error.message, /\b1 row/)
      t.match(response.json().error.hint, /confirm=true\. It can be imported again\.$/)
    }
    for (const query of ['confirm=1', 'confirm=yes', 'confirm=TRUE', 'confirm=', 'confirm=true&confirm=true'])
      expectError(t, await admin.delete(`/admin/tables/${id}?${query}`), 400, 'VALIDATION_FAILED', '/confirm')
    expectError(
      t,
      await admin.delete(`/admin/tables/${id}?confirm=true&force=true`),
      400,
      'VALIDATION_FAILED',
      '/force'
    )
    t.equal((await admin.get(`/admin/tables/${id}`)).statusCode, 200)
  })

  t.test('requires confirmation too if another program has dropped the table', async (t) => {
    const { id } = await createTable(admin, { name: 'dropped', fields })
    executeExternally('DROP TABLE dropped')
    const response = await admin.delete(`/admin/tables/${id}`)
    expectError(t, response, 400, 'CONFIRMATION_REQUIRED')
    t.match(response.json().error.message, /^The rows of 'dropped' cannot be counted\./)
    t.match(response.json().error.hint, /If the table still exists, it can be imported again\.$/)
    expectDone(t, await admin.delete(`/admin/tables/${id}?confirm=true`))
  })

  t.test('ends access to the table', async (t) => {
    expectDone(t, await admin.delete(`/admin/tables/${id}?confirm=true`))
    expectError(t, await admin.get(`/admin/tables/${id}`), 404, 'TABLE_NOT_FOUND')
    expectError(t, await admin.delete(`/admin/tables/${id}?confirm=true`), 404, 'TABLE_NOT_FOUND')
    expectError(t, await token.get('/data/forgotten'), 404, 'TABLE_NOT_FOUND')
  })
  t.test('leaves the name taken, with the hint to import it', async (t) => {
    const response = await declare('Forgotten', { name: 'a', jsonType: 'string' })
    expectError(t, response, 409, 'TABLE_EXISTS')
    t.match(response.json().error.hint, /import/)
  })
  t.test('keeps the rows for a later import', async (t) => {
    const table = await importTable(admin, 'forgotten')
    t.not(table.id, id)
    expectData(t, await admin.get(`/admin/tables/${table.id}/data/1`), record)
  })
})

t.test('an import of several tables', async (t) => {
  const url = '/admin/tables/import'
  executeExternally(
    `CREATE TABLE first (id INTEGER PRIMARY KEY, hash TEXT); CREATE TABLE second (code TEXT PRIMARY KEY, hash TEXT);
     CREATE TABLE third (a TEXT)`
  )
  const registeredNames = async () => (dataOf(await admin.get('/admin/tables')) as Table[]).map(({ name }) => name)
  const before = await registeredNames()

  t.test('is refused as a whole', async (t) => {
    const cases: readonly (readonly [body: object, status: number, code: ErrorCode, path?: string])[] = [
      [{ names: [] }, 400, 'VALIDATION_FAILED', '/names'],
      [{ names: ['first'], name: 'first' }, 400, 'VALIDATION_FAILED', '/names'],
      [{ names: 'first' }, 400, 'VALIDATION_FAILED', '/names'],
      [{ names: ['first', 5] }, 400, 'VALIDATION_FAILED', '/names/1'],
      [{ names: ['first', '*'] }, 400, 'VALIDATION_FAILED', '/names/1'],
      [{ names: ['first', 'First'] }, 400, 'VALIDATION_FAILED', '/names/1'],
      [{ names: ['first', 'third'], fields: [{ name: 'hash' }] }, 400, 'VALIDATION_FAILED', '/fields/0/name'],
      [{ names: ['first', 'texts'] }, 400, 'TABLE_NOT_IMPORTABLE'],
      [{ names: ['first', '_rowhouse_admins'] }, 400, 'TABLE_NOT_IMPORTABLE'],
      [{ names: ['first', 'nothing'] }, 404, 'TABLE_NOT_FOUND'],
      [{ names: ['first', 'People'] }, 409, 'TABLE_REGISTERED']
    ]
    for (const [body, status, code, path] of cases) expectError(t, await admin.post(url, body), status, code, path)
    t.strictSame(await registeredNames(), before)
  })
  t.test('responds with the tables in the order of the list, and sets the same choices for each', async (t) => {
    const fields = [{ name: 'hash', isHidden: true }]
    const response = await admin.post(url, { names: ['second', 'FIRST'], label: 'L', isEditable: false, fields })
    const imported = dataOf(response) as Table[]
    t.match(imported, [
      { name: 'second', primaryKey: 'code', label: 'L', isEditable: false, fields: [{}, { isHidden: true }] },
      { name: 'first', primaryKey: 'id', label: 'L', isEditable: false, fields: [{}, { isHidden: true }] }
    ])
    for (const table of imported) expectData(t, await admin.get(`/admin/tables/${table.id}`), table)
    t.match(dataOf(await admin.post(url, { names: ['third'] })), [{ name: 'third', isPublished: true }])
  })
  t.test('takes all that can be imported with *, and skips the others', async (t) => {
    executeExternally('CREATE TABLE "*" (a TEXT); CREATE TABLE last (a TEXT)')
    const imported = dataOf(await admin.post(url, { names: ['*'], isPublished: false })) as Table[]
    t.match(
      imported.slice(0, 1),
      [{ name: '*', isPublished: false }],
      'by name; a table of this name can also be imported alone, with `name`'
    )
    const names = imported.map(({ name }) => name)
    for (const name of ['last', 'people_view']) t.ok(names.includes(name))
    for (const name of ['hidden_rowid', 'texts', 'texts_data', 'people']) t.notOk(names.includes(name))
    t.notOk(names.some((name) => /^(?:_rowhouse|sqlite)_/.test(name)))
    t.strictSame(dataOf(await admin.post(url, { names: ['*'] })), [])
  })
})

t.test('an id in the path has one format', async (t) => {
  for (const id of ['0', '01', '1.0', '-1', '+1', '1e3', '0x1', 'abc', '1234567890', '%20', '']) {
    expectError(t, await admin.get(`/admin/tables/${id}`), 400, 'VALIDATION_FAILED', '/id')
  }
  expectError(t, await admin.get('/admin/tables/999999999'), 404, 'TABLE_NOT_FOUND')
})

t.test('unknown query parameters are refused', async (t) => {
  expectError(t, await admin.get('/admin/tables?page=1'), 400, 'VALIDATION_FAILED', '/page')
  t.equal((await admin.get('/admin/tables?')).statusCode, 200)
})

t.test('a token does not give access to the administration', async (t) => {
  expectError(t, await token.get('/admin/tables'), 401, 'AUTHENTICATION_REQUIRED')
  t.equal((await admin.get('/admin/tables')).statusCode, 200)
})
