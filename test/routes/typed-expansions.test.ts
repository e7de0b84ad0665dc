import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { checkDocument, createContract, type TypedDocument } from '../contract/typed-contract.ts'
import { asAdmin, asToken, type Client, createDatabase, dataOf, importTable, startApp } from '../helpers.ts'
import { openServed } from '../served.ts'

const file = createDatabase(
  t,
  `PRAGMA foreign_keys = OFF;
   CREATE TABLE countries (code TEXT PRIMARY KEY, name TEXT) STRICT;
   CREATE TABLE artists (id INTEGER PRIMARY KEY, name TEXT UNIQUE, alias TEXT, country TEXT REFERENCES countries, secret TEXT) STRICT;
   CREATE TABLE rooms (house TEXT, number INTEGER, PRIMARY KEY (house, number)) STRICT;
   CREATE TABLE unknown (id INTEGER PRIMARY KEY);
   CREATE TABLE albums (
     id INTEGER PRIMARY KEY, artist INTEGER REFERENCES artists, stage_name TEXT REFERENCES artists (name),
     alias TEXT REFERENCES artists (alias), house TEXT, room INTEGER, other INTEGER REFERENCES unknown,
     twice INTEGER REFERENCES unknown REFERENCES artists,
     FOREIGN KEY (house, room) REFERENCES rooms
   ) STRICT;
   CREATE TABLE employees (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES employees (id)) STRICT;
   CREATE TABLE odd (id INTEGER PRIMARY KEY, "Expand_" INTEGER REFERENCES employees (id)) STRICT;
   CREATE TABLE plain (id INTEGER PRIMARY KEY) STRICT;
   INSERT INTO countries VALUES ('AU', 'Australia');
   INSERT INTO artists VALUES (1, 'Ann', 'A', 'AU', 'x'), (2, 'Bob', 'B', NULL, 'y');
   INSERT INTO albums (id, artist, stage_name) VALUES (1, 1, 'Bob'), (2, NULL, NULL);
   INSERT INTO employees VALUES (1, NULL), (2, 1), (3, 2);`
)

const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const ids: Record<string, number> = {}
for (const name of ['countries', 'artists', 'rooms', 'albums', 'employees', 'odd', 'plain'])
  ids[name] = (await importTable(admin, name)).id
await admin.put(`/admin/tables/${ids.artists}`, { fields: [{ name: 'secret', isHidden: true }] })
const token = await asToken(app, admin)

const URL = '/data/_openapi.json'
const documentOf = async (client: Client, url = URL): Promise<TypedDocument> => (await client.get(url)).json()

const expandOf = ({ components }: TypedDocument, name: string) => {
  const { [`${name}Query`]: query, [name]: record, [`${name}Expand`]: added } = components.schemas
  return { query: query?.properties.expand, record: record?.properties.expand, added }
}

const NOTHING = { query: undefined, record: undefined, added: undefined }

/** Returns the fields of `albums` that can be expanded. */
const expandable = async (client: Client, url = URL) =>
  Object.keys(expandOf(await documentOf(client, url), 'Albums').added?.properties ?? {})

const recordOrNull = (name: string) => ({ anyOf: [{ $ref: `#/components/schemas/${name}` }, { type: 'null' }] })

t.test('a query of a table that refers to others can add their records', async (t) => {
  const document = await documentOf(token)
  const { query, record, added } = expandOf(document, 'Albums')
  t.match(query, { type: 'array', items: { type: 'string' }, maxItems: 10 })
  t.match(query?.description, /^Fields whose records to add: "artist", "stage_name"\. /)
  t.strictSame(record, { $ref: '#/components/schemas/AlbumsExpand' })
  t.notOk(document.components.schemas.Albums?.required?.includes('expand'))
  t.match(added, { type: 'object', additionalProperties: false, required: undefined })
  t.strictSame(added?.properties, { artist: recordOrNull('Artists'), stage_name: recordOrNull('Artists') })
  t.strictSame(expandOf(document, 'Employees').added?.properties, { boss: recordOrNull('Employees') })
  for (const version of ['3.1', '3.0']) await checkDocument(t, await documentOf(token, `${URL}?openapi=${version}`))
  const older = await documentOf(token, `${URL}?openapi=3.0`)
  const nullable = { allOf: [{ $ref: '#/components/schemas/Employees' }], type: 'object', nullable: true }
  t.strictSame(expandOf(older, 'Employees').added?.properties, { boss: nullable })
})

