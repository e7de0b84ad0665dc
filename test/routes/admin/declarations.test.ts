import t from 'tap'
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
  `CREATE TABLE collated (id INTEGER PRIMARY KEY, code TEXT);
   CREATE UNIQUE INDEX collated_codes ON collated (code COLLATE NOCASE);
   CREATE VIEW codes AS SELECT code FROM collated;`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)

const declare = (name: string, ...fields: readonly object[]) => admin.post('/admin/tables', { name, label: '', fields })
const add = ({ id }: Table, field: object) => admin.post(`/admin/tables/${id}/fields`, { field })
const create = ({ id }: Table, record: object) => admin.post(`/admin/tables/${id}/data`, record)
const fieldOf = ({ fields }: Table, name: string) => fields.find((field) => field.name === name) as Field

const people = await createTable(admin, {
  name: 'people',
  fields: [
    { name: 'code', jsonType: 'string', isUnique: true },
    { name: 'age', jsonType: 'integer', isIndexed: true }
  ]
})

t.test('a unique and an indexed field get an index of the API', async (t) => {
  t.match(fieldOf(people, 'code'), { isUnique: true, isIndexed: true })
  t.match(fieldOf(people, 'age'), { isUnique: false, isIndexed: true })
  t.strictSame(dataOf(await admin.get(`/admin/tables/${people.id}`)), people)
  const indexes = dataOf(await admin.get(`/admin/tables/${people.id}/indexes`))
  t.match(indexes, [
    { fields: ['age'], isUnique: false, isOurs: true },
    { fields: ['code'], isUnique: true, isOurs: true }
  ])
  dataOf(await create(people, { code: 'a' }))
  expectError(t, await create(people, { code: 'a' }), 409, 'UNIQUE_VIOLATION', '/code')
  dataOf(await create(people, { code: 'b' }))
})

t.test('the key needs no index of its own', async (t) => {
  const fields = [{ name: 'n', jsonType: 'string', isPrimary: true, isUnique: true, isIndexed: true } as const]
  const { id } = await createTable(admin, { name: 'keyed', fields })
  t.match(dataOf(await admin.get(`/admin/tables/${id}/indexes`)), [{ isOurs: false }])
})

t.test('a unique field can be added, unless existing records would have the same default', async (t) => {
  const email = { name: 'email', jsonType: 'string', isUnique: true }
  t.match(fieldOf(dataOf(await add(people, email)), 'email'), { isUnique: true, isIndexed: true })
  t.strictSame(
    dataOf(await add(people, { name: 'note', jsonType: 'string', isIndexed: true })).fields.at(-1).isIndexed,
    true
  )
  const same = await add(people, { ...email, name: 'same', defaultValue: 'x' })
  expectError(t, same, 409, 'UNIQUE_VIOLATION', '/field/defaultValue')
  const table = await createTable(admin, { name: 'empty', fields: [{ name: 'a', jsonType: 'string' }] })
  t.match(fieldOf(dataOf(await add(table, { ...email, defaultValue: 'x' })), 'email'), { isUnique: true })
})

t.test('several primary fields are a composite key', async (t) => {
  const fields = [
    { name: 'club', jsonType: 'string', isPrimary: true },
    { name: 'person', jsonType: 'integer', isPrimary: true, defaultValue: 1 },
    { name: 'since', jsonType: 'integer' }
  ]
  const table = dataOf(await declare('membership', ...fields)) as Table
  t.equal(table.primaryKey, 'club,person')
  t.match(fieldOf(table, 'club'), { isIndexed: true, isUnique: false, isRequired: true, isNullable: false })
  t.match(fieldOf(table, 'person'), { isIndexed: false, isUnique: false, isRequired: false, isNullable: false })
  dataOf(await create(table, { club: 'a,b', person: 7, since: 2020 }))
  t.match(dataOf(await admin.get(`/admin/tables/${table.id}/data/a%2Cb,7`)), { since: 2020 })
  expectError(t, await create(table, { club: 'a,b', person: 7 }), 409, 'UNIQUE_VIOLATION')
  const auto = fields.map((field) => ({ ...field, ...(field.jsonType === 'integer' && { isAutoIncrement: true }) }))
  expectError(t, await declare('auto', ...auto), 400, 'VALIDATION_FAILED', '/fields/1/isAutoIncrement')
})

