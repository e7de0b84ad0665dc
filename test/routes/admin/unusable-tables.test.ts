import t from 'tap'
import {
  asAdmin,
  asToken,
  createDatabase,
  createTable,
  dataOf,
  expectDone,
  expectError,
  importTable,
  startApp,
  temporaryDirectory
} from '../../helpers.ts'
import { openServed } from '../../served.ts'

t.test('a registration that cannot be read makes one table unusable, and the service starts', async (t) => {
  const file = createDatabase(t, '')
  const env = { DATABASE: file, DATA_DIR: temporaryDirectory(t) }
  const fields = [{ name: 'a', jsonType: 'string' as const }]
  const first = await startApp(t, { env })
  const { id } = await createTable(await asAdmin(first), { name: 'cats', fields })
  await createTable(await asAdmin(first), { name: 'dogs', fields })
  const hidden = await createTable(await asAdmin(first), { name: 'hidden', fields })
  await (await asAdmin(first)).put(`/admin/tables/${hidden.id}`, { isPublished: false })
  dataOf(await (await asAdmin(first)).post(`/admin/tables/${id}/data`, { a: 'kept' }))
  await first.close()
  const other = openServed(t, file)
  const setChoices = other.prepare('UPDATE _rowhouse_tables SET choices = ? WHERE name = ?')
  setChoices.run('{"version":1', 'cats')
  setChoices.run('{}', 'hidden')

  const lines: string[] = []
  const logger = { level: 'error', stream: { write: (line: string) => lines.push(line) } }
  const app = await startApp(t, { env, logger })
  const admin = await asAdmin(app)
  const token = await asToken(app, admin)

  t.test('the failure is logged once, with the table and the reason', async (t) => {
    other.exec("UPDATE _rowhouse_tables SET label = 'D' WHERE name = 'dogs'")
    await app.database.write([])
    while (app.tables.find('dogs')?.label !== 'D') await new Promise((resolve) => setImmediate(resolve))
    const logged = lines.map((line) => JSON.parse(line))
    t.match(logged, [
      { table: 'cats', problem: /JSON/, msg: /unusable/ },
      { table: 'hidden', problem: /version/ }
    ])
    t.equal(logged.length, 2)
  })

  t.test('the list shows it without fields and not published', async (t) => {
    t.match(dataOf(await admin.get('/admin/tables')), [
      { id, name: 'cats', primaryKey: '', fields: [], isPublished: false, isEditable: false },
      { name: 'dogs', fields: [{ name: 'id' }, { name: 'a' }], isPublished: true },
      { name: 'hidden', fields: [] }
    ])
  })

  t.test('the document of all tables leaves it out', async (t) => {
    const { components } = (await admin.get('/admin/openapi.json')).json()
    t.strictSame(
      ['Cats', 'Dogs'].map((name) => name in components.schemas),
      [false, true]
    )
    expectError(t, await admin.get('/admin/openapi.json?tables=cats'), 409, 'TABLE_UNUSABLE')
  })

  t.test('every use of it is a conflict with a hint', async (t) => {
    const url = `/admin/tables/${id}`
    const responses = [
      await admin.get(url),
      await admin.put(url, { label: '' }),
      await admin.post(`${url}/refresh`),
      await admin.get(`${url}/data`),
      await admin.get(`${url}/data/1`),
      await admin.post(`${url}/data`, { a: 'x' }),
      await admin.get(`${url}/export`),
      await admin.post('/admin/tables/import', { name: 'cats' }),
      await token.get('/data/cats'),
      await token.get('/data/cats/schema'),
      await token.post('/data/cats/records', { a: 'x' }),
      await token.post('/data/_schema/tables/cats/fields', { field: { name: 'b', jsonType: 'string' } })
    ]
    for (const response of responses) {
      expectError(t, response, 409, 'TABLE_UNUSABLE')
      t.match(response.json().error.message, /'cats'.*Unregister it, then import it again\.$/)
    }
  })

  t.test('tokens still do not see one that was not published, and other tables work', async (t) => {
    expectError(t, await token.get('/data/hidden'), 404, 'TABLE_NOT_FOUND')
    t.strictSame(dataOf(await token.get('/data/_me')).tables, ['dogs'])
    t.equal(dataOf(await token.get('/data/dogs')).total, 0)
  })

  t.test('it can be unregistered and imported again, with its rows', async (t) => {
    expectError(t, await admin.delete(`/admin/tables/${id}`), 400, 'CONFIRMATION_REQUIRED')
    expectDone(t, await admin.delete(`/admin/tables/${id}?confirm=true`))
    await importTable(admin, 'cats')
    t.strictSame(dataOf(await token.get('/data/cats/records/1')), { id: 1, a: 'kept' })
  })
})
