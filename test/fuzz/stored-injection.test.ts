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
import { CANARY, expectSafe, expectSame, expectUnchanged, openWatch } from './injection.ts'
import { payloads, samplePayloads } from './payloads.ts'

/** Tables in one file. SQLite reads the whole schema again after each change, so large files are slow. */
const TABLES_PER_FILE = 120
/** Maximum number of payloads in use at the same time. */
const MAX_CONCURRENT = 10
/** One export for this many payloads, since each sorted export starts a thread. */
const EXPORT_INTERVAL = 60

const encode = encodeURIComponent
const quote = (name: string) => `"${name.replaceAll('"', '""')}"`
const text = (value: string) => `'${value.replaceAll("'", "''")}'`

/** Returns SQL for a table with the payload as its name and in its columns, defaults, keys and values. */
const storedTable = (payload: string) => {
  const name = quote(payload)
  return `CREATE TABLE ${name} (${name} TEXT PRIMARY KEY, n INTEGER DEFAULT 0, ${quote(`t ${payload}`)} TEXT DEFAULT ${text(payload)});
    INSERT INTO ${name} VALUES (${text(payload)}, 1, ${text(payload)});`
}

/**
 * Returns the payloads that can be names of tables: without reserved names, names that differ in case alone, and
 * `__proto__`, which cannot be written.
 */
const storablePayloads = () => {
  const allowed = samplePayloads(scaled(payloads.length)).filter(
    (payload) => !/^(?:sqlite_.*|_rowhouse_.*|__proto__|canary|n)$/i.test(payload)
  )
  return [...new Map(allowed.map((payload) => [payload.toLowerCase(), payload])).values()]
}

/** Requests for an imported table, with the payload as names and values. */
const requestsFor = (
  { id, name }: Table,
  admin: Client,
  token: Client
): readonly (readonly [string, () => Promise<TestResponse>])[] => {
  const url = `/data/${encode(name)}`
  const record = `${url}/records/${encode(name)}`
  const value = `t ${name}`
  const filter = { where: { [name]: { eq: name, contains: name }, [value]: { in: [name] } } }
  return [
    ['list', () => token.get(url)],
    ['order', () => token.get(`${url}?order=-n&size=1`)],
    ['search', () => token.get(`${url}?q=${encode(name.slice(0, 255))}`)],
    ['query', () => token.post(`${url}/query`, { filter, fields: [name], total: true })],
    ['cursor', () => token.get(`${url}?cursor=&fields=n&filter=${encode(JSON.stringify(filter))}`)],
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
  expectSame(t, table.name, payload, 'the name of the table')
  expectSame(t, key?.name, payload, 'the name of a field')
  expectSame(t, value?.defaultValue, payload, 'a default')
  const record = dataOf(await token.get(`/data/${encode(payload)}/records/${encode(payload)}`))
  expectSame(t, record[payload], payload, 'a stored key')
  expectSame(t, record[`t ${payload}`], payload, 'a stored value')
  for (const [name, call] of requestsFor(table, admin, token)) {
    const response = await call()
    if (response.statusCode !== 200) t.fail(`${name}: ${response.statusCode}`, { payload, body: response.body })
  }
  const { rows, total } = dataOf(await token.get(`/data/${encode(payload)}`))
  if (total !== 1) t.fail('the number of records is wrong', { payload, rows })
  expectSame(t, rows[0]?.[`t ${payload}`], payload, 'a default that was inserted')
  // A name such as `a,b` is not a valid order, so this request may be refused.
  expectSafe(t, await token.get(`/data/${encode(payload)}?order=${encode(payload)}`), payload, 'an order')
}

const exportStored = async (t: Test, payload: string, admin: Client) => {
  const tables: readonly Table[] = dataOf(await admin.get('/admin/tables'))
  const id = tables.find(({ name }) => name === payload)?.id
  for (const query of ['', `?q=${encode(payload.slice(0, 255))}`]) {
    const { statusCode, body } = await admin.get(`/admin/tables/${id}/export${query}`)
    if (statusCode !== 200) t.fail(`export${query}: ${statusCode}`, { payload, body })
  }
}

t.test('a payload in the database is only ever a name, a default, a key or a value', async (t) => {
  const all = storablePayloads()
  for (let i = 0; i < all.length; i += TABLES_PER_FILE) {
    const chunk = all.slice(i, i + TABLES_PER_FILE)
    const file = createDatabase(t, CANARY + chunk.map(storedTable).join('\n'))
    const app = await startApp(t, { env: { DATABASE: file } })
    const admin = await asAdmin(app)
    const token = await asToken(app, admin)
    const watch = openWatch(t, file)
    const before = watch.schema()
    for (let j = 0; j < chunk.length; j += MAX_CONCURRENT) {
      const batch = chunk.slice(j, j + MAX_CONCURRENT)
      await Promise.all(batch.map((payload) => useStored(t, payload, admin, token)))
      if (j % EXPORT_INTERVAL === 0) await exportStored(t, String(batch[0]), admin)
      expectUnchanged(t, watch, before, batch.join('\n'))
    }
    await app.close()
  }
  t.comment(`${all.length} stored payloads`)
})