t.test('checks are enforced and shown', async (t) => {
  const table = dataOf(
    await declare(
      'checked',
      { name: 'age', jsonType: 'integer', check: { minimum: 0, maximum: 150 } },
      { name: 'share', jsonType: 'number', check: { minimum: -0.5, enum: [-0.5, 1e-7, 3] }, defaultValue: 3 },
      { name: 'state', jsonType: 'string', check: { enum: ['new', "it's"] } },
      { name: 'name', jsonType: 'string', check: { minLength: 2, maxLength: 3 }, defaultValue: 'ab' }
    )
  ) as Table
  t.match(fieldOf(table, 'age'), { minimum: 0, maximum: 150 })
  t.match(fieldOf(table, 'share'), { minimum: -0.5, allowedValues: [-0.5, 1e-7, 3] })
  t.match(fieldOf(table, 'state'), { allowedValues: ['new', "it's"] })
  t.match(fieldOf(table, 'name'), { minLength: 2, maxLength: 3 })
  t.strictSame(dataOf(await admin.post(`/admin/tables/${table.id}/refresh`)).fields, table.fields, 'as SQLite has them')
  dataOf(await create(table, { age: 150, share: 1e-7, state: "it's", name: '表表表' }))
  dataOf(await create(table, { age: null, state: null }))
  for (const record of [{ age: 151 }, { age: -1 }, { share: 4 }, { state: 'old' }, { name: 'a' }, { name: 'abcd' }]) {
    const [path] = Object.keys(record)
    expectError(t, await create(table, record), 400, 'CONSTRAINT_VIOLATION', `/${path}`)
  }
  const added = dataOf(await add(table, { name: 'size', jsonType: 'integer', check: { minimum: 1 }, defaultValue: 1 }))
  t.match(fieldOf(added, 'size'), { minimum: 1, defaultValue: 1 })
  expectError(t, await create(table, { size: 0 }), 400, 'CONSTRAINT_VIOLATION', '/size')
})

t.test('a check must suit its field', async (t) => {
  const refused: readonly (readonly [object, string])[] = [
    [{ jsonType: 'string', check: { minimum: 1 } }, 'check/minimum'],
    [{ jsonType: 'integer', check: { maxLength: 1 } }, 'check/maxLength'],
    [{ jsonType: 'boolean', check: { enum: [true] } }, 'check/enum'],
    [{ jsonType: 'string', sqliteType: 'BLOB', check: { minLength: 1 } }, 'check/minLength'],
    [{ jsonType: 'integer', check: { minimum: 1.5 } }, 'check/minimum'],
    [{ jsonType: 'integer', check: { minimum: 2, maximum: 1 } }, 'check/minimum'],
    [{ jsonType: 'string', check: { minLength: 2, maxLength: 1 } }, 'check/minLength'],
    [{ jsonType: 'integer', check: { enum: [1, 1.5] } }, 'check/enum'],
    [{ jsonType: 'number', check: { enum: [1e300] } }, 'check/enum'],
    [{ jsonType: 'string', check: { enum: ['a', 1] } }, 'check/enum'],
    [{ jsonType: 'integer', check: { minimum: 1 }, defaultValue: 0 }, 'defaultValue'],
    [{ jsonType: 'string', check: { maxLength: 1 }, defaultValue: 'ab' }, 'defaultValue'],
    [{ jsonType: 'string', check: {} }, 'check'],
    [{ jsonType: 'string', check: { pattern: 'a' } }, 'check/pattern']
  ]
  for (const [field, path] of refused) {
    expectError(t, await declare('refused', { name: 'a', ...field }), 400, 'VALIDATION_FAILED', `/fields/0/${path}`)
    expectError(t, await add(people, { name: 'refused', ...field }), 400, 'VALIDATION_FAILED', `/field/${path}`)
  }
})

t.test('a field refers to the key or a unique field of a table', async (t) => {
  const table = dataOf(
    await declare(
      'pets',
      { name: 'owner', jsonType: 'integer', references: { table: 'PEOPLE', field: 'ID', onDelete: 'cascade' } },
      { name: 'keeper', jsonType: 'string', references: { table: 'people', field: 'code', onDelete: 'setNull' } },
      { name: 'mother', jsonType: 'integer', references: { table: 'pets', field: 'id', onDelete: 'restrict' } }
    )
  ) as Table
  t.strictSame(fieldOf(table, 'owner').references, { table: 'people', field: 'id' })
  t.strictSame(fieldOf(table, 'keeper').references, { table: 'people', field: 'code' })
  t.strictSame(fieldOf(table, 'mother').references, { table: 'pets', field: 'id' })

  const person = dataOf(await create(people, { code: 'c' }))
  expectError(t, await create(table, { owner: 999 }), 409, 'FOREIGN_KEY_VIOLATION')
  const pet = dataOf(await create(table, { owner: person.id }))
  const kept = dataOf(await create(table, { keeper: 'c' }))
  t.equal(dataOf(await admin.get(`/admin/tables/${table.id}/data`)).total, 2)
  dataOf(await admin.delete(`/admin/tables/${people.id}/data/${person.id}`))
  expectError(t, await admin.get(`/admin/tables/${table.id}/data/${pet.id}`), 404, 'RECORD_NOT_FOUND')
  t.match(dataOf(await admin.get(`/admin/tables/${table.id}/data/${kept.id}`)), { keeper: null })
  t.equal(dataOf(await admin.get(`/admin/tables/${table.id}/data`)).total, 1, 'cached totals know the cascade')

  const friend = { name: 'friend', jsonType: 'integer', references: { table: 'pets', field: 'id' } }
  const changed = dataOf(await add(table, friend)) as Table
  t.strictSame(fieldOf(changed, 'friend').references, { table: 'pets', field: 'id' })
  dataOf(await create(table, { friend: kept.id, mother: kept.id }))
  expectError(t, await admin.delete(`/admin/tables/${table.id}/data/${kept.id}`), 409, 'FOREIGN_KEY_VIOLATION')
})

