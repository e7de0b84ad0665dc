import t from 'tap'
import {
  asAdmin,
  asToken,
  createDatabase,
  dataOf,
  expectError,
  importTable,
  startApp,
  type TestResponse
} from '../helpers.ts'

// A batch returns the record of each create and upsert. The records can be much larger than the request.

const MIB = 2 ** 20
const file = createDatabase(
  t,
  `CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT UNIQUE, text TEXT);
   INSERT INTO files VALUES (1, 'half', replace(hex(zeroblob(${2 * MIB})), '00', 'xy')),
     (2, 'wide', replace(hex(zeroblob(${3 * MIB})), '00', 'xyz')), (3, 'small', '');`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
await importTable(admin, 'files')
const token = await asToken(app, admin)

const upsert = (id: number, name?: string) => ({ op: 'upsert', table: 'files', values: { id, ...(name && { name }) } })
const batch = async (operations: readonly object[], headers = {}): Promise<TestResponse> => {
  const response = await app.inject({
    method: 'POST',
    url: '/data/_batch',
    headers: { ...token.headers, ...headers },
    payload: { operations }
  })
  // A busy machine may need more time than a change may take.
  return response.json().error?.message.includes('took too long') ? batch(operations, headers) : response
}
const countNew = async () =>
  dataOf(await token.get(`/data/files?filter=${encodeURIComponent('{"where":{"id":{"gt":3}}}')}`)).total
const keys = (operations: readonly { record: { id: number } }[]) => operations.map(({ record }) => record.id)

t.test('records of a batch that have more than 8 MiB together are refused, and nothing is stored', async (t) => {
  const create = { op: 'create', table: 'files', values: { name: 'new' } }
  for (const operations of [
    [create, upsert(1), upsert(1)],
    [create, upsert(2)]
  ]) {
    const response = await batch(operations)
    expectError(t, response, 413, 'RESULTS_TOO_LARGE')
    t.match(response.json().error, { message: /8 MiB/, details: [{ path: /^\/operations\/[12]$/ }] })
    t.equal(await countNew(), 0)
  }
  const half = { op: 'upsert', table: 'files', values: { id: 1 } }
  t.strictSame(keys(dataOf(await batch([half, upsert(3), upsert(3)])).results), [1, 3, 3])
})

t.test('a batch changes few large records', async (t) => {
  expectError(t, await batch(Array.from({ length: 700 }, () => upsert(2))), 413, 'TOO_MUCH_WORK')
})

t.test('a single record may be larger, beside operations that return none', async (t) => {
  const update = { op: 'update', table: 'files', pk: 3, values: { text: 'changed' } }
  const [first, second] = dataOf(await batch([upsert(2), update])).results
  t.equal(first.record.text.length, 9 * MIB)
  t.strictSame(second, { success: true })
  t.equal(dataOf(await token.put('/data/files/records/2?return=record', { name: 'wide' })).record.id, 2)
})

t.test('a refused batch stores no Idempotency-Key', async (t) => {
  const key = { 'idempotency-key': 'large results' }
  const operations = [upsert(1), upsert(1), upsert(1)]
  for (const _ of [1, 2]) expectError(t, await batch(operations, key), 413, 'RESULTS_TOO_LARGE')
  t.strictSame(keys(dataOf(await batch([upsert(3)], key)).results), [3])
})
