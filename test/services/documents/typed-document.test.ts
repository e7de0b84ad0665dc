import t, { type Test } from 'tap'
import type { NewField } from '../../../schemas/new-table.ts'
import type { Table } from '../../../schemas/table.ts'
import { createTypedDocuments, dataArea } from '../../../services/documents/typed-document.ts'
import { asAdmin, asToken, createDatabase, createTable, dataOf, importTable, startApp } from '../../helpers.ts'

t.test('a generic document without an operation of the area is refused', async (t) => {
  const generic = { openapi: '3.1.0', info: { version: '0.1.0' }, servers: [], tags: [], paths: {}, components: {} }
  t.throws(() => createTypedDocuments(generic, dataArea), /The generic document has no get \/data\/\{table\}\./)
})

t.test('a table of ten fields takes less than 14,000 bytes, and 500 more for each reference', async (t) => {
  const tracks = `CREATE TABLE tracks (id INTEGER PRIMARY KEY, title TEXT, genre TEXT, stock INTEGER, price REAL,
    album_id INTEGER REFERENCES albums, composer TEXT, is_public BOOLEAN, artist_id INTEGER REFERENCES artists, released TEXT)`
  // One column for each kind of condition, which all tables share.
  const targets = `CREATE TABLE albums (id INTEGER PRIMARY KEY, t TEXT, r REAL, b BOOLEAN, x BLOB);
    CREATE TABLE artists (id INTEGER PRIMARY KEY)`
  const app = await startApp(t, { env: { DATABASE: createDatabase(t, `${targets}; ${tracks}`) } })
  const admin = await asAdmin(app)
  const token = await asToken(app, admin)
  const lengthOf = async () => Buffer.byteLength((await token.get('/data/_openapi.json')).body)
  const expectLength = async (t: Test, references: number, add: () => Promise<Table>) => {
    const before = await lengthOf()
    t.equal((await add()).fields.length, 10)
    const length = (await lengthOf()) - before
    t.comment(`${length} bytes`)
    t.ok(length < 14_000 + 500 * references, `${length} bytes`)
  }

  t.test('with two foreign keys', async (t) => {
    await importTable(admin, 'albums')
    await importTable(admin, 'artists')
    await expectLength(t, 2, () => importTable(admin, 'tracks'))
  })
  t.test('created through the API', async (t) => {
    const fields: NewField[] = [
      { name: 'title', jsonType: 'string' },
      { name: 'genre', jsonType: 'string' },
      { name: 'stock', jsonType: 'integer' },
      { name: 'price', jsonType: 'number' },
      { name: 'album_id', jsonType: 'integer' },
      { name: 'composer', jsonType: 'string' },
      { name: 'is_public', jsonType: 'boolean' },
      { name: 'settings', jsonType: 'object' },
      { name: 'released', jsonType: 'string' }
    ]
    await expectLength(t, 0, () => createTable(admin, { name: 'movies', fields }))
  })
})

t.test('an enum has only values that get different names in every client', async (t) => {
  const file = createDatabase(
    t,
    `CREATE TABLE states (
       id INTEGER PRIMARY KEY,
       plain TEXT NOT NULL CHECK (plain IN ('new', 'sent back', 'text/html')),
       near TEXT CHECK (near IN ('A', 'A-', 'B')),
       signs TEXT CHECK (signs IN ('+', '*/', '日本'))
     );
     CREATE TABLE plain (id INTEGER PRIMARY KEY, my_col INTEGER, other REAL);
     CREATE TABLE near (id INTEGER PRIMARY KEY, my_col INTEGER, "my col" REAL);
     CREATE TABLE signs (id INTEGER PRIMARY KEY, "+" INTEGER);`
  )
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  dataOf(await admin.post('/admin/tables/import', { names: ['*'] }))
  const token = await asToken(app, admin)
  const { schemas } = (await token.get('/data/_openapi.json')).json().components
  const { plain, near, signs } = schemas.StatesCreate.properties
  t.match(plain, { enum: ['new', 'sent back', 'text/html'], description: undefined })
  t.strictSame([near.enum, signs.enum], [undefined, undefined])
  t.match(near, { type: ['string', 'null'], description: 'One of: "A", "A-", "B".' })
  t.match(signs, { description: 'One of: "+", "* /", "日本".' })
  const fieldOf = (name: string) => schemas[`${name}Addition`].properties.field
  t.match(fieldOf('Plain'), { enum: ['my_col', 'other'], description: undefined })
  t.match(fieldOf('Near'), { type: 'string', description: 'One of: "my_col", "my col".' })
  t.match(fieldOf('Signs'), { type: 'string', description: 'One of: "+".' })
  t.strictSame([fieldOf('Near').enum, fieldOf('Signs').enum], [undefined, undefined])
})

t.test('a path has no quote, which some clients would copy into their code', async (t) => {
  const file = createDatabase(
    t,
    `CREATE TABLE "it's (!*)" (id INTEGER PRIMARY KEY); CREATE TABLE ItS (id INTEGER PRIMARY KEY)`
  )
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  // The other table of the file hides the client name.
  t.equal(dataOf(await admin.post('/admin/tables/import', { name: "it's (!*)" })).clientName, 'ItS')
  const token = await asToken(app, admin)
  const { paths } = (await token.get('/data/_openapi.json')).json()
  const path = '/data/it%27s%20%28%21%2A%29'
  t.ok(path in paths)
  t.strictSame(dataOf(await token.get(path)).rows, [])
})
