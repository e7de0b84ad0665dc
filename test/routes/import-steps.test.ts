import t, { type Test } from 'tap'
import { asAdmin, client, createDatabase, dataOf, expectError, importTable, logIn, startApp } from '../helpers.ts'
import { untilBuilt } from '../search-index.ts'
import { interrupt } from '../staging-events.ts'

const fields = Array.from({ length: 1500 }, (_, index) => `f${index}`)
const file = createDatabase(
  t,
  `CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT);
   CREATE TABLE wide (id INTEGER PRIMARY KEY, ${fields.map((name) => `${name} TEXT`).join(', ')});`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const { id } = await importTable(admin, 'texts')
const wide = await importTable(admin, 'wide')
const csv = client(app, { ...(await logIn(app)), 'content-type': 'text/csv' })
const url = `/admin/tables/${id}/import`

const linesOf = (count: number, bytes: number) => `${'x'.repeat(bytes - 1)}\n`.repeat(count)

/** Imports a file, and returns the number of its steps. */
const importIn = async (t: Test, path: string, body: string) => {
  let steps = 0
  interrupt(t, app, 'step', () => {
    steps += 1
  })
  dataOf(await csv.post(path, body))
  return steps
}

t.test('a step has few bytes if the table has a search index, and many without one', async (t) => {
  const body = `text\n${linesOf(64, 16 * 1024)}`
  t.equal(await importIn(t, url, body), 1)
  dataOf(await admin.put(`/admin/tables/${id}`, { searchIndex: true }))
  await untilBuilt(admin, id)
  const small = `text\n${linesOf(4, 16 * 1024)}`
  t.equal(await importIn(t, url, small), 1)
  t.ok((await importIn(t, url, body)) >= 8)
  t.equal(dataOf(await admin.get(`/admin/tables/${id}/data?q=xxx`)).total, 132)
})

t.test('large records after small ones are stored in steps of their own', async (t) => {
  dataOf(await admin.put(`/admin/tables/${id}`, { searchIndex: false }))
  const body = `text\n${linesOf(2000, 10)}${linesOf(20, 1024 * 1024)}`
  t.ok((await importIn(t, url, body)) >= 5)
})

t.test('a record with too much text for a search index is an error of its line', async (t) => {
  const body = `text\nshort\n${'x'.repeat(200_000)}\n${'x'.repeat(200_001)}\n`
  dataOf(await csv.post(`${url}?dryRun=true`, body))
  dataOf(await admin.put(`/admin/tables/${id}`, { searchIndex: true }))
  await untilBuilt(admin, id)
  const response = await csv.post(url, body)
  expectError(t, response, 400, 'IMPORT_FAILED')
  t.match(response.json().error.details, [{ line: 4, code: 'length' }])
  dataOf(await csv.post(url, body.slice(0, -200_002)))
})

t.test('tables with 1,500 fields can have a search index, and files of any size', async (t) => {
  dataOf(await admin.put(`/admin/tables/${wide.id}`, { searchIndex: true }))
  t.match(await untilBuilt(admin, wide.id), { state: 'ready' })
  const line = `${fields.map(() => 'abc').join(',')}\n`
  const path = `/admin/tables/${wide.id}/import`
  t.ok((await importIn(t, path, `${fields.join(',')}\n${line.repeat(60)}`)) > 1)
  dataOf(await csv.post(`${path}?atomic=true`, `${fields.join(',')}\n${line}`))
})