t.test('there is no union but of a record and null', async (t) => {
  const text = JSON.stringify(await documentOf(token))
  const others = text.replaceAll(/"anyOf":\[\{"\$ref":"[^"]+"\},\{"type":"null"\}\]/g, '')
  t.ok(others.length < text.length)
  t.notMatch(others, /anyOf|oneOf/)
})

t.test('the document is true of the responses', async (t) => {
  const contract = createContract(await documentOf(token))
  const expand = async (table: string, name: string, paths: readonly string[]) => {
    const body = { expand: paths }
    t.ok(contract.accepts(`${name}Query`, body), table)
    const response = await token.post(`/data/${table}/query`, body)
    t.equal(contract.problemsOf(`/data/${table}/query`, 'post', 200, response.json()), '', response.body)
    return dataOf(response).rows.map((row: { expand?: unknown }) => row.expand)
  }
  const ann = { id: 1, name: 'Ann', alias: 'A', country: 'AU' }
  const bob = { id: 2, name: 'Bob', alias: 'B', country: null }
  t.strictSame(await expand('albums', 'Albums', ['artist', 'stage_name']), [
    { artist: ann, stage_name: bob },
    { artist: null, stage_name: null }
  ])
  const australia = { country: { code: 'AU', name: 'Australia' } }
  t.strictSame(await expand('albums', 'Albums', ['artist.country']), [
    { artist: { ...ann, expand: australia } },
    { artist: null }
  ])
  const boss = { id: 1, boss: null }
  t.strictSame(await expand('employees', 'Employees', ['boss.boss']), [
    { boss: null },
    { boss: { ...boss, expand: { boss: null } } },
    { boss: { id: 2, boss: 1, expand: { boss } } }
  ])
  t.notOk(contract.accepts('PlainQuery', { expand: ['id'] }))
  t.equal((await token.post('/data/plain/query', { expand: ['id'] })).statusCode, 400)
  t.notOk(contract.accepts('AlbumsExpand', { house: null }))
  t.notOk(contract.accepts('AlbumsExpand', { artist: { id: 1 } }))
})

t.test('a table without such a reference has no expansions', async (t) => {
  const document = await documentOf(token)
  t.strictSame(expandOf(document, 'Countries'), NOTHING)
  t.strictSame(expandOf(document, 'Rooms'), NOTHING)
})

t.test('a table with a field that a client cannot have beside `expand` has no expansions', async (t) => {
  t.strictSame(expandOf(await documentOf(token), 'Odd'), NOTHING)
})

t.test('a token sees no expansion', async (t) => {
  t.strictSame(await expandable(token), ['artist', 'stage_name'])
  t.test('to a table outside its tables', async (t) => {
    const narrow = await asToken(app, admin, { tables: ['albums', 'rooms'], actions: ['read'] })
    const document = await documentOf(narrow)
    t.strictSame(expandOf(document, 'Albums'), NOTHING)
    t.notMatch(JSON.stringify(document), /rtists/)
    const wide = await asToken(app, admin, { tables: ['albums', 'artists'], actions: ['read'] })
    t.strictSame(await expandable(wide), ['artist', 'stage_name'])
    t.strictSame(expandOf(await documentOf(wide), 'Artists'), NOTHING)
  })
  t.test('without the right to read', async (t) => {
    const creator = await asToken(app, admin, { tables: ['*'], actions: ['create'] })
    t.strictSame(expandOf(await documentOf(creator), 'Albums'), NOTHING)
  })
  t.test('to a table that is not published', async (t) => {
    const publish = (isPublished: boolean) => admin.put(`/admin/tables/${ids.artists}`, { isPublished })
    await publish(false)
    t.strictSame(await expandable(token), [])
    await publish(true)
    t.strictSame(await expandable(token), ['artist', 'stage_name'])
  })
  t.test('to a hidden field, or of one', async (t) => {
    const hide = (table: string, name: string, isHidden: boolean) =>
      admin.put(`/admin/tables/${ids[table]}`, { fields: [{ name, isHidden }] })
    await hide('artists', 'name', true)
    t.strictSame(await expandable(token), ['artist'])
    await hide('albums', 'artist', true)
    t.strictSame(await expandable(token), [])
    await hide('artists', 'name', false)
    await hide('albums', 'artist', false)
    t.strictSame(await expandable(token), ['artist', 'stage_name'])
  })
})

t.test("an administrator's document has the expansions between its tables", async (t) => {
  const url = (tables: string) => `/admin/openapi.json?tables=${tables}`
  t.strictSame(await expandable(admin, url('albums')), [])
  t.strictSame(await expandable(admin, url('albums,artists')), ['artist', 'stage_name'])
})

t.test('if an older table has the name of the expansions, the query has no types', async (t) => {
  const rename = async (clientName: string) => {
    const external = openServed(t, file)
    const sql = "UPDATE _rowhouse_tables SET choices = json_set(choices, '$.clientName', ?) WHERE name = 'plain'"
    external.prepare(sql).run(clientName)
    while ((await documentOf(token)).components.schemas[clientName]?.['x-table'] !== 'plain') await setTimeout(20)
  }
  await rename('AlbumsExpand')
  const document = await documentOf(token)
  t.match(document.paths['/data/albums/query']?.post?.requestBody, {
    content: { 'application/json': { schema: { $ref: '#/components/schemas/TableRecordQuery' } } }
  })
  t.equal(document.components.schemas.Albums?.properties.expand, undefined)
  await checkDocument(t, document)
  await rename('Plain')
  t.strictSame(await expandable(token), ['artist', 'stage_name'])
})
