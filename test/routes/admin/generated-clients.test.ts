import t from 'tap'
import type { NewField } from '../../../schemas/new-table.ts'
import type { Field, Table } from '../../../schemas/table.ts'
import {
  asAdmin,
  asToken,
  createDatabase,
  createTable,
  dataOf,
  expectError,
  importTable,
  startApp
} from '../../helpers.ts'
import { openServed } from '../../served.ts'

const file = createDatabase(
  t,
  `CREATE TABLE "Order" (id INTEGER PRIMARY KEY, status TEXT NOT NULL CHECK (status IN ('new', 'paid')), total REAL
     CHECK (total >= 0 AND discount BETWEEN 0 AND 50), discount INTEGER DEFAULT (1 + 1), note TEXT DEFAULT '1+1',
     at TEXT DEFAULT CURRENT_TIMESTAMP, CHECK (length(note) <= 9 AND discount <= total));
   INSERT INTO "Order" (status, total) VALUES ('new', 2.5);
   CREATE TABLE "order " (code TEXT PRIMARY KEY, [my col] INTEGER, my_col BLOB, "a""b" TEXT);
   CREATE TABLE "Track Page" (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID;
   CREATE TABLE "TrackPage" (a);
   CREATE TABLE "日本" (a);
   CREATE TABLE "!" (a);
   CREATE TABLE "class" (class TEXT);`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const token = await asToken(app, admin)

const fields: NewField[] = [{ name: 'a', jsonType: 'string' }]
const change = (id: number, body: object) => admin.put(`/admin/tables/${id}`, body)
const fieldOf = ({ fields }: Table, name: string) => fields.find((field) => field.name === name) as Field

t.test('imported tables get names for clients that are unique and stay', async (t) => {
  const imported = dataOf(await admin.post('/admin/tables/import', { names: ['*'] })) as Table[]
  const names = Object.fromEntries(imported.map(({ name, clientName }) => [name, clientName]))
  t.strictSame(names, {
    '!': 'Table1',
    Order: 'Order',
    'order ': 'Order2',
    'Track Page': 'TrackPage',
    TrackPage: 'TrackPage2',
    class: 'ClassTable',
    日本: 'RiBen'
  })
  const taken = await admin.post('/admin/tables', { name: 'ORDER2', label: '', fields })
  expectError(t, taken, 409, 'TABLE_EXISTS')
  await createTable(admin, { name: 'Track', fields })
  const listed = dataOf(await admin.get('/admin/tables')) as Table[]
  t.match(Object.fromEntries(listed.map(({ name, clientName }) => [name, clientName])), {
    ...names,
    Track: 'Track2'
  })
  for (const { name, fields } of imported) {
    const clientNames = fields.map(({ clientName }) => clientName.toLowerCase())
    t.equal(new Set(clientNames).size, fields.length, name)
  }
})

t.test('concurrent registrations get different names', async (t) => {
  const tables = await Promise.all(
    ['Parcel', 'Parcel_', 'Parcel__', 'ParcelPage'].map((name) => createTable(admin, { name, fields }))
  )
  const names = tables.map(({ clientName }) => clientName).sort()
  t.equal(new Set(names).size, 4)
  t.notOk(names.includes('Parcel') && names.includes('ParcelPage'))
})

t.test('an administrator changes the name of a table and of its fields', async (t) => {
  const { id } = await createTable(admin, { name: 'renamed', fields: [...fields, { name: 'b', jsonType: 'string' }] })
  const changed = dataOf(
    await change(id, {
      clientName: 'Invoice',
      fields: [
        { name: 'a', clientName: 'B' },
        { name: 'b', clientName: 'A' }
      ]
    })
  ) as Table
  t.match(changed, { name: 'renamed', clientName: 'Invoice' })
  t.strictSame(
    changed.fields.map(({ name, clientName }) => [name, clientName]),
    [
      ['id', 'Id'],
      ['a', 'B'],
      ['b', 'A']
    ]
  )
  t.equal(dataOf(await token.get('/data/renamed/schema')).clientName, 'Invoice')
  t.equal(dataOf(await change(id, { clientName: 'InvoicePage' })).clientName, 'InvoicePage', 'a name of its own family')
  t.equal(dataOf(await change(id, { clientName: 'InvoicePage' })).clientName, 'InvoicePage', 'the same name')
  const added = dataOf(await admin.post(`/admin/tables/${id}/fields`, { field: { name: 'A_', jsonType: 'string' } }))
  t.equal(added.fields.at(-1).clientName, 'A2')
})

t.test('a name for clients is refused', async (t) => {
  const { id } = await createTable(admin, { name: 'fixed', fields })
  const { id: other } = await createTable(admin, { name: 'taken', fields })
  t.test('if it is not safe', async (t) => {
    for (const clientName of [
      '',
      'order',
      '1st',
      'A b',
      'Ä',
      'A_b',
      `A${'a'.repeat(60)}`,
      'Class',
      'STRING',
      'Table',
      'Admin'
    ]) {
      expectError(t, await change(id, { clientName }), 400, 'VALIDATION_FAILED', '/clientName')
    }
    for (const clientName of ['a', 'A b', 'Type', 'SELF']) {
      const response = await change(id, { fields: [{ name: 'id' }, { name: 'a', clientName }] })
      expectError(t, response, 400, 'VALIDATION_FAILED', '/fields/1/clientName')
    }
  })
  t.test('if another table or field has it, or derives it', async (t) => {
    for (const clientName of ['Taken', 'TAKEN', 'TakenPage', 'TakenCreate']) {
      expectError(t, await change(id, { clientName }), 409, 'UNIQUE_VIOLATION', '/clientName')
    }
    const response = await change(id, { fields: [{ name: 'a', clientName: 'ID' }] })
    expectError(t, response, 409, 'UNIQUE_VIOLATION', '/fields/0/clientName')
    t.match(response.json().error.message, /'ID'.* the field 'id'/)
  })
  t.test('if a concurrent request takes it', async (t) => {
    const both = await Promise.all([
      change(id, { clientName: 'Contested' }),
      change(other, { clientName: 'Contested' })
    ])
    t.strictSame(both.map(({ statusCode }) => statusCode).sort(), [200, 409])
  })
  t.test('for a table that does not exist', async (t) => {
    expectError(t, await change(999_999, { clientName: 'Taken' }), 404, 'TABLE_NOT_FOUND')
  })
  t.test('in an import of a table', async (t) => {
    const response = await admin.post('/admin/tables/import', { name: 'x', clientName: 'X' })
    expectError(t, response, 400, 'VALIDATION_FAILED', '/clientName')
  })
})

t.test('an import takes names of fields', async (t) => {
  openServed(t, file).exec('CREATE TABLE late (id INTEGER PRIMARY KEY, a TEXT)')
  const body = { name: 'late', fields: [{ name: 'a', clientName: 'Better' }] }
  const refused = { name: 'late', fields: [{ name: 'a', clientName: 'Id' }] }
  expectError(t, await admin.post('/admin/tables/import', refused), 409, 'UNIQUE_VIOLATION', '/fields/0/clientName')
  t.equal(fieldOf(dataOf(await admin.post('/admin/tables/import', body)), 'a').clientName, 'Better')
})

t.test('keys, defaults and checks are described as they are', async (t) => {
  const order = dataOf(await token.get('/data/Order/schema')) as Table
  const facts = order.fields.map(
    ({
      label: _,
      sqliteType: __,
      isPrimary: ___,
      isAutoIncrement: ____,
      isHidden: _____,
      isReadonly: ______,
      isIndexed: _______,
      isUnique: ________,
      ...field
    }) => field
  )
  t.strictSame(facts, [
    {
      name: 'id',
      jsonType: 'integer',
      nullable: true,
      defaultValue: null,
      clientName: 'Id',
      isRequired: false,
      isNullable: false,
      isExact: true,
      defaultKind: 'none'
    },
    {
      name: 'status',
      jsonType: 'string',
      nullable: false,
      defaultValue: null,
      clientName: 'Status',
      isRequired: true,
      isNullable: false,
      isExact: true,
      defaultKind: 'none',
      allowedValues: ['new', 'paid']
    },
    {
      name: 'total',
      jsonType: 'number',
      nullable: true,
      defaultValue: null,
      clientName: 'Total',
      isRequired: false,
      isNullable: true,
      isExact: true,
      defaultKind: 'none',
      minimum: 0
    },
    {
      name: 'discount',
      jsonType: 'integer',
      nullable: true,
      defaultValue: '1 + 1',
      clientName: 'Discount',
      isRequired: false,
      isNullable: true,
      isExact: false,
      defaultKind: 'expression',
      minimum: 0,
      maximum: 50
    },
    {
      name: 'note',
      jsonType: 'string',
      nullable: true,
      defaultValue: '1+1',
      clientName: 'Note',
      isRequired: false,
      isNullable: true,
      isExact: true,
      defaultKind: 'value',
      maxLength: 9
    },
    {
      name: 'at',
      jsonType: 'string',
      nullable: true,
      defaultValue: 'CURRENT_TIMESTAMP',
      clientName: 'At',
      isRequired: false,
      isNullable: true,
      isExact: true,
      defaultKind: 'expression'
    }
  ])
})

t.test('a key that SQLite does not generate is required, and null only where SQLite permits it', async (t) => {
  const honest = (table: Table) =>
    table.fields.map(({ name, isRequired, isNullable }) => [name, isRequired, isNullable])
  const listed = dataOf(await admin.get('/admin/tables')) as Table[]
  const find = (name: string) => listed.find((table) => table.name === name) as Table
  t.strictSame(honest(find('order ')).slice(0, 1), [['code', true, true]], 'a text key of a table that is not STRICT')
  t.strictSame(honest(find('Track Page')), [
    ['a', true, false],
    ['b', true, false]
  ])
  t.strictSame(honest(find('class')), [
    ['rowid', false, false],
    ['class', false, true]
  ])
  const own = await createTable(admin, {
    name: 'own_key',
    fields: [
      { name: 'code', jsonType: 'string', isPrimary: true },
      { name: 'b', jsonType: 'string', nullable: false }
    ],
    autoTimestamps: true
  })
  t.strictSame(honest(own), [
    ['code', true, false],
    ['b', true, false],
    ['created_at', false, true],
    ['updated_at', false, true]
  ])
  const refreshed = dataOf(await admin.post(`/admin/tables/${own.id}/refresh`))
  t.strictSame(refreshed.fields, own.fields)
})

t.test('a hidden column appears neither in the checks nor in the warnings that tokens see', async (t) => {
  const listed = dataOf(await admin.get('/admin/tables')) as Table[]
  const { id } = listed.find(({ name }) => name === 'Order') as Table
  dataOf(await change(id, { fields: [{ name: 'discount', isHidden: true }] }))
  t.notMatch((await token.get('/data/Order/schema')).body, /discount|"maximum"/)
  const odd = listed.find(({ name }) => name === 'order ') as Table
  t.match(odd.warnings, [/'my col' and 'my_col'/, /'a"b' has quotes/])
  dataOf(await change(odd.id, { fields: [{ name: 'my_col', isHidden: true }] }))
  const visible = dataOf(await token.get('/data/order%20/schema')) as Table
  t.match(visible.warnings, [/'a"b' has quotes/])
  t.equal(visible.warnings.length, 1)
})

t.test('checks are not reported for a type that was chosen for other values', async (t) => {
  const db = openServed(t, file)
  db.exec('CREATE TABLE flags (id INTEGER PRIMARY KEY, flag BOOLEAN)')
  const { id } = await importTable(admin, 'flags')
  db.exec('DROP TABLE flags; CREATE TABLE flags (id INTEGER PRIMARY KEY, flag NUMERIC CHECK (flag IN (0, 1)))')
  const field = fieldOf(dataOf(await admin.post(`/admin/tables/${id}/refresh`)), 'flag')
  t.match(field, { jsonType: 'boolean', isExact: true })
  t.notOk('allowedValues' in field)
})
