import { setTimeout } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import {
  asAdmin,
  asToken,
  type Client,
  createDatabase,
  createTable,
  dataOf,
  expectError,
  startApp
} from '../helpers.ts'
import { checkDocument, type TypedDocument } from './typed-contract.ts'

const externalFile = createDatabase(t, '')
const app = await startApp(t, { env: { DATABASE: externalFile } })
const admin = await asAdmin(app)
const token = await asToken(app, admin)

const documentOf = async (client: Client, query = ''): Promise<TypedDocument> =>
  (await client.get(`/data/_openapi.json${query}`)).json()

/** Names a table as an earlier version could name it, and returns after the service has noticed it. */
const rename = async (table: string, clientName: string) => {
  const external = new BetterSqlite3(externalFile)
  const sql = "UPDATE _rowhouse_tables SET choices = json_set(choices, '$.clientName', ?) WHERE name = ?"
  external.prepare(sql).run(clientName, table)
  external.close()
  const tableNamed = async () => (await documentOf(token)).components.schemas[clientName]?.['x-table']
  while ((await tableNamed()) !== table) await setTimeout(20)
}

const queryOf = async (client: Client, table: string) => {
  const document = await documentOf(client)
  const operation = document.paths[`/data/${table}/query`]?.post
  const references = [operation?.requestBody, operation?.responses[200]].map(
    (body) => /schemas\/(\w+)/.exec(JSON.stringify(body))?.[1]
  )
  return { document, id: operation?.operationId, references }
}

const NO_NAMES = ['TableRecordQuery', 'TableRecordQueryPageEnvelope']

t.test('a table that is older than the name of an addition keeps its name', async (t) => {
  const fields = [{ name: 'n', jsonType: 'integer' } as const]
  await createTable(admin, { name: 'melodies', fields })
  await createTable(admin, { name: 'other', fields })
  const bodyOf = async () => {
    const operation = (await documentOf(token)).paths['/data/melodies/records/{id}/incr']?.post
    return [operation?.operationId, /schemas\/(\w+)/.exec(JSON.stringify(operation?.requestBody))?.[1]]
  }
  t.strictSame(await bodyOf(), ['addToMelodies', 'MelodiesAddition'])
  await rename('other', 'MelodiesAddition')
  t.strictSame(await bodyOf(), ['addToMelodies', 'TableRecordAddition'])
  for (const version of ['3.1', '3.0']) await checkDocument(t, await documentOf(token, `?openapi=${version}`))
})

t.test('tables that are older than a name of the query keep their names', async (t) => {
  const fields = [{ name: 'n', jsonType: 'integer' } as const]
  const first = await createTable(admin, { name: 'first', fields })
  await createTable(admin, { name: 'second', fields })
  const third = await createTable(admin, { name: 'third', fields })
  await rename('first', 'Album')
  t.strictSame((await queryOf(token, 'first')).references, ['AlbumQuery', 'AlbumQueryPageEnvelope'])
  for (const taken of ['AlbumQuery', 'ALBUMFilter', 'AlbumWhere', 'AlbumQueryPage', 'AlbumQueryPageEnvelope']) {
    await rename('second', taken)
    const { document, id, references } = await queryOf(token, 'first')
    t.strictSame([id, ...references], ['queryAlbum', ...NO_NAMES], taken)
    t.equal(document.components.schemas[taken]?.['x-table'], 'second')
    for (const version of ['3.1', '3.0']) await checkDocument(t, await documentOf(token, `?openapi=${version}`))
    t.strictSame((await queryOf(token, 'second')).references, [`${taken}Query`, `${taken}QueryPageEnvelope`])
  }
  t.equal((await token.post('/data/first/query', { filter: { where: { n: { eq: 1 } } } })).statusCode, 200)
  const alone = await asToken(app, admin, { tables: ['first'], actions: ['read'] })
  t.equal((await queryOf(alone, 'first')).references[0], 'AlbumQuery')

  const same = await admin.put(`/admin/tables/${first.id}`, { clientName: 'Album', note: 'Same name.' })
  t.match(dataOf(same), { clientName: 'Album', note: 'Same name.' })
  const put = (clientName: string) => admin.put(`/admin/tables/${third.id}`, { clientName })
  expectError(t, await put('AlbumWhere'), 409, 'UNIQUE_VIOLATION')
  expectError(t, await put('TextCondition'), 400, 'VALIDATION_FAILED')
  t.equal((await put('Songs')).statusCode, 200)

  await rename('third', 'TextCondition')
  for (const table of ['first', 'second', 'third'])
    t.strictSame((await queryOf(token, table)).references, NO_NAMES, table)
  await checkDocument(t, await documentOf(token))
  await rename('third', 'Songs')
  await rename('second', 'Singers')
  t.equal((await queryOf(token, 'first')).references[0], 'AlbumQuery')
})
