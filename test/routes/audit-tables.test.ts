import t, { type Test } from 'tap'
import { auditRows, auditSince, fillAudit } from '../audit.ts'
import {
  asAdmin,
  asToken,
  createTable,
  dataOf,
  expectDone,
  expectError,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { FULL_DISK, onlyOnFile } from '../served.ts'

const start = async (t: Test) => {
  const app = await startApp(t)
  const admin = await asAdmin(app)
  const run = (...lines: string[]) => app.database.write(lines.map((sql) => ({ sql, params: [] })))
  return { app, admin, run, since: await auditSince(admin) }
}

const by = (response: TestResponse) => {
  dataOf(response)
  return { callerName: 'admin', address: '127.0.0.1', requestId: response.headers['x-request-id'], count: 1 }
}

const FIELDS = [
  { name: 'name', jsonType: 'string' as const },
  { name: 'secret', jsonType: 'string' as const, isHidden: true }
]

t.test('tables that are created and adopted', async (t) => {
  const { app, admin, run, since } = await start(t)

  t.test('a new table', async (t) => {
    const created = await admin.post('/admin/tables', { name: 'cats', label: 'Cats', fields: FIELDS })
    const summary = { isPublished: true, isEditable: true, fields: ['id', 'name', 'secret'], hidden: ['secret'] }
    const [row, ...others] = await since()
    t.match(row, { ...by(created), action: 'table.create', target: 'cats', targetId: null })
    t.strictSame(row?.summary, summary)
    t.strictSame(others, [])
    expectError(t, await admin.post('/admin/tables', { name: 'CATS', label: '', fields: FIELDS }), 409, 'TABLE_EXISTS')
    t.strictSame(await since(), [])
  })

  t.test('a new table of a token', async (t) => {
    const token = await asToken(app, admin, { tables: ['*'], actions: ['schema'] })
    await since()
    const created = await token.post('/data/_schema/tables', { name: 'dogs', fields: FIELDS.slice(0, 1) })
    const added = await token.post('/data/_schema/tables/dogs/fields', { field: { name: 'age', jsonType: 'integer' } })
    const [first, second] = await since()
    t.match(first, { ...by(created), callerKind: 'token', callerId: 1, callerName: 'test', action: 'table.create' })
    t.match(second, { ...by(added), callerName: 'test', action: 'field.add', target: 'dogs' })
    t.strictSame(second?.summary, { field: 'age', jsonType: 'integer', isHidden: false })
  })

  t.test('a list of tables has a row for each', async (t) => {
    await run('CREATE TABLE a (x, y)', 'CREATE TABLE b (x)')
    const payload = { names: ['a', 'b'], isEditable: false }
    const adopted = await admin.post('/admin/tables/import', payload)
    const summary = { isPublished: true, isEditable: false, hidden: [] }
    t.match(await since(), [
      { ...by(adopted), action: 'table.adopt', target: 'a', targetId: null, summary },
      { ...by(adopted), action: 'table.adopt', target: 'b', targetId: null, summary }
    ])
    expectError(t, await admin.post('/admin/tables/import', payload), 409, 'TABLE_REGISTERED')
    t.strictSame(await since(), [])
  })

  t.test('hidden fields of an adopted table', async (t) => {
    await run('CREATE TABLE c (x, y)')
    dataOf(await admin.post('/admin/tables/import', { name: 'c', fields: [{ name: 'y', isHidden: true }] }))
    t.match(await since(), [{ target: 'c', summary: { hidden: ['y'] } }])
  })
})

t.test('properties of a table', async (t) => {
  const { admin, run, since } = await start(t)
  const { id } = await createTable(admin, { name: 'cats', fields: FIELDS })
  await since()
  const url = `/admin/tables/${id}`
  const summariesOf = async () => (await since()).map(({ action, target, summary }) => ({ action, target, summary }))

  t.test('have the names of those that changed, and the new flags', async (t) => {
    const changed = await admin.put(url, { label: 'All cats', isPublished: false })
    const summary = { changed: ['label', 'isPublished'], isPublished: false }
    const [row, ...others] = await since()
    t.match(row, { ...by(changed), action: 'table.change', target: 'cats', targetId: id })
    t.strictSame(row?.summary, summary)
    t.strictSame(others, [])
  })

  t.test('have the flags of fields', async (t) => {
    dataOf(await admin.put(url, { fields: [{ name: 'secret', isHidden: false }] }))
    const fields = [{ name: 'secret', changed: ['isHidden'], isHidden: false }]
    t.strictSame(await summariesOf(), [{ action: 'table.change', target: 'cats', summary: { changed: [], fields } }])
  })

  t.test('a refused change has no row', async (t) => {
    expectError(t, await admin.put(url, { fields: [{ name: 'none', isHidden: false }] }), 400, 'VALIDATION_FAILED')
    expectError(t, await admin.put('/admin/tables/99', { label: '' }), 404, 'TABLE_NOT_FOUND')
    t.strictSame(await since(), [])
  })

  t.test('a search index is created and dropped once', async (t) => {
    for (const searchIndex of [true, true, false, false]) dataOf(await admin.put(url, { searchIndex }))
    t.strictSame(await summariesOf(), [
      { action: 'search-index.create', target: 'cats', summary: {} },
      { action: 'search-index.drop', target: 'cats', summary: {} }
    ])
  })

  t.test('a rename has the old name as the target', async (t) => {
    dataOf(await admin.put(url, { name: 'felines', updateTokens: true, searchIndex: true }))
    t.strictSame(await summariesOf(), [
      { action: 'search-index.create', target: 'cats', summary: {} },
      {
        action: 'table.rename',
        target: 'cats',
        summary: { changed: ['name', 'updateTokens'], updateTokens: true, name: 'felines' }
      }
    ])
    dataOf(await admin.put(url, { name: 'cats', searchIndex: false }))
    await since()
  })

  t.test('a refresh has the fields that appeared and disappeared', async (t) => {
    await run('ALTER TABLE cats ADD COLUMN age INTEGER', 'ALTER TABLE cats DROP COLUMN secret')
    dataOf(await admin.post(`${url}/refresh`))
    const summary = { added: ['age'], removed: ['secret'] }
    t.strictSame(await summariesOf(), [{ action: 'table.refresh', target: 'cats', summary }])
  })
})

t.test('fields and indexes', async (t) => {
  const { admin, since } = await start(t)
  const { id } = await createTable(admin, { name: 'cats', fields: FIELDS })
  await since()
  const url = `/admin/tables/${id}`
  const only = async (t: Test, response: TestResponse, action: string, summary: object) => {
    const [row, ...others] = await since()
    t.match(row, { ...by(response), action, target: 'cats', targetId: id })
    t.strictSame(row?.summary, summary)
    t.strictSame(others, [])
  }

  t.test('a new field', async (t) => {
    const field = { name: 'age', jsonType: 'integer', isHidden: true }
    const added = await admin.post(`${url}/fields`, { field })
    await only(t, added, 'field.add', { field: 'age', jsonType: 'integer', isHidden: true })
    expectError(t, await admin.post(`${url}/fields`, { field }), 409, 'FIELD_EXISTS')
    t.strictSame(await since(), [])
  })

  t.test('a new field that refers to another table', async (t) => {
    const field = { name: 'mother', jsonType: 'integer', references: { table: 'cats', field: 'id' } }
    const added = await admin.post(`${url}/fields`, { field })
    await only(t, added, 'field.add', { field: 'mother', jsonType: 'integer', isHidden: false })
  })

  t.test('a changed field', async (t) => {
    const changed = await admin.put(`${url}/fields/age`, { name: 'years', jsonType: 'number', nullable: true })
    const summary = { changed: ['name', 'jsonType', 'nullable'], nullable: true }
    await only(t, changed, 'field.change', { ...summary, field: 'age', name: 'years', jsonType: 'number' })
    const labelled = await admin.put(`${url}/fields/years`, { label: 'Age' })
    await only(t, labelled, 'field.change', { changed: ['label'], field: 'years' })
    expectError(t, await admin.put(`${url}/fields/years`, { name: 'name' }), 409, 'FIELD_EXISTS')
    t.strictSame(await since(), [])
  })

  t.test('a dropped field', async (t) => {
    expectError(t, await admin.delete(`${url}/fields/years`), 400, 'CONFIRMATION_REQUIRED')
    t.strictSame(await since(), [])
    await only(t, await admin.delete(`${url}/fields/years?confirm=true`), 'field.drop', { field: 'years' })
  })

  t.test('a new index, and its end', async (t) => {
    const created = await admin.post(`${url}/indexes`, { fields: ['name', 'secret'] })
    const { name } = dataOf(created)
    await only(t, created, 'index.create', { index: name, fields: ['name', 'secret'], isUnique: false })
    expectError(t, await admin.post(`${url}/indexes`, { fields: ['name', 'secret'] }), 409, 'INDEX_EXISTS')
    t.strictSame(await since(), [])
    await only(t, await admin.delete(`${url}/indexes/${name}`), 'index.drop', { index: name })
    expectError(t, await admin.delete(`${url}/indexes/${name}`), 404, 'INDEX_NOT_FOUND')
    t.strictSame(await since(), [])
  })
})

t.test('the end of a table', async (t) => {
  const { admin, since } = await start(t)
  const create = async () => {
    const { id } = await createTable(admin, { name: 'cats', fields: FIELDS })
    await since()
    return { id, url: `/admin/tables/${id}` }
  }

  t.test('a table that is unregistered', async (t) => {
    const { id, url } = await create()
    expectError(t, await admin.delete(url), 400, 'CONFIRMATION_REQUIRED')
    const ended = await admin.delete(`${url}?confirm=true`)
    expectDone(t, ended)
    expectError(t, await admin.delete(`${url}?confirm=true`), 404, 'TABLE_NOT_FOUND')
    t.match(await since(), [{ ...by(ended), action: 'table.unregister', target: 'cats', targetId: id, summary: {} }])
    dataOf(await admin.post('/admin/tables/import', { name: 'cats' }))
  })

  t.test('a table that is dropped', async (t) => {
    const [{ id }] = dataOf(await admin.get('/admin/tables'))
    await since()
    const dropped = await admin.delete(`/admin/tables/${id}?confirm=true&drop=true`)
    expectDone(t, dropped)
    t.match(await since(), [{ ...by(dropped), action: 'table.drop', target: 'cats', targetId: id, summary: {} }])
  })
})

t.test('a change of a table whose row cannot be stored is not stored either', onlyOnFile(FULL_DISK), async (t) => {
  const { app, admin } = await start(t)
  const { id } = await createTable(admin, { name: 'cats', fields: FIELDS })
  const url = `/admin/tables/${id}`
  const free = await fillAudit(app.database)
  const changes = [
    () => admin.put(url, { isPublished: false }),
    () => admin.post(`${url}/fields`, { field: { name: 'age', jsonType: 'integer' } }),
    () => admin.put(`${url}/fields/name`, { label: 'Name' }),
    () => admin.delete(`${url}/fields/secret?confirm=true`),
    () => admin.delete(`${url}?confirm=true&drop=true`)
  ]
  const stored = async () => dataOf(await admin.get(url))
  const before = await stored()
  for (const change of changes) expectError(t, await change(), 507, 'DISK_FULL')
  t.strictSame(await stored(), before)
  await free()
  for (const change of changes) t.equal((await change()).statusCode, 200)
  t.equal((await auditRows(admin, 'target=cats')).length, 6)
})
