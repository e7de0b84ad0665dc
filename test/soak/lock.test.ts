import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { isFailure, PASSWORD } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { createClient, type Reply, type Wanted } from './http-client.ts'

const ROUNDS = scaled(10)
/** Reads and writes of every kind that are under way at once while the lock is held. */
const AT_ONCE = 20

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
const creating: Wanted = { method: 'POST', path: records, headers, body: { name: 'Tom', age: 1 } }
await client.dataOf(creating)

const READS: readonly Wanted[] = [
  { path: `${records}/1`, headers },
  { path: `${records}?q=to&order=-age`, headers },
  { path: `/admin/tables/${id}/export`, headers },
  { path: '/auth/me', headers },
  { path: '/health' }
]
/** Those that count: each adds one to what `seen` gives, or nothing. */
const WRITES: readonly Wanted[] = [
  creating,
  { method: 'POST', path: '/admin/tokens', headers, body: { name: 'a', permissions: { tables: [], actions: [] } } },
  { method: 'POST', path: '/auth/login', body: { name: 'admin', password: PASSWORD } }
]
const COUNT = `SELECT (SELECT count(*) FROM cats) + (SELECT count(*) FROM _rowhouse_tokens) +
  (SELECT count(*) FROM _rowhouse_sessions)`

const other = new BetterSqlite3(join(service.dataDir, 'rowhouse.db'))
t.teardown(() => other.close())
const seen = () => other.prepare<[], number>(COUNT).pluck().get() as number

const sendAll = (some: readonly Wanted[]) =>
  Array.from({ length: AT_ONCE }, (_, index) => client.send(some[index % some.length] as Wanted))

const isBusy = ({ status, headers, body }: Reply) =>
  status === 503 && /^\d+$/.test(headers['retry-after'] ?? '') && isFailure(JSON.parse(body))

const statuses = (replies: readonly Reply[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Reads and writes while another program holds a lock, until `release` resolves. */
const workUnder = async (lock: string, release: (writes: readonly Promise<Reply>[]) => Promise<unknown>) => {
  other.exec(`BEGIN ${lock}`)
  const writes = sendAll(WRITES)
  const reads = await Promise.all(sendAll(READS))
  await release(writes)
  other.exec('ROLLBACK')
  return { reads, writes: await Promise.all(writes) }
}

const goesOn = async (t: Test) => {
  t.strictSame(statuses(await Promise.all(sendAll([...WRITES, ...READS]))), { 200: AT_ONCE }, 'and it goes on')
}

t.test('what waits for another program that locks the database for a moment succeeds', async (t) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = seen()
    const { reads, writes } = await workUnder('IMMEDIATE', async () => {})
    t.strictSame(statuses(reads), { 200: AT_ONCE }, 'reads do not wait')
    t.strictSame(statuses(writes), { 200: AT_ONCE })
    t.equal(seen(), before + AT_ONCE)
    await goesOn(t)
  }
})

t.test('while another program locks the database for long, writes are refused, and reads succeed', async (t) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = seen()
    const readiness: Reply[] = []
    const { reads, writes } = await workUnder('EXCLUSIVE', async (pending) => {
      await Promise.all(pending)
      readiness.push(await client.send({ path: '/health/ready' }))
    })
    t.strictSame(statuses(reads), { 200: AT_ONCE }, 'reads do not wait')
    t.strictSame(statuses(writes), { 503: AT_ONCE })
    t.strictSame(statuses(readiness), { 503: 1 }, 'it does not call itself ready')
    t.ok([...writes, ...readiness].every(isBusy), 'who is refused hears when to try again')
    t.equal(seen(), before, 'what was refused has left nothing')
    await goesOn(t)
  }
})
