import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { PASSWORD, temporaryDirectory } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { createClient, type HttpRequest } from './http-client.ts'
import { residentMib } from './memory.ts'
import { percentile, repeatUntil, summary } from './waits.ts'

// Work inside of a statement: triggers, and records of many bytes. Another key creates records at the same time.

/** Bars for a machine with nothing else to do: a busy one is slower, so only a long run has them. */
const isLong = scaled(10) >= 10
const ATTACK_MS = isLong ? 15_000 : 200
const ROWS = isLong ? 5000 : 200
const RECORD_BYTES = isLong ? 15_000_000 : 500_000
const PARALLEL = isLong ? 60 : 8
const MAX_P99_MS = 100
const MAX_MS = 500
const MAX_MIB = 512

const file = join(temporaryDirectory(t), 'slow.sqlite')
const db = new BetterSqlite3(file)
const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS}) SELECT i, 0 FROM n`
const sumOfAll = (table: string, event: string) =>
  `CREATE TRIGGER ${table}_${event} AFTER ${event} ON ${table} BEGIN INSERT INTO sums SELECT sum(v) FROM counted; END;`
db.exec(`
  CREATE TABLE own (id INTEGER PRIMARY KEY, v INTEGER);
  CREATE TABLE sums (v INTEGER);
  CREATE TABLE counted (v INTEGER);
  INSERT INTO counted WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) SELECT i FROM n;
  CREATE TABLE imported (id INTEGER PRIMARY KEY, v INTEGER);
  CREATE TABLE updated (id INTEGER PRIMARY KEY, v INTEGER);
  CREATE TABLE deleted (id INTEGER PRIMARY KEY, v INTEGER);
  INSERT INTO updated ${numbers};
  INSERT INTO deleted ${numbers};
  ${sumOfAll('imported', 'INSERT')} ${sumOfAll('updated', 'UPDATE')} ${sumOfAll('deleted', 'DELETE')}
  CREATE TABLE large (id INTEGER PRIMARY KEY, v INTEGER, text TEXT);
  INSERT INTO large VALUES (1, 0, printf('%.*c', ${RECORD_BYTES}, 'x'));`)
db.close()

const service = await startService(t, { DATABASE: file })
t.setTimeout(40 * ATTACK_MS + 120_000)
const attacker = createClient(t, service, PARALLEL)
const other = createClient(t, service, 2)
const cookie = await other.logIn('admin', PASSWORD)
const asAdmin = { headers: cookie, method: 'POST' }
await other.dataOf({ ...asAdmin, path: '/admin/tables/import', body: { names: ['*'] } })
const issue = async (tables: readonly string[]) => {
  const body = { name: 'a', permissions: { tables, actions: ['read', 'create', 'update', 'delete'] } }
  const { token } = await other.dataOf({ ...asAdmin, path: '/admin/tokens', body })
  return { authorization: `Bearer ${token}` }
}
const hostile = await issue(['imported', 'updated', 'deleted', 'large'])
const wellBehaved = await issue(['own'])

const records = Array.from({ length: ROWS - 100 }, () => ({ v: 1 }))
const importInto = (query: string): HttpRequest => ({
  method: 'POST',
  path: `/data/imported/import${query}`,
  headers: hostile,
  body: records
})
const filtered = (operation: object): HttpRequest => ({
  method: 'POST',
  path: '/data/_batch',
  headers: hostile,
  body: { operations: [{ filter: { where: { v: { gte: 0 } } }, maxAffected: 10_000, ...operation }] }
})

/** The pause after each response: as long as the Retry-After of a 503 says. */
const RETRY_MS = 1000

/** Each of them held the writer thread for seconds. */
const ATTACKS: Readonly<Record<string, readonly HttpRequest[]>> = {
  'an import with a trigger': [importInto('')],
  'an atomic import with a trigger': [importInto('?atomic=true')],
  'a filtered update with a trigger': [filtered({ op: 'update', table: 'updated', values: { v: 1 } })],
  'a filtered delete with a trigger': [filtered({ op: 'delete', table: 'deleted' })],
  'updates of a large record': Array.from({ length: PARALLEL }, () => ({
    method: 'PUT',
    path: '/data/large/records/1?return=record',
    headers: hostile,
    body: { v: 5 }
  }))
}

const create = () => other.send({ method: 'POST', path: '/data/own/records', headers: wellBehaved, body: { v: 1 } })
const idle = await repeatUntil(performance.now() + ATTACK_MS, create, 5)
t.comment(`creates on an idle service: ${summary(idle.times)}`)

for (const [name, requests] of Object.entries(ATTACKS)) {
  t.test(`creates of another key beside: ${name}`, async (t) => {
    const end = performance.now() + ATTACK_MS
    let mib = 0
    const watch = setInterval(() => {
      mib = Math.max(mib, residentMib(service))
    }, 50)
    const attacks = requests.map((request) =>
      repeatUntil(end, () => attacker.sendOnly(request), requests.length > 1 ? RETRY_MS : 5)
    )
    const own = await repeatUntil(end, create, 5)
    const sent = await Promise.all(attacks)
    clearInterval(watch)
    const statuses = [...new Set(sent.flatMap((all) => [...all.statuses]))]
    t.comment(
      `${summary(own.times)}; ${mib.toFixed(0)} MiB; ${sent.flatMap(({ times }) => times).length} attacks: ${statuses}`
    )
    t.strictSame([...own.statuses], [200])
    t.strictSame(
      statuses.filter((status) => ![200, 413, 503].includes(status)),
      []
    )
    t.ok(mib < MAX_MIB, `${mib} MiB`)
    if (!isLong) return
    t.ok(percentile(own.times, 0.99) < MAX_P99_MS, '99 % are fast')
    t.ok(Math.max(...own.times) < Math.max(...idle.times) + MAX_MS, 'none waits long')
  })
}
