import { setTimeout } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { DERIVED_SUFFIXES } from '../../services/tables/names/client-names.ts'
import { isReservedForTables } from '../../services/tables/names/reserved-words.ts'
import {
  asAdmin,
  asToken,
  type Client,
  createDatabase,
  createTable,
  dataOf,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'
import { checkDocument, type TypedDocument } from './typed-contract.ts'

const COLUMNS = [
  '$ref',
  'example',
  'examples',
  '__proto__',
  'constructor',
  'title',
  'type',
  'properties',
  'a"b',
  'my col',
  'my_col',
  '{id}',
  '日本',
  ' ',
  '-'
]

const TABLES = [
  'Track Page',
  'TrackPage',
  'order items',
  'order_items',
  'a/b',
  'a,b',
  '{x}',
  '%41',
  'a?b#c',
  'identity',
  'own_account',
  'conflict',
  'not found',
  'bad_request',
  'other_failure',
  'size',
  'q',
  'return',
  'schema',
  'tables',
  '日本',
  '__proto__',
  'constructor'
]

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

const wideColumns = Array.from({ length: 500 }, (_, index) => `c${index} INTEGER`)

const externalFile = createDatabase(
  t,
  `CREATE TABLE columns (${COLUMNS.map((name) => `${quoted(name)} INTEGER`).join(', ')}, PRIMARY KEY ("{id}", "my col")) STRICT;
   CREATE TABLE wide (id INTEGER PRIMARY KEY, ${wideColumns.join(', ')});
   CREATE TABLE keys (key2 INTEGER, "a b" TEXT, key1 TEXT, PRIMARY KEY (key2, "a b", key1)) WITHOUT ROWID;
   INSERT INTO keys VALUES (1, '/', ',');
   ${TABLES.map((name) => `CREATE TABLE ${quoted(name)} (id INTEGER PRIMARY KEY, n INTEGER);`).join('\n')}`
)

const app = await startApp(t, { env: { DATABASE: externalFile } })
const admin = await asAdmin(app)
for (const name of ['columns', 'wide', 'keys', ...TABLES]) await importTable(admin, name)

const documentOf = async (client: Client, query = ''): Promise<TypedDocument> =>
  (await client.get(`/data/_openapi.json${query}`)).json()

const everything = { tables: ['*'], actions: ['read', 'write', 'schema'] } as const
const token = await asToken(app, admin, { tables: [...everything.tables], actions: [...everything.actions] })

for (const version of ['3.1', '3.0'])
  t.test(`with hostile names, the documents in OpenAPI ${version} are valid`, async (t) => {
    await checkDocument(t, await documentOf(token, `?openapi=${version}`))
    await checkDocument(t, (await admin.get(`/admin/openapi.json?openapi=${version}`)).json())
  })

t.test('every name of a column is a property', async (t) => {
  for (const version of ['3.1', '3.0']) {
    const { schemas } = (await documentOf(token, `?openapi=${version}`)).components
    t.strictSame(Object.keys(schemas.Columns?.properties ?? {}), COLUMNS)
    t.equal(Object.keys(schemas.Wide?.properties ?? {}).length, 501)
  }
})

t.test('every path leads to its table', async (t) => {
  for (const [index, name] of TABLES.entries()) {
    const { paths } = await documentOf(await asToken(app, admin, { tables: [name], actions: ['read', 'write'] }))
    const [list = '', query = '', create = '', record = ''] = Object.keys(paths).filter(
      (path) => !/^\/data\/(?:_me|_schema)/.test(path)
    )
    const { id } = dataOf(await token.post(create, { n: index }))
    t.equal(dataOf(await token.get(list)).rows[0].n, index, name)
    t.equal(dataOf(await token.post(query, {})).rows[0].n, index, name)
    t.equal(dataOf(await token.get(record.replace('{id}', String(id)))).n, index, name)
  }
  const record = Object.keys((await documentOf(token)).paths).find((path) => path.startsWith('/data/keys/records/'))
  t.equal(record, '/data/keys/records/{key1},{key2},{key3}')
  t.equal((await token.get('/data/keys/records/1,%2F,%2C')).statusCode, 200)
})

t.test('every name of a schema or parameter is derived from a table, or reserved', async (t) => {
  const { schemas, parameters = {} } = (await documentOf(token)).components
  const clientNames = dataOf(await admin.get('/admin/tables')).map(
    ({ clientName }: { clientName: string }) => clientName
  )
  const derived = new Set(
    clientNames.flatMap((name: string) => ['', ...DERIVED_SUFFIXES].map((suffix) => name + suffix))
  )
  for (const name of Object.keys(schemas)) t.ok(derived.has(name) || isReservedForTables(name), name)
  for (const name of Object.keys(parameters)) t.ok(isReservedForTables(name), name)
})

const expectNowhere = (t: Test, document: TypedDocument, names: RegExp) => t.notMatch(JSON.stringify(document), names)

t.test('a token finds no name outside its rights', async (t) => {
  const secrets = await createTable(admin, {
    name: 'zebras',
    note: 'A note.',
    fields: [
      { name: 'visible', jsonType: 'integer' },
      { name: 'walrus', label: 'Ocelot', jsonType: 'number', isHidden: true, defaultValue: 77123 }
    ]
  })
  await createTable(admin, { name: 'lemurs', label: 'Gibbons', fields: [{ name: 'tapir', jsonType: 'string' }] })
  await admin.put(`/admin/tables/${secrets.id}`, { clientName: 'Quokka' })
  const scopes = [
    { tables: ['zebras'], actions: ['read', 'write'] },
    { tables: ['zebras'], actions: ['read'] },
    { tables: ['zebras'], actions: ['create', 'schema'] },
    { tables: ['zebras'], actions: ['update'] },
    { tables: ['zebras'], actions: ['delete'] }
  ] as const
  for (const { tables, actions } of scopes)
    for (const version of ['3.1', '3.0']) {
      const client = await asToken(app, admin, { tables: [...tables], actions: [...actions] })
      const document = await documentOf(client, `?openapi=${version}`)
      expectNowhere(
        t,
        document,
        /walrus|ocelot|77123|lemurs|gibbons|tapir|order.?items|track.?page|日本|own.?account|%41/i
      )
      t.match(JSON.stringify(document), /quokka/i)
      await checkDocument(t, document)
    }
  const outsider = await asToken(app, admin, { tables: ['lemurs'], actions: ['read', 'write'] })
  expectNowhere(t, await documentOf(outsider), /zebras|quokka|walrus|visible|A note/i)
  await admin.put(`/admin/tables/${secrets.id}`, { isPublished: false })
  expectNowhere(t, await documentOf(token), /zebras|quokka|walrus|visible/i)
})

t.test('a hidden column that another program makes the key stays hidden', async (t) => {
  const fields = [{ name: 'narwhal', jsonType: 'integer', isHidden: true } as const]
  await createTable(admin, { name: 'moved', fields })
  const isDescribed = async () => '/data/moved' in (await documentOf(token)).paths
  t.ok(await isDescribed())
  const external = new BetterSqlite3(externalFile)
  external.exec('DROP TABLE moved; CREATE TABLE moved (id INTEGER, narwhal INTEGER PRIMARY KEY)')
  external.close()
  while (await isDescribed()) await setTimeout(20)
  expectNowhere(t, await documentOf(token), /narwhal/)
  t.notMatch((await admin.get('/admin/openapi.json')).body, /narwhal/)
  expectError(t, await admin.get('/admin/openapi.json?tables=moved'), 409, 'STRUCTURE_CHANGED')
})
