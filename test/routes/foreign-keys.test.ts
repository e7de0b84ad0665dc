import t from 'tap'
import type { Field, Table } from '../../schemas/table.ts'
import { asAdmin, asToken, type Client, createDatabase, dataOf, importTable, startApp } from '../helpers.ts'
import { openServed } from '../served.ts'

const file = createDatabase(
  t,
  `CREATE TABLE artists (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
   CREATE TABLE rooms (house TEXT, number INTEGER, PRIMARY KEY (house, number));
   CREATE TABLE unknown (id INTEGER PRIMARY KEY);
   CREATE TABLE albums (
     id INTEGER PRIMARY KEY, artist INTEGER REFERENCES artists, cover_artist INTEGER REFERENCES artists (id),
     stage_name TEXT REFERENCES artists (name), house TEXT, room INTEGER, other INTEGER REFERENCES unknown,
     lost INTEGER REFERENCES nowhere (id),
     FOREIGN KEY (house, room) REFERENCES rooms
   );
   CREATE INDEX by_room ON albums (house, room)`
)

const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const artists = await importTable(admin, 'artists')
const rooms = await importTable(admin, 'rooms')
const albums = await importTable(admin, 'albums')
const reader = await asToken(app, admin, { tables: ['*'], actions: ['read'] })

const schemaOf = async (client: Client) => dataOf(await client.get('/data/albums/schema')) as Table
const referencesIn = ({ fields }: { fields: readonly Field[] }) =>
  fields.flatMap(({ name, references }) => (references ? [[name, references.table, references.field]] : []))

const documentAt = async (client: Client, url: string) => (await client.get(url)).json().components.schemas.Albums
const referencesAt = async (client: Client, url = '/data/_openapi.json') => {
  const { properties } = await documentAt(client, url)
  return Object.entries<{ 'x-references'?: { table: string; field: string } }>(properties).flatMap(
    ([name, { 'x-references': target }]) => (target ? [[name, target.table, target.field]] : [])
  )
}

const TO_ARTISTS = [
  ['artist', 'artists', 'id'],
  ['cover_artist', 'artists', 'id']
]
const TO_NAME = ['stage_name', 'artists', 'name']
const TO_UNKNOWN = ['other', 'unknown', 'id']
const ROOM_KEY = { fields: ['house', 'room'], table: 'rooms', targetFields: ['house', 'number'] }

t.test('an administrator sees every foreign key whose target exists', async (t) => {
  const table = dataOf(await admin.get(`/admin/tables/${albums.id}`)) as Table
  t.strictSame(referencesIn(table), [...TO_ARTISTS, TO_NAME, TO_UNKNOWN])
  t.strictSame(table.foreignKeys, [
    { fields: ['artist'], table: 'artists', targetFields: ['id'] },
    { fields: ['cover_artist'], table: 'artists', targetFields: ['id'] },
    { fields: ['stage_name'], table: 'artists', targetFields: ['name'] },
    { fields: ['other'], table: 'unknown', targetFields: ['id'] },
    ROOM_KEY
  ])
  t.equal(table.kind, 'table')
  t.strictSame(artists.foreignKeys, [])
})

t.test('a table shows the fields that an index has', async (t) => {
  const facts = ({ fields }: Table) =>
    fields.map(({ name, isIndexed, isUnique }) => [name, isIndexed, isUnique]).filter(([, indexed]) => indexed)
  t.strictSame(facts(artists), [
    ['id', true, true],
    ['name', true, true]
  ])
  t.strictSame(facts(rooms), [['house', true, false]])
  t.strictSame(facts(await schemaOf(reader)), [
    ['id', true, true],
    ['house', true, false]
  ])
})

t.test('a token sees a foreign key to a table that it can read', async (t) => {
  const schema = await schemaOf(reader)
  t.strictSame(referencesIn(schema), [...TO_ARTISTS, TO_NAME])
  t.strictSame(schema.foreignKeys.at(-1), ROOM_KEY)
  t.notMatch(JSON.stringify(schema), /unknown|nowhere/)
  t.strictSame(await referencesAt(reader), [...TO_ARTISTS, TO_NAME])
})

