import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { PASSWORD, temporaryDirectory } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { createClient } from './http-client.ts'
import { residentMib } from './memory.ts'

// A client with a token that can only read sends queries whose statements all differ, and are as long as they can be.

const MAX_MIB = 512
const CONNECTIONS = 16
const QUERIES = scaled(2000)
const TARGETS = 10
const COLUMNS = 90
const TARGET_COLUMNS = 12

const columns = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}_with_a_rather_long_name_${index}`)
const targets = Array.from({ length: TARGETS }, (_, index) => `target_table_${index}`)
const fields = columns('field', COLUMNS)

const file = join(temporaryDirectory(t), 'wide.sqlite')
const setUp = new BetterSqlite3(file)
for (const target of targets)
  setUp.exec(`CREATE TABLE ${target} (id INTEGER PRIMARY KEY, ${columns('target', TARGET_COLUMNS).join(', ')});
    INSERT INTO ${target} (id) VALUES (1)`)
setUp.exec(`CREATE TABLE origin (id INTEGER PRIMARY KEY, ${fields.join(', ')},
    ${targets.map((target) => `ref_${target} INTEGER DEFAULT 1 REFERENCES ${target}`).join(', ')});
  INSERT INTO origin (id) VALUES (1), (2), (3)`)
setUp.close()

const service = await startService(t, { DATABASE: file })
const client = createClient(t, service, CONNECTIONS)
const session = await client.logIn('admin', PASSWORD)
const administer = (path: string, body: object) => client.dataOf({ method: 'POST', path, headers: session, body })
const permissions = { tables: ['*'], actions: ['read'] }
const { token } = await administer('/admin/tokens', { name: 'reader', permissions })
await administer('/admin/tables/import', { names: ['*'] })
const headers = { authorization: `Bearer ${token}` }

/** Three fields whose names no other number has. */
const fieldsOf = (number: number) =>
  [number % COLUMNS, Math.floor(number / COLUMNS) % COLUMNS, Math.floor(number / COLUMNS ** 2)].map((at) => fields[at])

const inParallel = async (count: number, send: (number: number) => Promise<unknown>) => {
  let next = 0
  const run = async () => {
    while (next < count) {
      next += 1
      await send(next)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, run))
}

/** Sends different queries. Returns the numbers of responses by their status, and the maximum of the memory. */
const attack = async (bodyOf: (number: number) => object) => {
  const statuses = new Map<number, number>()
  let peak = 0
  await inParallel(QUERIES, async (number) => {
    const { status } = await client.send({
      method: 'POST',
      path: '/data/origin/query',
      headers,
      body: bodyOf(number)
    })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (number % 20 === 0) peak = Math.max(peak, residentMib(service))
  })
  return { statuses: Object.fromEntries(statuses), peak }
}

const expandTo = (count: number) => targets.slice(0, count).map((target) => `ref_${target}`)

const ATTACKS = {
  'ten wide tables': (number: number) => ({ fields: fieldsOf(number), expand: expandTo(TARGETS) }),
  'the widest possible expansion': (number: number) => ({ fields: fieldsOf(number), expand: expandTo(1) }),
  orders: (number: number) => ({ order: fieldsOf(number).join(','), fields: fieldsOf(number), total: true })
}

for (const [name, bodyOf] of Object.entries(ATTACKS)) {
  t.test(`different queries with ${name} take a limited amount of memory`, async (t) => {
    const start = performance.now()
    const { statuses, peak } = await attack(bodyOf)
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    t.comment(`${JSON.stringify(statuses)} in ${seconds} s; at most ${peak.toFixed(0)} MiB`)
    t.ok(peak < MAX_MIB, `${peak} MiB`)
    t.strictSame(new Set([200, 503, ...Object.keys(statuses).map(Number)]), new Set([200, 503]))
  })
}
