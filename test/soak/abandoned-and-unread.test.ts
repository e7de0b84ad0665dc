import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { PASSWORD, temporaryDirectory } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { createClient } from './http-client.ts'
import { residentMib } from './memory.ts'
import { pace } from './pace.ts'
import { percentile } from './waits.ts'

// A key that can only read abandons its pages, or does not read its exports.

/** Limits for an idle machine. A short run prints the times without checking them. */
const isLong = scaled(10) >= 10
const ROWS = Math.max(50_000, scaled(1_000_000))
const ROUNDS = Math.max(2, scaled(10))
const EXPORTS = Math.max(6, scaled(30))
const RECORD_SIZE = 7_000_000
const RECORDS = 5
const UNREAD_MS = Math.max(1000, scaled(10_000))
const PER_SECOND = 20
/** Milliseconds, and MiB. */
const MAX_P99 = 100
const MAX_DELAY = 500
const MAX_MEMORY = 512
/** Until a reader is free: 50 ms while it reads rows, and 250 ms in a sort. */
const MAX_STOP = 250

const file = join(temporaryDirectory(t), 'abandoned.sqlite')
const setUp = new BetterSqlite3(file)
setUp.exec(`
  CREATE TABLE items (id INTEGER PRIMARY KEY, note TEXT);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
    INSERT INTO items SELECT i, printf('%080d', i * 7919 % ${ROWS}) FROM n;
  CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${RECORDS})
    INSERT INTO texts SELECT i, printf('%0${RECORD_SIZE}d', i) FROM n;
  CREATE TABLE calm (id INTEGER PRIMARY KEY, number INTEGER);
  INSERT INTO calm VALUES (1, 1)`)
setUp.close()

const METRICS_TOKEN = '0123456789abcdef'.repeat(2)
const service = await startService(t, { DATABASE: file, METRICS_TOKEN, MALLOC_ARENA_MAX: '2' })
t.setTimeout(ROUNDS * 60_000 + UNREAD_MS + 300_000)
const { host, port } = service
const client = createClient(t, service, 16)
const cookie = await client.logIn('admin', PASSWORD)
await client.dataOf({ method: 'POST', path: '/admin/tables/import', headers: cookie, body: { names: ['*'] } })
const issue = async (tables: readonly string[], actions: readonly string[]) => {
  const body = { name: 'a', permissions: { tables, actions } }
  const { token } = await client.dataOf({ method: 'POST', path: '/admin/tokens', headers: cookie, body })
  return { authorization: `Bearer ${token}` }
}
const hostile = await issue(['items', 'texts'], ['read'])
const calm = await issue(['calm'], ['read', 'create'])

const metric = async (name: string) => {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  const { body } = await client.send({ path: '/metrics', headers })
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(body)?.[1])
}
const scansRunning = () => metric('rowhouse_scans_running\\{pool="threads"\\}')
const unreadBytes = () => metric('rowhouse_unread_response_bytes')

/** Begins a request of the hostile key whose response is not read. */
const begin = (path: string) => {
  const sent = request({ host, port, path, headers: hostile, agent: false })
  sent.on('response', (response) => response.pause())
  sent.on('error', () => {})
  sent.end()
  return sent
}

/** Measures creates and reads of the other key, and the memory of the service, for a time. */
const measureOthers = async (milliseconds: number) => {
  let memory = 0
  const timed = async (input: Parameters<typeof client.dataOf>[0]) => {
    const start = performance.now()
    await client.dataOf(input)
    return performance.now() - start
  }
  const times = await pace(PER_SECOND, milliseconds, async (index) => {
    memory = Math.max(memory, residentMib(service))
    return index % 2 === 0
      ? timed({ method: 'POST', path: '/data/calm/records', headers: calm, body: { number: index } })
      : timed({ path: '/data/calm/records/1', headers: calm })
  })
  return { times, memory }
}

const assertBars = (t: Test, { times, memory }: Awaited<ReturnType<typeof measureOthers>>) => {
  const [p99, slowest] = [percentile(times, 0.99), percentile(times, 1)]
  t.comment(
    `another key: p99 ${p99.toFixed(1)} ms, maximum ${slowest.toFixed(0)} ms; memory at most ${memory.toFixed(0)} MiB`
  )
  t.ok(memory < MAX_MEMORY, `${memory} MiB`)
  if (!isLong) return
  t.ok(p99 < MAX_P99, `p99 ${p99} ms`)
  t.ok(slowest < MAX_DELAY, `maximum ${slowest} ms`)
}

// Starts the threads, and compiles the code of the requests.
await client.send({ path: '/data/items?order=note', headers: hostile })
await measureOthers(1000)

for (const [name, path] of Object.entries({
  'deep pages': `/data/items?order=note&page=${Math.floor(ROWS / 1000) - 5}&size=1000`,
  'sorted exports': '/data/items/export?order=note',
  searches: '/data/items?q=nothing&order=-note'
})) {
  t.test(`${name} that are abandoned free their readers`, async (t) => {
    const stops: number[] = []
    const abandon = async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const sent = [begin(path), begin(path)]
        await wait(200)
        const start = performance.now()
        for (const one of sent) one.destroy()
        while ((await scansRunning()) + (await metric('rowhouse_readers_held')) > 0) await wait(10)
        stops.push(performance.now() - start)
      }
    }
    const [others] = await Promise.all([measureOthers(ROUNDS * 400), abandon()])
    t.comment(
      `readers are free after ${percentile(stops, 0.5).toFixed(0)} ms, at most ${percentile(stops, 1).toFixed(0)} ms`
    )
    assertBars(t, others)
    if (isLong) t.ok(percentile(stops, 1) < MAX_STOP, `${percentile(stops, 1)} ms`)
  })
}

for (const [name, path] of Object.entries({
  'unsorted exports': '/data/texts/export',
  'sorted exports': '/data/texts/export?order=-text',
  'pages of exports': '/data/texts/export?page=1&size=1'
})) {
  t.test(`${name} that are not read take a limited amount of memory`, async (t) => {
    const sent = Array.from({ length: EXPORTS }, () => begin(path))
    const others = await measureOthers(UNREAD_MS)
    t.comment(`${EXPORTS} ${name} of records of 7 MB: ${((await unreadBytes()) / 2 ** 20).toFixed(0)} MiB are unread`)
    assertBars(t, others)
    for (const one of sent) one.destroy()
    while ((await unreadBytes()) > 0) await wait(20)
  })
}