t.test('a token does not see a foreign key', async (t) => {
  t.test('to a table outside its tables', async (t) => {
    const narrow = await asToken(app, admin, { tables: ['albums', 'rooms'], actions: ['read'] })
    const schema = await schemaOf(narrow)
    t.strictSame(referencesIn(schema), [])
    t.strictSame(schema.foreignKeys, [ROOM_KEY])
    t.strictSame(await referencesAt(narrow), [])
  })
  t.test('without the right to read', async (t) => {
    const creator = await asToken(app, admin, { tables: ['*'], actions: ['create'] })
    t.strictSame(await referencesAt(creator), [])
  })
  t.test('to a table that is not published', async (t) => {
    const publish = (isPublished: boolean) => admin.put(`/admin/tables/${artists.id}`, { isPublished })
    await publish(false)
    t.strictSame(referencesIn(await schemaOf(reader)), [])
    t.strictSame(await referencesAt(reader), [])
    t.strictSame(await referencesAt(admin, '/admin/openapi.json?tables=albums'), [...TO_ARTISTS, TO_NAME])
    await publish(true)
    t.strictSame(referencesIn(await schemaOf(reader)), [...TO_ARTISTS, TO_NAME])
    t.strictSame(await referencesAt(reader), [...TO_ARTISTS, TO_NAME])
  })
  t.test('to a hidden field', async (t) => {
    const hide = (isHidden: boolean) =>
      admin.put(`/admin/tables/${artists.id}`, { fields: [{ name: 'name', isHidden }] })
    await hide(true)
    t.strictSame(referencesIn(await schemaOf(reader)), TO_ARTISTS)
    t.strictSame(await referencesAt(reader), TO_ARTISTS)
    await hide(false)
    t.strictSame(await referencesAt(reader), [...TO_ARTISTS, TO_NAME])
  })
  t.test('of a hidden field', async (t) => {
    const hide = (isHidden: boolean) =>
      admin.put(`/admin/tables/${albums.id}`, { fields: [{ name: 'room', isHidden }] })
    await hide(true)
    const { foreignKeys } = await schemaOf(reader)
    t.notMatch(JSON.stringify(foreignKeys), /room/)
    await hide(false)
    t.strictSame((await schemaOf(reader)).foreignKeys.at(-1), ROOM_KEY)
  })
})

t.test('a change of the permissions is in the next document', async (t) => {
  const permissions = { tables: ['albums', 'artists'], actions: ['read'] }
  const { id, token } = dataOf(await admin.post('/admin/tokens', { name: 'changing', permissions }))
  const references = async () => {
    const headers = { authorization: `Bearer ${token}` }
    const document = (await app.inject({ url: '/data/_openapi.json', headers })).json()
    return document.components.schemas.Albums.properties.artist['x-references']
  }
  t.strictSame(await references(), { table: 'artists', field: 'id' })
  await admin.put(`/admin/tokens/${id}`, { permissions: { ...permissions, tables: ['albums'] } })
  t.equal(await references(), undefined)
})

t.test("an administrator's document names the registered targets, in 3.0 too", async (t) => {
  const url = '/admin/openapi.json?tables=albums'
  t.strictSame(await referencesAt(admin, url), [...TO_ARTISTS, TO_NAME])
  const { id } = await importTable(admin, 'unknown')
  t.strictSame(await referencesAt(admin, url), [...TO_ARTISTS, TO_NAME, TO_UNKNOWN])
  t.strictSame(await referencesAt(admin, `${url}&openapi=3.0`), [...TO_ARTISTS, TO_NAME, TO_UNKNOWN])
  t.strictSame(await referencesAt(admin, '/admin/openapi.json'), [...TO_ARTISTS, TO_NAME, TO_UNKNOWN])
  await admin.delete(`/admin/tables/${id}?confirm=true`)
  t.strictSame(await referencesAt(admin, url), [...TO_ARTISTS, TO_NAME])
})

t.test('a foreign key to a table that cannot be served is not shown', async (t) => {
  const external = openServed(t, file)
  external.exec('ALTER TABLE rooms RENAME TO old_rooms; ALTER TABLE old_rooms RENAME COLUMN number TO no')
  const refreshed = dataOf(await admin.post(`/admin/tables/${albums.id}/refresh`)) as Table
  const renamed = { fields: ['house', 'room'], table: 'old_rooms', targetFields: ['house', 'no'] }
  t.strictSame(refreshed.foreignKeys.at(-1), renamed)
  t.notMatch(JSON.stringify(await schemaOf(reader)), /rooms/)
})
