import t from 'tap'
import { asAdmin, createDatabase, dataOf, importTable, startApp } from '../helpers.ts'

const file = createDatabase(
  t,
  `CREATE TABLE items (id INTEGER PRIMARY KEY, color TEXT, price REAL, name TEXT);
   INSERT INTO items VALUES (1, 'red', 1.5, 'cup'), (2, 'blue', 2.5, 'pen');
   CREATE VIEW cheap AS SELECT id, price FROM items WHERE price < 2;`
)

interface LoggedScan {
  readonly table: string
  readonly milliseconds: number
  readonly tableRows: number | null
  readonly filter: string | null
  readonly order: string | null
  readonly helpfulIndex: readonly string[] | null
}

const lines: { msg?: string; level?: number; scan?: LoggedScan }[] = []
const logger = { level: 'warn', stream: { write: (line: string) => lines.push(JSON.parse(line)) } }
const app = await startApp(t, { env: { DATABASE: file }, logger })
const admin = await asAdmin(app)
const items = `/admin/tables/${(await importTable(admin, 'items')).id}`
const cheap = `/admin/tables/${(await importTable(admin, 'cheap')).id}`

/** Makes every scan report this time. */
const reportTime = (milliseconds: number) => {
  const { scan, viewScans } = app.database
  const { scan: scanView } = viewScans
  app.database.scan = (statement, caller, onTime) => scan(statement, caller, () => onTime?.(milliseconds))
  app.database.viewScans.scan = (statement, caller, onTime) => scanView(statement, caller, () => onTime?.(milliseconds))
  return () => {
    app.database.scan = scan
    app.database.viewScans.scan = scanView
  }
}

const slowScans = () => lines.splice(0).flatMap(({ scan }) => scan ?? [])

t.test('a scan of more than a second is logged, without values', async (t) => {
  t.teardown(reportTime(1500.4))
  dataOf(await admin.get(`${items}/data`))
  lines.length = 0

  dataOf(await admin.post(`${items}/query`, { filter: { where: { color: { eq: 'red' } } }, order: '-price' }))
  t.match(lines, [{ level: 40, msg: 'A scan took longer than a second.' }])
  t.notMatch(JSON.stringify(lines), /red/)
  t.strictSame(slowScans(), [
    {
      table: 'items',
      milliseconds: 1500,
      tableRows: 2,
      filter: '"items"."color" = ?',
      order: '"items"."price" DESC, "items"."id"',
      helpfulIndex: ['color']
    }
  ])

  const { slowScans: recorded } = dataOf(await admin.get('/admin/status'))
  t.match(recorded, [{ table: 'items', milliseconds: 1500, filter: '"items"."color" = ?', helpfulIndex: ['color'] }])
  t.type(recorded[0].at, 'number')

  const indexFor = async (body: object) => {
    dataOf(await admin.post(`${items}/query`, body))
    return slowScans().map(({ helpfulIndex }) => helpfulIndex)
  }
  t.same(await indexFor({ filter: { where: { color: { eq: 'red' } } }, order: 'price' }), [['color', 'price']])
  t.same(await indexFor({ filter: { where: { price: { gt: 1 }, color: { isNull: true } } } }), [['color', 'price']])
  t.same(await indexFor({ filter: { where: { color: { eq: 'red' }, name: { contains: 'cu' } } } }), [['color']])
  t.same(await indexFor({ filter: { where: { name: { contains: 'cu' } } } }), [null])

  dataOf(await admin.get(`${items}/data?q=cup`))
  dataOf(await admin.post(`${items}/aggregate`, { compute: { sum: { sum: 'price' } } }))
  t.match(slowScans(), [{ helpfulIndex: null }, { filter: null, order: null, helpfulIndex: null }])

  dataOf(await admin.post(`${cheap}/query`, { order: 'price' }))
  t.match(slowScans(), [{ table: 'cheap', tableRows: null, helpfulIndex: null }])
})

t.test('a scan of less than a second is not logged', async (t) => {
  t.teardown(reportTime(999))
  dataOf(await admin.post(`${items}/query`, { order: 'price' }))
  t.same(slowScans(), [])
})
