import t from 'tap'
import { asAdmin, asToken, createDatabase, dataOf, expectError, importTable, startApp } from '../helpers.ts'
import { openServed } from '../served.ts'

const file = createDatabase(
  t,
  `CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT, secret TEXT);
   INSERT INTO cats VALUES (1, 'Tom', 'x'), (2, 'Felix', 'y');`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const { id } = await importTable(admin, 'cats')
dataOf(await admin.put(`/admin/tables/${id}`, { fields: [{ name: 'secret', isHidden: true }] }))
// Another program adds a column, which is not registered before a refresh.
openServed(t, file).exec('ALTER TABLE cats ADD COLUMN unregistered TEXT')
const writer = await asToken(app, admin, { tables: ['cats'], actions: ['read', 'schema'] })

const add = (field: object) => writer.post('/data/_schema/tables/cats/fields', { field })
const addAsAdmin = (field: object) => admin.post(`/admin/tables/${id}/fields`, { field })

/** Names that a token cannot add, each with what an administrator gets. */
const REFUSED = {
  name: [409, 'FIELD_EXISTS', /^The table already has a field named 'name'\.$/],
  secret: [409, 'FIELD_EXISTS', /^The table already has a field named 'secret'\.$/],
  SECRET: [409, 'FIELD_EXISTS', /^The table already has a field named 'SECRET'\.$/],
  unregistered: [409, 'FIELD_EXISTS', /^The table already has a field with this name\.$/],
  sqlite_x: [400, 'VALIDATION_FAILED', /^'sqlite_x' must not begin with sqlite_, which SQLite reserves\.$/]
} as const

for (const [name, [status, code, message]] of Object.entries(REFUSED))
  t.test(`a token cannot find out why it cannot add '${name}'`, async (t) => {
    const errors = [{}, { references: { table: 'cats', field: 'id' } }, { isUnique: true, isIndexed: true }]
    for (const more of errors) {
      const refused = await add({ name, jsonType: 'integer', ...more })
      expectError(t, refused, 409, 'FIELD_EXISTS')
      const { requestId: _, ...error } = refused.json().error
      t.strictSame(error, {
        code: 'FIELD_EXISTS',
        message: `The name '${name}' is taken or reserved.`,
        hint: 'Choose another name.'
      })
    }
    expectError(t, await add({ name, jsonType: 'integer', nullable: false }), 400, 'VALIDATION_FAILED')
    const precise = await addAsAdmin({ name, jsonType: 'integer' })
    expectError(t, precise, status, code)
    t.match(precise.json().error.message, message)
  })

t.test('a token adds a field under a free name', async (t) => {
  const { fields } = dataOf(await add({ name: 'secrets', jsonType: 'integer' })) as { fields: { name: string }[] }
  t.strictSame(
    fields.map(({ name }) => name),
    ['id', 'name', 'secrets']
  )
  t.equal((await addAsAdmin({ name: 'more', jsonType: 'integer' })).statusCode, 200)
})

t.test('a new table has no names to hide, so a reserved one has a reason', async (t) => {
  const create = (name: string) =>
    writer.post('/data/_schema/tables', { name: 'cats', label: '', fields: [{ name, jsonType: 'integer' }] })
  const reserved = await create('sqlite_x')
  expectError(t, reserved, 400, 'VALIDATION_FAILED', '/fields/0/name')
  t.match(reserved.json().error.message, 'sqlite_')
  expectError(t, await create('name'), 409, 'TABLE_EXISTS')
})
