import t, { type Test } from 'tap'
import type { NewField, Table } from '../../../schemas/table.ts'
import { createTypedDocuments, dataArea } from '../../../services/documents/typed-document.ts'
import { asAdmin, asToken, createDatabase, createTable, importTable, startApp } from '../../helpers.ts'

t.test('a generic document without an operation of the area is refused', async (t) => {
  const generic = { openapi: '3.1.0', info: { version: '0.1.0' }, servers: [], tags: [], paths: {}, components: {} }
  t.throws(() => createTypedDocuments(generic, dataArea), /The generic document has no get \/data\/\{table\}\./)
})

t.test('a table of ten fields takes less than 12,000 bytes', async (t) => {
  const tracks = `CREATE TABLE tracks (id INTEGER PRIMARY KEY, title TEXT, genre TEXT, stock INTEGER, price REAL,
    album_id INTEGER REFERENCES albums, composer TEXT, is_public BOOLEAN, artist_id INTEGER REFERENCES artists, released TEXT)`
  const targets = 'CREATE TABLE albums (id INTEGER PRIMARY KEY); CREATE TABLE artists (id INTEGER PRIMARY KEY)'
  const app = await startApp(t, { env: { DATABASE: createDatabase(t, `${targets}; ${tracks}`) } })
  const admin = await asAdmin(app)
  const token = await asToken(app, admin)
  const lengthOf = async () => Buffer.byteLength((await token.get('/data/_openapi.json')).body)
  const expectLength = async (t: Test, add: () => Promise<Table>) => {
    const before = await lengthOf()
    t.equal((await add()).fields.length, 10)
    const length = (await lengthOf()) - before
    t.comment(`${length} bytes`)
    t.ok(length < 12_000, `${length} bytes`)
  }

  t.test('with two foreign keys', async (t) => {
    await importTable(admin, 'albums')
    await importTable(admin, 'artists')
    await expectLength(t, () => importTable(admin, 'tracks'))
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
    await expectLength(t, () => createTable(admin, { name: 'movies', fields }))
  })
})
