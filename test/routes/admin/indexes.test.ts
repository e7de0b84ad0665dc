import t from 'tap'
import type { Table } from '../../../schemas/table.ts'
import type { TableIndex } from '../../../schemas/table-index.ts'
import {
  asAdmin,
  asToken,
  createDatabase,
  createTable,
  dataOf,
  expectData,
  expectDone,
  expectError,
  importTable,
  startApp
} from '../../helpers.ts'
import { onlyOnFile, openServed, ROWID_KEY } from '../../served.ts'

const file = createDatabase(
  t,
  `CREATE TABLE items (
     id INTEGER PRIMARY KEY, name TEXT UNIQUE, colour TEXT COLLATE NOCASE, size INTEGER, note TEXT, double INTEGER AS (size * 2)
   );
   CREATE INDEX by_colour ON items (colour);
   CREATE UNIQUE INDEX by_note ON items (lower(note), size) WHERE size > 5;
   INSERT INTO items (name, colour, size, note) VALUES ('a', 'red', 1, 'x'), ('b', 'RED', 1, 'x'), ('c', NULL, 2, x'00ff'),
     ('d', NULL, 3, x'00ff');
   CREATE TABLE codes (code TEXT, kind INTEGER, n INTEGER, PRIMARY KEY (kind, code)) WITHOUT ROWID;
   CREATE TABLE lines (line TEXT);
   CREATE TABLE passing (id INTEGER PRIMARY KEY, gone TEXT);
   CREATE TABLE broken (id INTEGER PRIMARY KEY, note TEXT);
   INSERT INTO broken (note) VALUES ('{');
   ALTER TABLE broken ADD COLUMN a AS (json_extract(note, '$.a'));
   CREATE TABLE large (id INTEGER PRIMARY KEY, value TEXT);
   WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
     INSERT INTO large SELECT i, 'value ' || (i * 7919 % 300007) FROM n`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const external = openServed(t, file)

const items = await importTable(admin, 'items')
const urlOf = ({ id }: Table) => `/admin/tables/${id}/indexes`
const URL = urlOf(items)
const create = (fields: readonly string[], isUnique?: boolean, url = URL) => admin.post(url, { fields, isUnique })
const listed = async (url = URL) => dataOf(await admin.get(url)) as TableIndex[]
const remove = (name: string, url = URL) => admin.delete(`${url}/${encodeURIComponent(name)}`)
const fieldOf = async (name: string) =>
  (dataOf(await admin.get(`/admin/tables/${items.id}`)) as Table).fields.find((field) => field.name === name)

const AUTOMATIC = { isPartial: false, hasExpressions: false, isOurs: false }

t.test('the list has the indexes of other programs', async (t) => {
  expectData(t, await admin.get(URL), [
    { ...AUTOMATIC, name: 'by_colour', fields: ['colour'], isUnique: false },
    { name: 'by_note', fields: ['size'], isUnique: true, isPartial: true, hasExpressions: true, isOurs: false },
    { ...AUTOMATIC, name: 'sqlite_autoindex_items_1', fields: ['name'], isUnique: true }
  ])
  const table = await createTable(admin, { name: 'without', fields: [{ name: 'a', jsonType: 'string' }] })
  expectData(t, await admin.get(urlOf(table)), [])
})

t.test('an index is created and deleted', async (t) => {
  const response = await create(['size', 'name'])
  const { name } = dataOf(response)
  t.match(name, /^_rowhouse_items_size_name_[\da-f]{8}$/)
  const index = { name, fields: ['size', 'name'], isUnique: false, ...AUTOMATIC, isOurs: true }
  expectData(t, response, index)
  t.strictSame((await listed())[0], index)
  t.match(await fieldOf('size'), { isIndexed: true, isUnique: false })
  t.equal((await fieldOf('name'))?.isUnique, true)
  const { sql } = external.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(name) as { sql: string }
  t.equal(sql, `CREATE INDEX "${name}" ON "items" ("size", "name")`)
  expectDone(t, await remove(name))
  t.notOk((await listed()).some((other) => other.name === name))
  t.match(await fieldOf('size'), { isIndexed: false, isUnique: false })
  expectError(t, await remove(name), 404, 'INDEX_NOT_FOUND')
})

t.test('the metadata of the table stays', async (t) => {
  const { name } = dataOf(await create(['size']))
  const { updatedAt } = dataOf(await admin.get(`/admin/tables/${items.id}`))
  t.equal(updatedAt, items.updatedAt)
  expectDone(t, await remove(name.toUpperCase()))
})

t.test('the plan of a list is updated with the index in the next request', async (t) => {
  const table = await createTable(admin, {
    name: 'planned',
    fields: [
      { name: 'code', jsonType: 'string', isPrimary: true },
      { name: 'n', jsonType: 'integer' }
    ]
  })
  for (const code of ['b', 'a', 'c']) dataOf(await admin.post(`/admin/tables/${table.id}/data`, { code, n: 1 }))
  const codes = async () =>
    dataOf(await admin.get(`/admin/tables/${table.id}/data?order=code,n`)).rows.map(
      ({ code }: { code: string }) => code
    )
  t.strictSame(await codes(), ['a', 'b', 'c'])
  const before = app.tables.get(table.id)
  const { name } = dataOf(await create(['code', 'n'], false, urlOf(table)))
  t.not(app.tables.get(table.id), before, 'plans are cached for the table object')
  t.strictSame(await codes(), ['a', 'b', 'c'])
  expectDone(t, await remove(name, urlOf(table)))
  t.strictSame(await codes(), ['a', 'b', 'c'])
})

t.test('a unique index', async (t) => {
  t.test('rejects records with the same values from then on', async (t) => {
    const { name } = dataOf(await create(['name', 'size'], true))
    t.equal((await listed()).find((index) => index.name === name)?.isUnique, true)
    expectDone(t, await remove(name))
    const single = dataOf(await create(['id'], true))
    t.equal((await fieldOf('id'))?.isUnique, true)
    expectDone(t, await remove(single.name))
    const codes = await importTable(admin, 'codes')
    const url = urlOf(codes)
    dataOf(await create(['n'], true, url))
    const insert = (code: string, n: number | null) =>
      admin.post(`/admin/tables/${codes.id}/data`, { code, kind: 1, n })
    t.equal((await insert('a', 1)).statusCode, 200)
    expectError(t, await insert('b', 1), 409, 'UNIQUE_VIOLATION', '/n')
    t.equal((await insert('c', null)).statusCode, 200)
    t.equal((await insert('d', null)).statusCode, 200)
    t.match((dataOf(await admin.get(`/admin/tables/${codes.id}`)) as Table).fields[2], { name: 'n', isUnique: true })
  })
  t.test('is not created over records with the same values', async (t) => {
    const messageOf = async (fields: readonly string[]) => {
      const response = await create(fields, true)
      expectError(t, response, 409, 'UNIQUE_VIOLATION', '/fields')
      return response.json().error.details[0].message
    }
    t.equal(await messageOf(['size']), "2 records have 'size' = '1'.")
    t.match(await messageOf(['colour']), /^2 records have 'colour' = '(?:red|RED)'\.$/)
    t.equal(await messageOf(['size', 'note']), "2 records have 'size' = '1', 'note' = 'x'.")
    t.match(await messageOf(['note']), /^2 records have 'note' = (?:'x'|X'00FF')\.$/)
    t.strictSame(
      (await listed()).filter(({ isOurs }) => isOurs),
      []
    )
  })
})

t.test('an index that exists is not created again', async (t) => {
  const exists = async (...sent: Parameters<typeof create>) => {
    const response = await create(...sent)
    expectError(t, response, 409, 'INDEX_EXISTS')
    return response.json().error.message
  }
  const { name } = dataOf(await create(['size']))
  t.equal(await exists(['size']), `The index '${name}' has the same fields.`)
  await exists(['name'], true)
  t.match(await exists(['name']), /sqlite_autoindex_items_1/, 'a unique index has the same order')
  t.test('but its fields in another order are', async (t) => {
    expectDone(t, await remove(dataOf(await create(['size', 'name'])).name))
    expectDone(t, await remove(dataOf(await create(['name', 'size'])).name))
  })
  t.test('also with the collation of its column', async (t) => {
    const { name } = dataOf(await create(['colour']))
    t.match(await exists(['colour']), name)
    expectDone(t, await remove(name))
  })
  t.test('also by two requests at once', async (t) => {
    const both = await Promise.all([create(['note']), create(['note'])])
    t.strictSame(both.map(({ statusCode }) => statusCode).sort(), [200, 409])
  })
  expectDone(t, await remove(name))
})

t.test('an index of another program cannot be deleted', async (t) => {
  expectError(t, await remove('by_colour'), 409, 'INDEX_NOT_OURS')
  expectError(t, await remove('sqlite_autoindex_items_1'), 409, 'INDEX_NOT_OURS')
  t.ok((await listed()).some(({ name }) => name === 'by_colour'))
})

t.test('an index of another table is not found', async (t) => {
  const { name } = dataOf(await create(['size']))
  const other = await createTable(admin, { name: 'other', fields: [{ name: 'a', jsonType: 'string' }] })
  expectError(t, await remove(name, urlOf(other)), 404, 'INDEX_NOT_FOUND')
  expectDone(t, await remove(name))
})

t.test('the fields of an index are checked', async (t) => {
  const response = await create(['size', 'colur'])
  expectError(t, response, 400, 'VALIDATION_FAILED', '/fields/1')
  t.equal(response.json().error.hint, "Did you mean 'colour'?")
  expectError(t, await create(['size', 'name', 'size']), 400, 'VALIDATION_FAILED', '/fields/2')
  expectError(t, await create([]), 400, 'VALIDATION_FAILED', '/fields')
  expectError(t, await create(Array(9).fill('size')), 400, 'VALIDATION_FAILED', '/fields')
  expectError(t, await admin.post(URL, { fields: ['size'], name: 'mine' }), 400, 'VALIDATION_FAILED', '/name')
})

t.test('a generated column can have an index', async (t) => {
  const { name } = dataOf(await create(['double']))
  t.equal((await fieldOf('double'))?.isIndexed, true)
  expectDone(t, await remove(name))
})

t.test('the rowid cannot have an index', onlyOnFile(ROWID_KEY), async (t) => {
  const lines = await importTable(admin, 'lines')
  expectError(t, await create(['rowid'], false, urlOf(lines)), 400, 'VALIDATION_FAILED', '/fields/0')
  t.equal((await create(['line'], false, urlOf(lines))).statusCode, 200)
})

t.test('a generated column that fails for a record gets no index', async (t) => {
  const url = urlOf(await importTable(admin, 'broken'))
  expectError(t, await create(['a'], false, url), 400, 'CONSTRAINT_VIOLATION')
  t.strictSame(await listed(url), [])
})

t.test('a table that has changed gets no index', async (t) => {
  const passing = await importTable(admin, 'passing')
  external.exec('ALTER TABLE passing DROP COLUMN gone')
  expectError(t, await create(['gone'], false, urlOf(passing)), 409, 'STRUCTURE_CHANGED')
  external.exec('DROP TABLE passing')
  expectError(t, await create(['gone'], false, urlOf(passing)), 409, 'STRUCTURE_CHANGED')
  expectData(t, await admin.get(urlOf(passing)), [])
  dataOf(await admin.post(`/admin/tables/${items.id}/refresh`))
  expectError(t, await admin.get('/admin/tables/999/indexes'), 404, 'TABLE_NOT_FOUND')
})

t.test('other requests read while an index is created', async (t) => {
  const large = await importTable(admin, 'large')
  const token = await asToken(app, admin)
  const finished: string[] = []
  const creation = create(['value'], true, urlOf(large)).then(({ statusCode }) => {
    finished.push('index')
    return statusCode
  })
  t.equal((await token.get('/data/large/records/7')).statusCode, 200)
  finished.push('read')
  t.equal(await creation, 200)
  t.strictSame(finished, ['read', 'index'])
})
