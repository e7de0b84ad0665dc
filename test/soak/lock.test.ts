import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { PASSWORD } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { isFailure } from '../validators.ts'
import { createClient, type HttpRequest, type HttpResponse } from './http-client.ts'

const ROUNDS = scaled(10)
/** Number of concurrent reads, and of concurrent writes, while the lock is held. */
const CONCURRENT = 20

const service = await startService(t)
const client = createClient(t, service, 512)
const headers = await client.logIn('admin', PASSWORD)
const fields = [
  { name: 'name', jsonType: 'string' },
  { name: 'age', jsonType: 'integer' }
]
const table = { name: 'cats', label: '', fields }
const { id } = await client.dataOf({ method: 'POST', path: '/admin/tables', headers, body: table })
const records = `/admin/tables/${id}/data`
const creating: HttpRequest = { method: 'POST', path: records, headers, body: { name: 'Tom', age: 1 } }
await client.dataOf(creating)

const READS: readonly HttpRequest[] = [
  { path: `${records}/1`, headers },
  { path: `${records}?q=to&order=-age`, headers },
  { path: `/admin/tables/${id}/export`, headers },
  { path: '/auth/me', headers },
  { path: '/health' }
]
/** Each successful write adds one row to the tables that `countRows` counts. */
const WRITES: readonly HttpRequest[] = [
  creating,
  { method: 'POST', path: '/admin/tokens', headers, body: { name: 'a', permissions: { tables: [], actions: [] } } },
  { method: 'POST', path: '/auth/login', body: { name: 'admin', password: PASSWORD } }
]
const COUNT_ROWS = `SELECT (SELECT count(*) FROM cats) + (SELECT count(*) FROM _rowhouse_tokens) +
  (SELECT count(*) FROM _rowhouse_sessions)`

const other = new BetterSqlite3(join(service.dataDir, 'rowhouse.db'))
t.teardown(() => other.close())
const countRows = () => other.prepare<[], number>(COUNT_ROWS).pluck().get() as number

const sendAll = (requests: readonly HttpRequest[]) =>
  Array.from({ length: CONCURRENT }, (_, index) => client.send(requests[index % requests.length] as HttpRequest))

const isBusy = ({ status, headers, body }: HttpResponse) =>
  status === 503 && /^\d+$/.test(headers['retry-after'] ?? '') && isFailure(JSON.parse(body))

const statuses = (responses: readonly HttpResponse[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Sends reads and writes while another program holds a lock. The lock is released when `release` resolves. */
const sendDuringLock = async (
  lock: string,
  release: (writes: readonly Promise<HttpResponse>[]) => Promise<unknown>
) => {
  other.exec(`BEGIN ${lock}`)
  const writes = sendAll(WRITES)
  const reads = await Promise.all(sendAll(READS))
  await release(writes)
  other.exec('ROLLBACK')
  return { reads, writes: await Promise.all(writes) }
}

const assertRecovered = async (t: Test) => {
  t.strictSame(
    statuses(await Promise.all(sendAll([...WRITES, ...READS]))),
    { 200: CONCURRENT },
    'without the lock all requests succeed'
  )
}

t.test('while another program locks the database for a moment, writes wait and succeed', async (t) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = countRows()
    const { reads, writes } = await sendDuringLock('IMMEDIATE', async () => {})
    t.strictSame(statuses(reads), { 200: CONCURRENT }, 'reads do not wait')
    t.strictSame(statuses(writes), { 200: CONCURRENT })
    t.equal(countRows(), before + CONCURRENT)
    await assertRecovered(t)
  }
})

t.test(
  'while another program locks the database for a long time, writes fail with 503 and reads succeed',
  async (t) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = countRows()
      const readiness: HttpResponse[] = []
      const { reads, writes } = await sendDuringLock('EXCLUSIVE', async (pending) => {
        await Promise.all(pending)
        readiness.push(await client.send({ path: '/health/ready' }))
      })
      t.strictSame(statuses(reads), { 200: CONCURRENT }, 'reads do not wait')
      t.strictSame(statuses(writes), { 503: CONCURRENT })
      t.strictSame(statuses(readiness), { 503: 1 }, 'the service is not ready')
      t.ok([...writes, ...readiness].every(isBusy), 'each failure has a Retry-After header')
      t.equal(countRows(), before, 'failed writes have stored nothing')
      await assertRecovered(t)
    }
  }
)
