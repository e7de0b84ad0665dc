import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { LATEST_VERSION } from '../services/engine/writer/migrations.ts'
import { asAdmin, bearer, client, dataOf, expectData, expectError, startApp } from './helpers.ts'
import { copyOldDatabase, oldDatabases } from './old-databases.ts'

const OURS = "SELECT name, sql FROM sqlite_schema WHERE name LIKE '\\_rowhouse\\_%' ESCAPE '\\' ORDER BY name"

/** Returns our own tables and indexes. The indexes of administrators have our prefix, too. */
const ownSchema = (file: string) => {
  const db = new BetterSqlite3(file, { readonly: true })
  const rows = db.prepare<[], { name: string; sql: string }>(OURS).all()
  db.close()
  return rows.filter(({ sql }) => !/ ON "cats"/.test(sql))
}

t.test('there is a database of each version before the latest', async (t) => {
  const versions = oldDatabases.map(({ version }) => version)
  const expected = Array.from({ length: LATEST_VERSION - 1 }, (_, index) => index + 1)
  t.strictSame(
    expected.filter((version) => !versions.includes(version)),
    [],
    'npm run old-databases makes a missing one'
  )
})

for (const old of oldDatabases) {
  t.test(`a database of version ${old.version}`, async (t) => {
    const file = copyOldDatabase(t, old)
    const app = await startApp(t, { env: { DATABASE: file } })
    const admin = await asAdmin(app)
    const token = client(app, bearer(old.token))

    t.test('has the schema of a new one', async (t) => {
      const fresh = await startApp(t)
      t.strictSame(ownSchema(file), ownSchema(`${fresh.config.DATA_DIR}/rowhouse.db`))
    })

    t.test('keeps its tables, fields and indexes', async (t) => {
      const tables = dataOf(await admin.get('/admin/tables'))
      t.match(tables, [
        {
          name: 'cats',
          label: 'Cats',
          isPublished: true,
          isEditable: true,
          fields: [
            { name: 'name', jsonType: 'string', isPrimary: true, clientName: 'Name' },
            { name: 'lives', jsonType: 'integer', nullable: false, defaultValue: 9, isIndexed: old.hasIndexes },
            { name: 'tags', jsonType: 'array' },
            { name: 'chip', jsonType: 'string', isHidden: true },
            { name: 'created_at', jsonType: 'integer' },
            { name: 'updated_at', jsonType: 'integer' }
          ]
        },
        {
          name: 'toys',
          fields: [
            { name: 'id', jsonType: 'integer', isPrimary: true },
            { name: 'name', jsonType: 'string', isUnique: true },
            { name: 'price', jsonType: 'number', isIndexed: true }
          ]
        }
      ])
    })

    t.test('shows its administrator all fields', async (t) => {
      const [cats] = dataOf(await admin.get('/admin/tables'))
      t.match(dataOf(await admin.get(`/admin/tables/${cats.id}/data/Tom`)), {
        lives: 7,
        tags: ['grey', 'fast'],
        chip: 'x-42'
      })
    })

    t.test('lets its token read and write, without hidden fields', async (t) => {
      const tom = dataOf(await token.get('/data/cats/records/Tom'))
      t.match(tom, { lives: 7, tags: ['grey', 'fast'] })
      t.notOk('chip' in tom)
      expectData(t, await token.get('/data/toys/records/1'), { id: 1, name: 'ball', price: 2.5 })
      t.match(dataOf(await token.post('/data/cats/records', { name: 'Mia' })), {
        name: 'Mia',
        lives: 9,
        created_at: Number,
        updated_at: Number
      })
      t.equal(dataOf(await token.get('/data/cats')).total, 3)
    })

    t.test('refuses its revoked token', async (t) => {
      const response = await client(app, bearer(old.revokedToken)).get('/data/cats/records/Tom')
      expectError(t, response, 401, 'INVALID_TOKEN')
    })
  })
}
