import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createRqliteClient } from '../../../../services/engine/rqlite/client.ts'
import { createServiceRows } from '../../../../services/engine/rqlite/service-rows.ts'
import type { FakeRqlite, LoggedRequest } from '../../../rqlite/fake.ts'
import { sql } from '../engine.ts'
import { openOn, startEngine } from './engine.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const ROWS = "SELECT id, batch FROM _rowhouse_services WHERE id IN ('', 'killed', 'living') ORDER BY id"
const INTERVAL_MS = 5

const isCheck = ({ statements }: LoggedRequest) => statements[0]?.sql.includes('NOT IN')

/** Waits for this number of checks. */
const checks = async ({ requests }: FakeRqlite, count: number) => {
  const before = requests.filter(isCheck).length
  while (requests.filter(isCheck).length < before + count) await delay(INTERVAL_MS)
}

t.test('the row of a service that was killed is deleted after a day, and its batches still count', async (t) => {
  let now = 0
  const { fake, db } = await startEngine(t, '', { checkServicesMs: INTERVAL_MS, clock: () => now })
  fake.execute("INSERT INTO _rowhouse_services VALUES ('killed', 7), ('living', 3)")
  await checks(fake, 2)
  now = DAY_MS - 1
  await checks(fake, 2)
  t.match(fake.read(ROWS), [
    { id: 'killed', batch: 7 },
    { id: 'living', batch: 3 }
  ])
  fake.execute("UPDATE _rowhouse_services SET batch = 4 WHERE id = 'living'")
  await checks(fake, 2)
  now = DAY_MS
  await checks(fake, 2)
  t.strictSame(fake.read(ROWS), [
    { id: '', batch: 7 },
    { id: 'living', batch: 4 }
  ])
  await db.write([sql('CREATE TABLE t (id INTEGER PRIMARY KEY)')])
})

t.test('a row whose batch moves during the check stays', async (t) => {
  const { fake } = await startEngine(t)
  const client = createRqliteClient({ urls: [fake.url] })
  t.teardown(() => client.close())
  fake.execute("INSERT INTO _rowhouse_services VALUES ('living', 4)")
  let now = 0
  const before = { execute: client.execute, query: async () => [[{ id: 'living', batch: 3 }]] }
  const check = createServiceRows({ client: before, id: 'own', clock: () => now })
  await check()
  now = DAY_MS
  await check()
  t.strictSame(fake.read(ROWS), [{ id: 'living', batch: 4 }])
})

t.test('a living service whose row was deleted inserts it again with its next batch', async (t) => {
  let now = 0
  const { fake, db } = await startEngine(t, 'CREATE TABLE t (id INTEGER PRIMARY KEY)')
  await db.write([sql('INSERT INTO t DEFAULT VALUES')])
  const other = await openOn(t, fake, { checkServicesMs: INTERVAL_MS, clock: () => now })
  const count = () => fake.read("SELECT count(*) AS count FROM _rowhouse_services WHERE id <> ''")[0]?.count
  await checks(fake, 2)
  now = DAY_MS
  while (count() === 2) await delay(INTERVAL_MS)
  await db.write([sql('INSERT INTO t DEFAULT VALUES')])
  t.equal(count(), 2)
  t.strictSame(fake.read('SELECT count(*) AS count FROM t'), [{ count: 2 }])
  await other.close()
})

t.test('a check that fails is repeated', async (t) => {
  const { fake } = await startEngine(t, '', { checkServicesMs: INTERVAL_MS })
  fake.faults.refuse('/db/query')
  await checks(fake, 2)
})
