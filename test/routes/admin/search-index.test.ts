import type BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { Table } from '../../../schemas/table.ts'
import {
  type App,
  asAdmin,
  asToken,
  type Client,
  createDatabase,
  createTable,
  dataOf,
  expectData,
  expectDone,
  expectError,
  importTable,
  startApp
} from '../../helpers.ts'
import { searchIndexOf, untilBuilt } from '../../search-index.ts'
import { openServed } from '../../served.ts'

const OFF = { state: 'off', indexed: 0, total: 0 }
const ROWS = 3000

const ITEMS = `CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, note TEXT, size INTEGER);
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
    INSERT INTO items SELECT i, 'item ' || i, 'note of ' || i, i % 7 FROM n;`

const start = async (t: Test, sql = ITEMS) => {
  const file = createDatabase(t, sql)
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const external = openServed(t, file)
  return { file, app, admin, external, token: await asToken(app, admin) }
}

const startItems = async (t: Test, sql?: string) => {
  const started = await start(t, sql)
  const { id } = await importTable(started.admin, 'items')
  return { ...started, id, url: `/admin/tables/${id}` }
}

const schemaOf = (external: BetterSqlite3.Database) =>
  external.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all()

const metaOf = (external: BetterSqlite3.Database) =>
  external.prepare("SELECT key, value FROM _rowhouse_meta WHERE key <> 'started_at' ORDER BY key").all()

const countOf = async (client: Client, q: string, table = 'items') =>
  dataOf(await client.get(`/data/${table}?q=${encodeURIComponent(q)}`)).total

