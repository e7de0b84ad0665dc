import t from 'tap'
import type { Table } from '../../../schemas/table.ts'
import { parseCsv } from '../../csv.ts'
import { asAdmin, asToken, createDatabase, dataOf, importTable, startApp } from '../../helpers.ts'
import { openOracle, type Stored } from '../../sqlite-oracle.ts'
import { NORTHWIND } from './northwind.ts'

const file = createDatabase(t, NORTHWIND)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const token = await asToken(app, admin)
const oracle = openOracle(file)
t.teardown(() => oracle.close())
const names = oracle.names('view')

const toJson = (value: Stored | undefined) => {
  if (Buffer.isBuffer(value)) return value.toString('base64')
  return typeof value === 'bigint' ? Number(value) : value
}

const pathOf = (name: string) => `/data/${encodeURIComponent(name)}`

const wantedRows = (table: Table) =>
  oracle.rows(table).map((row) => Object.fromEntries(table.fields.map(({ name }, index) => [name, toJson(row[index])])))

t.equal(names.length, 16)

for (const name of names) {
  t.test(`the view '${name}'`, async (t) => {
    const table = await importTable(admin, name)
    t.match(table, { kind: 'view', isEditable: false, primaryKey: '', foreignKeys: [] })
    t.strictSame(
      table.fields.map((field) => field.name),
      oracle.columns(name)
    )
    const wanted = wantedRows(table)
    t.ok(wanted.length > 2)

    await t.test('its list has the rows that SQLite returns, in their order', async (t) => {
      const { rows, total } = dataOf(await token.get(`${pathOf(name)}?size=500`))
      t.strictSame(rows, wanted)
      t.equal(total, wanted.length)
    })

    await t.test('its pages have each row once', async (t) => {
      const rows: object[] = []
      for (let page = 1; rows.length < wanted.length; page += 1) {
        const data = dataOf(await admin.get(`/admin/tables/${table.id}/data?size=3&page=${page}`))
        rows.push(...data.rows)
      }
      t.strictSame(rows, wanted)
    })

    await t.test('its exports have the same rows', async (t) => {
      const ndjson = await token.get(`${pathOf(name)}/export?format=ndjson`)
      t.strictSame(
        ndjson.body
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
        wanted
      )
      const csv = await admin.get(`/admin/tables/${table.id}/export`)
      const [header = [], ...lines] = await parseCsv(csv.body)
      t.strictSame(
        header,
        table.fields.map((field) => field.name)
      )
      t.equal(lines.length, wanted.length)
      const texts = wanted.map((row) => Object.values(row).filter((value) => typeof value === 'string'))
      for (const [index, values] of texts.entries())
        t.ok(values.every((value) => lines[index]?.includes(String(value))))
    })

    await t.test('its rows are counted', async (t) => {
      const [{ n }] = dataOf(await token.post(`${pathOf(name)}/aggregate`, { compute: { n: { count: true } } })).rows
      t.equal(n, wanted.length)
    })
  })
}

t.test('all views are in the typed document', async (t) => {
  const document = (await token.get('/data/_openapi.json')).json()
  const pathOf = (name: string) => `/data/${name.replaceAll(/[^\w]/g, '')}`
  const words = (name: string) => name.split(' ').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  t.strictSame(
    names.filter((name) => !document.paths[pathOf(words(name).join(''))]?.get),
    []
  )
})
