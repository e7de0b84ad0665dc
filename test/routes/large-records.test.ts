import t from 'tap'
import { asAdmin, createDatabase, createTable, dataOf, expectError, importTable, startApp } from '../helpers.ts'

// SQLite writes a whole record for each change of it. So changes of a large one are queued, whatever they change.

const LARGE = 1_000_000
const file = createDatabase(
  t,
  `CREATE TABLE notes (id INTEGER PRIMARY KEY, n INTEGER, text TEXT);
   INSERT INTO notes VALUES (1, 0, 'short'), (2, 0, printf('%.*c', ${LARGE}, 'x'));`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const { id: stored } = await importTable(admin, 'notes')
const { id: created } = await createTable(admin, {
  name: 'created',
  fields: [
    { name: 'n', jsonType: 'integer' },
    { name: 'text', jsonType: 'string' }
  ]
})

/** Sends changes at once. Returns the maximum number that waited as large ones, and the responses. */
const send = async (count: number, change: () => ReturnType<typeof admin.put>) => {
  let waited = 0
  const responses = await Promise.all(
    Array.from({ length: count }, () =>
      change().then((response) => {
        waited = Math.max(waited, app.database.counts().bulkWrites.waiting)
        return response
      })
    )
  )
  return { waited, responses }
}

const update = (table: number, pk: number) => admin.put(`/admin/tables/${table}/data/${pk}`, { n: 5 })

t.test('changes of a large record wait for each other, those of a small one in the same table do not', async (t) => {
  const large = await send(8, () => update(stored, 2))
  t.ok(large.waited > 0)
  for (const response of large.responses) dataOf(response)
  t.equal((await send(8, () => update(stored, 1))).waited, 0)
})

t.test('a table has large records as soon as one is created', async (t) => {
  const create = (text: string) => admin.post(`/admin/tables/${created}/data`, { n: 0, text })
  const small = dataOf(await create('short')).id
  t.equal((await send(8, () => update(created, small))).waited, 0)
  const large = dataOf(await create('x'.repeat(LARGE))).id
  t.ok((await send(8, () => update(created, large))).waited > 0)
  t.equal((await send(8, () => update(created, small))).waited, 0)
})

t.test('more than 32 waiting changes of a large record are refused', async (t) => {
  const { responses } = await send(50, () => update(stored, 2))
  const refused = responses.filter(({ statusCode }) => statusCode !== 200)
  t.ok(refused.length > 0 && refused.length < 40, `${refused.length}`)
  for (const response of refused) expectError(t, response, 503, 'OVERLOADED')
})
