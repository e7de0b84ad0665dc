import t, { type Test } from 'tap'
import type { Table } from '../../schemas/table.ts'
import {
  asAdmin,
  asToken,
  type Client,
  createDatabase,
  dataOf,
  importTable,
  startApp,
  type TestResponse
} from '../helpers.ts'
import { scaled } from '../scale.ts'
import { CANARY, isSafe, same, unharmed, watch } from './injection.ts'
import { payloads, someOf } from './payloads.ts'

/** Tables in one file: SQLite reads all of them for each that changes. */
const CHUNK = 120
/** Payloads in use at once. */
const LANES = 10
/** One in so many is exported too: each sorted export starts a thread. */
const EXPORTED = 60

const encode = encodeURIComponent
const quote = (name: string) => `"${name.replaceAll('"', '""')}"`
const text = (value: string) => `'${value.replaceAll("'", "''")}'`

/** A stored table that is a payload wherever SQLite takes one: its name, columns, defaults, its key and a value. */
const storedTable = (payload: string) => {
  const name = quote(payload)
  return `CREATE TABLE ${name} (${name} TEXT PRIMARY KEY, n INTEGER DEFAULT 0, ${quote(`t ${payload}`)} TEXT DEFAULT ${text(payload)});
    INSERT INTO ${name} VALUES (${text(payload)}, 1, ${text(payload)});`
}

/** Some names are SQLite's or ours; names that differ in case alone are one; and `__proto__` is for reading only. */
const storable = () => {
  const free = someOf(scaled(payloads.length)).filter(
    (payload) => !/^(?:sqlite_.*|_rowhouse_.*|__proto__|canary|n)$/i.test(payload)
  )
  return [...new Map(free.map((payload) => [payload.toLowerCase(), payload])).values()]
}

/** All that an imported table is good for, with the stored payload in the place of names and values. */
const uses = (
  { id, name }: Table,
  admin: Client,
  token: Client
): readonly (readonly [string, () => Promise<TestResponse>])[] => {
  const url = `/data/${encode(name)}`
  const record = `${url}/records/${encode(name)}`
  const value = `t ${name}`
  return [
    ['list', () => token.get(url)],
    ['order', () => token.get(`${url}?order=-n&size=1`)],
    ['search', () => token.get(`${url}?q=${encode(name.slice(0, 255))}`)],
    ['increment', () => token.post(`${url}/incr`, { pk: name, field: 'n' })],
    ['update', () => token.put(record, { [value]: `${name}!`, [name]: name })],
    ['create', () => token.post(`${url}/records`, { [name]: `other ${name}` })],
    ['schema', () => token.get(`${url}/schema`)],
    ['refresh', () => admin.post(`/admin/tables/${id}/refresh`)],
    ['delete', () => token.delete(record)]
  ]
}

const useStored = async (t: Test, payload: string, admin: Client, token: Client) => {
  const table = await importTable(admin, payload)
  const [key, , value] = table.fields
  same(t, table.name, payload, 'the name of the table')
  same(t, key?.name, payload, 'the name of a field')
  same(t, value?.defaultValue, payload, 'a default')
  const record = dataOf(await token.get(`/data/${encode(payload)}/records/${encode(payload)}`))
  same(t, record[payload], payload, 'a stored key')
  same(t, record[`t ${payload}`], payload, 'a stored value')
  for (const [use, call] of uses(table, admin, token)) {
    const answer = await call()
    if (answer.statusCode !== 200) t.fail(`${use}: ${answer.statusCode}`, { payload, body: answer.body })
  }
  const { rows, total } = dataOf(await token.get(`/data/${encode(payload)}`))
  if (total !== 1) t.fail('another number of records', { payload, rows })
  same(t, rows[0]?.[`t ${payload}`], payload, 'a default that was inserted')
  // Names such as `a,b` are no field of an order, and are refused as that.
  isSafe(t, await token.get(`/data/${encode(payload)}?order=${encode(payload)}`), payload, 'an order')
}

/** By its place among the registered tables; the search is in the order of a key that is no rowid. */
const exportStored = async (t: Test, payload: string, admin: Client) => {
  const tables: readonly Table[] = dataOf(await admin.get('/admin/tables'))
  const id = tables.find(({ name }) => name === payload)?.id
  for (const query of ['', `?q=${encode(payload.slice(0, 255))}`]) {
    const { statusCode, body } = await admin.get(`/admin/tables/${id}/export${query}`)
    if (statusCode !== 200) t.fail(`export${query}: ${statusCode}`, { payload, body })
  }
}

t.test('a payload that the database has for a name, a default, a key or a value is only ever that', async (t) => {
  const all = storable()
  for (let i = 0; i < all.length; i += CHUNK) {
    const some = all.slice(i, i + CHUNK)
    const file = createDatabase(t, CANARY + some.map(storedTable).join('\n'))
    const app = await startApp(t, { env: { DATABASE: file } })
    const admin = await asAdmin(app)
    const token = await asToken(app, admin)
    const seen = watch(file)
    const before = seen.schema()
    for (let j = 0; j < some.length; j += LANES) {
      const together = some.slice(j, j + LANES)
      await Promise.all(together.map((payload) => useStored(t, payload, admin, token)))
      if (j % EXPORTED === 0) await exportStored(t, String(together[0]), admin)
      unharmed(t, seen, before, together.join('\n'))
    }
    seen.close()
    await app.close()
  }
  t.comment(`${all.length} stored payloads`)
})
