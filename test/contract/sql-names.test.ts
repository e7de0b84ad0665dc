import t from 'tap'
import {
  asAdmin,
  asToken,
  createDatabase,
  createTable,
  dataOf,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'

/** Names that the SQL of the service uses for columns, aliases and functions. */
const SQL_NAMES = [
  'value',
  'text',
  'bytes',
  'count',
  'last',
  'k',
  'k0',
  'position',
  'total',
  'record',
  'number',
  'fits',
  'alive'
]

const KEYS = Array.from({ length: 1200 }, (_, index) => index + 1)
/** Returns the text that the other fields of a record contain. */
const otherText = (key: number) => String(1200 - key)

t.test('a field may have any name that the SQL of the service uses', async (t) => {
  const file = createDatabase(
    t,
    SQL_NAMES.map(
      (name) => `CREATE TABLE "as_${name}" ("${name}" INTEGER PRIMARY KEY, ${SQL_NAMES.filter((other) => other !== name)
        .map((other) => `"${other}" TEXT`)
        .join(', ')});
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
      INSERT INTO "as_${name}" SELECT i, ${SQL_NAMES.slice(1).map(() => 'CAST(1200 - i AS TEXT)')} FROM n;`
    ).join('\n')
  )
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  for (const name of SQL_NAMES) {
    const { id } = await importTable(admin, `as_${name}`)
    const keys = async (query: string) =>
      dataOf(await admin.get(`/admin/tables/${id}/data?${query}`)).rows.map((row: Record<string, unknown>) => row[name])
    t.same(await keys('size=3'), [1, 2, 3], name)
    t.same(await keys('size=10&page=111'), [1101, 1102, 1103, 1104, 1105, 1106, 1107, 1108, 1109, 1110], name)
    t.same(await keys(`size=2&page=600&order=-${name}`), [2, 1], name)
    const other = SQL_NAMES.find((one) => one !== name) as string
    t.same(await keys(`size=2&order=${other},-${name}`), [1200, 1199], `${name} by ${other}`)
    const exported = async (query: string) => {
      const [, ...lines] = (await admin.get(`/admin/tables/${id}/export${query}`)).body.split('\r\n')
      return lines.filter((line) => line !== '').map((line) => Number(line.split(',')[0]))
    }
    t.strictSame(await exported(''), KEYS, `${name} exported`)
    t.strictSame(await exported(`?order=-${name}`), KEYS.toReversed(), `${name} exported in descending order`)
    const byText = KEYS.toSorted((a, b) => (otherText(a) < otherText(b) ? -1 : 1))
    t.strictSame(await exported(`?order=${other}`), byText, `${name} exported by ${other}`)
    const found = KEYS.filter((key) => key === 1 || otherText(key).includes('1'))
    t.strictSame(await exported('?q=1'), found, `${name} exported with a search`)
  }
})

t.test('a new table cannot shadow the table-valued functions that the service uses', async (t) => {
  const app = await startApp(t)
  const admin = await asAdmin(app)
  const fields = [{ name: 'x', jsonType: 'string' }]
  for (const name of ['pragma_foreign_key_list', 'PRAGMA_table_list', 'sqlite_things']) {
    expectError(t, await admin.post('/admin/tables', { name, label: '', fields }), 400, 'VALIDATION_FAILED', '/name')
  }
  await createTable(admin, { name: 'json_each', fields: [{ name: 'x', jsonType: 'string' }] })
  const token = await asToken(app, admin)
  dataOf(await token.get('/data/json_each'))
  await app.tokens.flush()
})

t.test('an imported table cannot shadow the table-valued functions that the service uses', async (t) => {
  const names = ['pragma_table_list', 'pragma_table_xinfo', 'pragma_index_list', 'pragma_foreign_key_list', 'json_each']
  const file = createDatabase(t, names.map((name) => `CREATE TABLE ${name} (x TEXT);`).join('\n'))
  const app = await startApp(t, { env: { DATABASE: file } })
  const admin = await asAdmin(app)
  for (const name of names) {
    const { id } = await importTable(admin, name)
    t.equal(dataOf(await admin.post(`/admin/tables/${id}/refresh`)).name, name)
    dataOf(await admin.post(`/admin/tables/${id}/data`, { x: 'a' }))
  }
  await app.tokens.flush()
})