/** Returns a function that tells whether a call reads from the search index. */
const watch = ({ database }: App) => {
  let reads = 0
  const { scan } = database
  Object.assign(database, {
    scan: (...args: Parameters<typeof scan>) => {
      if (/IN \(SELECT rowid FROM "_rowhouse_search_/.test(args[0].sql)) reads += 1
      return scan(...args)
    }
  })
  return async (call: () => Promise<unknown>) => {
    const before = reads
    await call()
    return reads > before
  }
}

/** Lets builds run a number of steps. `held` resolves at the next one. `end` ends it with an error. */
const holdBuild = ({ database }: App, steps: number) => {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let hold = () => {}
  const held = new Promise<void>((resolve) => {
    hold = resolve
  })
  let begun = 0
  const { scan } = database
  database.scan = async (statement, caller) => {
    if (!/sum\(width\)/.test(statement.sql)) return scan(statement, caller)
    begun += 1
    if (begun <= steps) return scan(statement, caller)
    hold()
    await ended
    throw new Error('The build was ended.')
  }
  return { held, end }
}

const put = async (admin: Client, url: string, body: object) => dataOf(await admin.put(url, body)) as Table

t.test('an index is built, used and removed without a trace', async (t) => {
  const { app, admin, external, token, url, id } = await startItems(t)
  const usesIndex = watch(app)
  const before = [schemaOf(external), metaOf(external)]
  t.strictSame(await searchIndexOf(admin, id), OFF)
  t.notOk(await usesIndex(() => countOf(token, 'item 123')))

  t.strictSame((await put(admin, url, { searchIndex: true })).searchIndex, {
    state: 'building',
    indexed: 0,
    total: ROWS
  })
  t.strictSame(await untilBuilt(admin, id), { state: 'ready', indexed: ROWS, total: ROWS })
  t.ok(schemaOf(external).length > 4)
  t.ok(schemaOf(external).every((object) => /^(?:_rowhouse_|sqlite_|items$)/.test((object as { name: string }).name)))
  const requests: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['q', () => countOf(token, 'item 123')],
    ['a list with a filter', () => token.get('/data/items?filter={"where":{"name":{"startsWith":"item%2012"}}}')],
    [
      'a query',
      () => token.post('/data/items/query', { filter: { where: { note: { endsWith: ' 77' } } }, total: true })
    ],
    ['a page of an export', () => token.get('/data/items/export?q=item%2012&page=1')],
    ['an aggregate', () => token.post('/data/items/aggregate', { q: 'item 12', compute: { n: { count: true } } })],
    ['an administrator', () => admin.get(`${url}/data?q=item%2012`)]
  ]
  for (const [name, request] of requests) t.ok(await usesIndex(request), name)
  t.equal(await countOf(token, 'item 12'), 1 + 10 + 100)
  t.equal((await token.get('/data/items/export?q=item%2012')).body.split('\r\n').length, 1 + 111 + 1)
  t.equal(await countOf(token, 'it'), ROWS)
  t.notOk(await usesIndex(() => countOf(token, 'item')), 'a scan is faster if all rows match')
  t.notOk(await usesIndex(() => countOf(token, '123')), 'a number is searched in numeric fields, too')

  t.strictSame((await put(admin, url, { searchIndex: true })).searchIndex.state, 'ready')
  t.strictSame((await put(admin, url, { label: 'Items' })).searchIndex.state, 'ready')
  t.strictSame((await put(admin, url, { searchIndex: false })).searchIndex, OFF)
  t.strictSame([schemaOf(external), metaOf(external)], before)
  t.notOk(await usesIndex(() => countOf(token, 'item 123')))
  t.strictSame((await put(admin, url, { searchIndex: false })).searchIndex, OFF)
})

t.test('writes change the index, and their responses are the same as without it', async (t) => {
  const { admin, external, token, url, id } = await startItems(t)
  await put(admin, url, { searchIndex: true })
  await untilBuilt(admin, id)
  expectData(t, await token.post('/data/items/records', { name: 'Xylophone', size: 1 }), {
    id: ROWS + 1,
    name: 'Xylophone',
    note: null,
    size: 1
  })
  t.equal(await countOf(token, 'xylo'), 1)
  const changed = await token.put(`/data/items/records/${ROWS + 1}?return=record`, { note: 'zither' })
  t.match(dataOf(changed), { record: { note: 'zither' } })
  t.equal(await countOf(token, 'zither'), 1)
  t.equal(dataOf(await token.get('/data/items')).total, ROWS + 1)
  expectError(t, await token.delete('/data/items/records/99999'), 404, 'RECORD_NOT_FOUND')
  expectDone(t, await token.delete(`/data/items/records/${ROWS + 1}`))
  t.equal(await countOf(token, 'zither'), 0)
  external.exec(
    "UPDATE items SET id = 5000, name = 'ocarina' WHERE id = 1; REPLACE INTO items VALUES (2, 'lyre', NULL, 0)"
  )
  t.equal(await countOf(token, 'ocarina'), 1)
  t.equal(await countOf(token, 'lyre'), 1)
  external.exec('VACUUM')
  t.equal(await countOf(token, 'ocarina'), 1)
})

t.test('the index of a generated text is updated with the fields that it is made of', async (t) => {
  const { app, admin, external, token } = await start(
    t,
    `CREATE TABLE parts (id INTEGER PRIMARY KEY, n INTEGER, code TEXT AS ('part-' || n));
     INSERT INTO parts (n) VALUES (123), (456)`
  )
  const { id } = await importTable(admin, 'parts')
  await put(admin, `/admin/tables/${id}`, { searchIndex: true })
  await untilBuilt(admin, id)
  const usesIndex = watch(app)
  external.exec('UPDATE parts SET n = 789 WHERE id = 1')
  t.ok(await usesIndex(async () => t.equal(await countOf(token, 'part-789', 'parts'), 1)))
  t.equal(await countOf(token, 'part-123', 'parts'), 0)
})

t.test('a table without a lasting rowid or without text cannot have an index', async (t) => {
  const { admin, external } = await start(
    t,
    `CREATE TABLE keyless (name TEXT);
     CREATE TABLE texts (code TEXT PRIMARY KEY);
     CREATE TABLE pairs (a INTEGER, b TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
     CREATE TABLE numbers (id INTEGER PRIMARY KEY, n INTEGER);
     CREATE TABLE gone (id INTEGER PRIMARY KEY, name TEXT)`
  )
  for (const [name, reason] of [
    ['keyless', 'INTEGER PRIMARY KEY'],
    ['texts', 'INTEGER PRIMARY KEY'],
    ['pairs', 'INTEGER PRIMARY KEY'],
    ['numbers', 'no text field']
  ] as const) {
    const { id } = await importTable(admin, name)
    const response = await admin.put(`/admin/tables/${id}`, { searchIndex: true })
    expectError(t, response, 400, 'VALIDATION_FAILED', '/searchIndex')
    t.match(response.json().error.message, reason)
    t.strictSame((await put(admin, `/admin/tables/${id}`, { searchIndex: false })).searchIndex, OFF)
  }
  const { id } = await importTable(admin, 'gone')
  external.exec('DROP TABLE gone')
  expectError(t, await admin.put(`/admin/tables/${id}`, { searchIndex: true }), 409, 'STRUCTURE_CHANGED')
})

t.test('changes that other triggers make, and changes of the key by its other names, are indexed', async (t) => {
  const file = createDatabase(t, 'CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, n INTEGER)')
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  const { id } = await importTable(admin, 'items')
  await put(admin, `/admin/tables/${id}`, { searchIndex: true })
  await untilBuilt(admin, id)
  const external = openServed(t, file)
  external.exec(`CREATE TRIGGER later AFTER INSERT ON items BEGIN
    UPDATE items SET name = 'changed ' || new.n WHERE id = new.id; END`)
  dataOf(await admin.post(`/admin/tables/${id}/data`, { name: 'tuba', n: 1 }))
  external.exec("INSERT INTO items VALUES (2, 'oboe', 2)")
  for (const name of ['rowid', 'oid', '_rowid_']) external.exec(`UPDATE items SET ${name} = id + 10 WHERE id % 10 = 2`)
  const usesIndex = watch(app)
  const find = async (q: string) => dataOf(await admin.get(`/admin/tables/${id}/data?q=${q}`)).rows
  t.ok(
    await usesIndex(async () => {
      t.strictSame(await find('changed'), [
        { id: 1, name: 'changed 1', n: 1 },
        { id: 32, name: 'changed 2', n: 2 }
      ])
    })
  )
  t.strictSame(await find('tuba'), [])
})

t.test('a build lets writes through, and continues after a restart', async (t) => {
  const rows = 20_000
  const file = createDatabase(t, ITEMS.replace(`i < ${ROWS}`, `i < ${rows}`))
  const first = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(first)
  const token = await asToken(first, admin)
  const { id } = await importTable(admin, 'items')
  const build = holdBuild(first, 20)
  await put(admin, `/admin/tables/${id}`, { searchIndex: true })
  let written = 0
  while (written < 5) {
    expectDone(t, await token.delete(`/data/items/records/${rows - written}`))
    dataOf(await token.put(`/data/items/records/${1 + written}?return=record`, { name: 'sousaphone' }))
    written += 1
  }
  const whileBuilding = await searchIndexOf(admin, id)
  t.equal(whileBuilding.state, 'building')
  t.equal(await countOf(token, 'sousaphone'), written)
  await build.held
  const closed = first.close()
  build.end()
  await closed

  const external = openServed(t, file)
  const { value } = external.prepare("SELECT value FROM _rowhouse_meta WHERE key = 'search_index_1'").get() as {
    value: string
  }
  const stopped = JSON.parse(value)
  t.match(stopped, { indexed: 5000, isComplete: false })
  external.exec("UPDATE items SET name = 'sousaphone' WHERE id = 7000")

  const second = await startApp(t, { env: { DATABASE: file } })
  const again = await asAdmin(second)
  const continued = await searchIndexOf(again, id)
  t.ok(continued.indexed >= 5000, 'the build does not begin again')
  const { state, indexed } = await untilBuilt(again, id)
  t.strictSame({ state, indexed }, { state: 'ready', indexed: rows - written })
  const usesIndex = watch(second)
  t.ok(await usesIndex(async () => t.equal(dataOf(await again.get(`/admin/tables/${id}/data?q=sousaphone`)).total, 6)))
  for (const q of [`item ${rows - 6}`, 'item 11234', 'note of 321']) {
    const { total } = dataOf(await again.get(`/admin/tables/${id}/data?q=${q}`))
    t.equal(total, q === 'note of 321' ? 11 : 1, q)
  }
})

t.test('the progress of a build does not undo a concurrent change of the table', async (t) => {
  const app = await startApp(t)
  const admin = await asAdmin(app)
  await createTable(admin, { name: 'pets', fields: [{ name: 'name', jsonType: 'string' }] })
  await admin.post('/admin/tables/1/data', { name: 'Tom' })
  for (let round = 0; round < 100; round++) {
    await put(admin, '/admin/tables/1', { searchIndex: true })
    for (const label of ['first', 'second', 'third']) {
      await put(admin, '/admin/tables/1', { label })
      t.equal(dataOf(await admin.get('/admin/tables/1')).label, label)
    }
    await put(admin, '/admin/tables/1', { searchIndex: false })
  }
})

t.test('switching off and unregistering end a build', async (t) => {
  const { admin, external, url, id } = await startItems(t, ITEMS.replace(`i < ${ROWS}`, 'i < 20000'))
  const before = schemaOf(external)
  await put(admin, url, { searchIndex: true })
  t.strictSame((await put(admin, url, { searchIndex: false })).searchIndex, OFF)
  t.strictSame(schemaOf(external), before)
  await put(admin, url, { searchIndex: true })
  expectDone(t, await admin.delete(`${url}?confirm=true`))
  t.strictSame(schemaOf(external), before)
  t.notOk(metaOf(external).some((row) => (row as { key: string }).key.startsWith('search_index')))
  const { id: next } = await importTable(admin, 'items')
  await put(admin, `/admin/tables/${next}`, { searchIndex: true })
  t.equal((await untilBuilt(admin, next)).indexed, 20_000)
  t.not(next, id)
})

t.test('an index is updated when the fields of the table change', async (t) => {
  const { app, admin, token } = await start(t)
  const { id } = await createTable(admin, { name: 'notes', fields: [{ name: 'text', jsonType: 'string' }] })
  const url = `/admin/tables/${id}`
  const usesIndex = watch(app)
  await token.post('/data/notes/records', { text: 'marimba' })
  await put(admin, url, { searchIndex: true })
  await untilBuilt(admin, id)

  await t.test('a new field that is not text changes nothing', async (t) => {
    const { searchIndex } = dataOf(await admin.post(`${url}/fields`, { field: { name: 'n', jsonType: 'integer' } }))
    t.equal(searchIndex.state, 'ready')
  })

  await t.test('a new text field begins a new build', async (t) => {
    const field = { name: 'more', jsonType: 'string', defaultValue: 'cajon' }
    const { searchIndex } = dataOf(await admin.post(`${url}/fields`, { field }))
    t.equal(searchIndex.state, 'building')
    t.equal((await untilBuilt(admin, id)).state, 'ready')
    t.ok(await usesIndex(async () => t.equal(await countOf(token, 'cajon', 'notes'), 1)))
  })

  await t.test('a hidden field stays in the index, and tokens do not find it', async (t) => {
    t.equal((await put(admin, url, { fields: [{ name: 'more', isHidden: true }] })).searchIndex.state, 'ready')
    t.ok(await usesIndex(async () => t.equal(await countOf(token, 'cajon', 'notes'), 0)))
    t.equal(dataOf(await admin.get(`${url}/data?q=cajon`)).total, 1)
  })

  await t.test('tokens see the state of the index', async (t) => {
    t.match(dataOf(await token.get('/data/notes/schema')), { searchIndex: { state: 'ready' } })
  })
})

t.test('an index that another program has made useless is not used', async (t) => {
  const { app, admin, external, token, url, id } = await startItems(t)
  const usesIndex = watch(app)
  const search = (q: string) => countOf(token, q)
  const untilState = async (state: string) => {
    while ((await searchIndexOf(admin, id)).state !== state) {
      // Each write shows the service that the file has changed.
      await token.post('/data/items/records', { name: 'x' })
    }
  }
  const build = async () => {
    await put(admin, url, { searchIndex: true })
    t.equal((await untilBuilt(admin, id)).state, 'ready')
  }
  await build()

  await t.test('without a trigger, at once', async (t) => {
    external.exec(`DROP TRIGGER _rowhouse_search_${id}_insert; INSERT INTO items (name) VALUES ('cittern')`)
    t.notOk(await usesIndex(async () => t.equal(await search('cittern'), 1)))
    await untilState('outdated')
    await build()
    t.ok(await usesIndex(async () => t.equal(await search('cittern'), 1)))
  })

  await t.test('without the index, at once', async (t) => {
    external.exec(`DROP TABLE _rowhouse_search_${id}`)
    t.equal(await search('cittern'), 1)
    expectError(t, await token.post('/data/items/records', { name: 'x' }), 409, 'STRUCTURE_CHANGED')
    while ((await searchIndexOf(admin, id)).state !== 'outdated')
      await new Promise((resolve) => setTimeout(resolve, 20))
    await build()
    t.ok(await usesIndex(async () => t.equal(await search('cittern'), 1)))
  })

  await t.test('after a column was added, until a refresh', async (t) => {
    external.exec("ALTER TABLE items ADD COLUMN added TEXT DEFAULT 'rebec'")
    t.equal(await search('rebec'), 0)
    t.equal(dataOf(await admin.post(`${url}/refresh`)).searchIndex.state, 'building')
    await untilBuilt(admin, id)
    t.equal(dataOf(await admin.post(`${url}/refresh`)).searchIndex.state, 'ready')
  })

  await t.test('after the table was renamed', async (t) => {
    external.exec('ALTER TABLE items RENAME TO things')
    while ((await searchIndexOf(admin, id)).state !== 'outdated')
      await new Promise((resolve) => setTimeout(resolve, 20))
    t.equal((await put(admin, url, { searchIndex: false })).searchIndex.state, 'off')
    t.strictSame(
      external.prepare("SELECT name FROM sqlite_schema WHERE name LIKE '\\_rowhouse\\_search%' ESCAPE '\\'").all(),
      []
    )
  })
})

t.test('the service starts if another program has dropped the table or the index', async (t) => {
  const { file, app, admin, id, url } = await startItems(t)
  await put(admin, url, { searchIndex: true })
  await untilBuilt(admin, id)
  await app.close()
  const external = openServed(t, file)
  external.exec('DROP TABLE items')
  const second = await startApp(t, { env: { DATABASE: file } })
  const again = await asAdmin(second)
  t.match(await searchIndexOf(again, id), { state: 'outdated', indexed: ROWS })
  expectError(t, await again.put(url, { searchIndex: true }), 409, 'STRUCTURE_CHANGED')
  expectDone(t, await again.delete(`${url}?confirm=true`))
  t.notOk(schemaOf(external).some((object) => /search/.test((object as { name: string }).name)))
})