t.test('a reference needs a registered, unique target of the same stored type', async (t) => {
  await importTable(admin, 'collated')
  await importTable(admin, 'codes')
  const field = (table: string, name: string, more: object = {}) => ({
    name: 'a',
    jsonType: 'string',
    references: { table, field: name },
    ...more
  })
  const refused: readonly (readonly [object, string])[] = [
    [field('nowhere', 'id'), 'references'],
    [field('people', 'nothing'), 'references'],
    [field('codes', 'code'), 'references'],
    [field('people', 'age', { jsonType: 'integer' }), 'references/field'],
    [field('people', 'id'), 'jsonType'],
    [
      field('people', 'code', { references: { table: 'people', field: 'code', onDelete: 'setNull' }, nullable: false }),
      'references/onDelete'
    ]
  ]
  for (const [sent, path] of refused) {
    expectError(t, await declare('refused', sent), 400, 'VALIDATION_FAILED', `/fields/0/${path}`)
    expectError(t, await add(people, sent), 400, 'VALIDATION_FAILED', `/field/${path}`)
  }
  const withDefault = field('people', 'code', { defaultValue: 'a' })
  expectError(t, await add(people, withDefault), 400, 'VALIDATION_FAILED', '/field/defaultValue')
  expectError(t, await declare('mismatched', field('collated', 'code')), 409, 'STRUCTURE_CHANGED')
  expectError(t, await add(people, field('collated', 'code')), 409, 'STRUCTURE_CHANGED')
  t.notOk((dataOf(await admin.get('/admin/tables')) as Table[]).some(({ name }) => name === 'mismatched'))
})

t.test('a token refers only to fields that it can read', async (t) => {
  await createTable(admin, {
    name: 'secrets',
    fields: [
      { name: 'open', jsonType: 'string', isUnique: true },
      { name: 'closed', jsonType: 'string', isUnique: true, isHidden: true }
    ]
  })
  const reader = await asToken(app, admin, { tables: ['own', 'secrets'], actions: ['read', 'schema'] })
  const outsider = await asToken(app, admin, { tables: ['own', 'other'], actions: ['read', 'schema'] })
  const blind = await asToken(app, admin, { tables: ['own', 'secrets'], actions: ['schema'] })
  const body = (name: string, field: string, table = 'secrets') => ({
    name,
    label: '',
    fields: [{ name: 'a', jsonType: 'string', references: { table, field } }]
  })
  for (const [client, field] of [
    [outsider, 'open'],
    [blind, 'open'],
    [reader, 'closed']
  ] as const) {
    const response = await client.post('/data/_schema/tables', body('own', field))
    expectError(t, response, 400, 'VALIDATION_FAILED', '/fields/0/references')
    const missing = await client.post('/data/_schema/tables', body('own', field, 'missing'))
    t.equal(
      response.json().error.message.replace('secrets', 'missing'),
      missing.json().error.message,
      'as if the table did not exist'
    )
  }
  dataOf(await reader.post('/data/_schema/tables', body('own', 'open')))
  const addition = (field: string) => ({
    field: { name: 'b', jsonType: 'string', references: { table: 'secrets', field } }
  })
  const url = '/data/_schema/tables/own/fields'
  expectError(t, await outsider.post(url, addition('open')), 400, 'VALIDATION_FAILED', '/field/references')
  t.strictSame(dataOf(await reader.post(url, addition('open'))).fields.at(-1).references, {
    table: 'secrets',
    field: 'open'
  })
})

t.test('the declarations are those of SQLite', async (t) => {
  const db = openServed(t, file, { readonly: true })
  const sql = db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'pets'").pluck().get()
  t.match(sql, /"owner" INTEGER REFERENCES "people" \("id"\) ON DELETE CASCADE, "keeper" TEXT REFERENCES/)
})
