import t from 'tap'
import type { Database } from '../../../../services/engine/database.ts'
import { rejection, sql } from '../engine.ts'
import { startEngine } from './engine.ts'

const SCHEMA = 'CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER UNIQUE)'

const insert = (n: number) => sql('INSERT INTO t (n) VALUES (?) RETURNING id, n', BigInt(n))
const plain = (n: number) => ({ ...sql('INSERT INTO t (n) VALUES (?)', BigInt(n)), expect: 1 })
const numbers = async (db: Database) => (await db.read(sql('SELECT n FROM t ORDER BY id'))).map(({ n }) => n)

t.test('a batch whose request was lost is sent again, and stored once', async (t) => {
  const { db, fake } = await startEngine(t, SCHEMA)
  fake.faults.loseRequest()
  fake.faults.noLeader()
  const [result] = await db.write([insert(1)])
  t.strictSame(
    result?.rows.map((row) => ({ ...row })),
    [{ id: 1, n: 1 }]
  )
  t.strictSame(await numbers(db), [1])
})

t.test('a batch whose response was lost is stored once', async (t) => {
  const { db, fake } = await startEngine(t, SCHEMA)
  fake.faults.loseResponse()
  t.strictSame(await db.write([plain(1)]), [{ changes: 1, rows: [] }], 'the numbers are known')
  fake.faults.loseResponse()
  t.match(await rejection(db.write([insert(2)])), { code: 'OUTCOME_UNKNOWN' }, 'the rows are not')
  fake.faults.loseResponse()
  t.match(await rejection(db.write([sql('UPDATE t SET n = n WHERE n > 0')])), { code: 'OUTCOME_UNKNOWN' })
  await db.write([insert(3)])
  t.strictSame(await numbers(db), [1, 2, 3])
})

t.test('a refusal after a lost response is reported when the first request cannot be stored any more', async (t) => {
  const { db, fake } = await startEngine(t, SCHEMA)
  await db.write([insert(1)])
  fake.faults.loseRequest()
  const before = fake.requests.length
  t.match(await rejection(db.write([insert(1)])), { code: 'UNIQUE_VIOLATION' })
  const sent = fake.requests.slice(before).filter(({ path }) => path === '/db/execute')
  t.equal(sent.length, 3, 'the request, the second one, and the fence')
  await db.write([insert(2)])
  t.strictSame(await numbers(db), [1, 2])
})

t.test('a request that is stored after a later refusal counts as stored', async (t) => {
  const { db, fake } = await startEngine(t, SCHEMA)
  await db.write([insert(1)])
  // The first request is stored late: after the second one was refused, and before the fence.
  const first = fake.faults.holdRequest()
  const writing = db.write([sql('UPDATE t SET n = n + 1 WHERE n = 1'), plain(1)])
  await first.arrived
  first.release()
  await writing
  t.strictSame(await numbers(db), [2, 1])
})

t.test('without a leader for long, a change fails and says that its outcome is unknown', async (t) => {
  const { db, fake } = await startEngine(t, SCHEMA, { maxRetryMs: 100 })
  for (let count = 0; count < 30; count += 1) fake.faults.noLeader()
  t.match(await rejection(db.write([insert(1)])), { code: 'OUTCOME_UNKNOWN' })
  for (let count = 0; count < 30; count += 1) fake.faults.noLeader('/db/query')
  t.match(await rejection(db.read(sql('SELECT 1'))), { code: 'STORAGE_UNAVAILABLE', retryAfter: 1 })
})

t.test('a batch that was stored after its outcome was reported as unknown does not confuse the next one', async (t) => {
  const { db, fake } = await startEngine(t, SCHEMA, { maxRetryMs: 0 })
  let commits = 0
  db.onExternalCommit(() => {
    commits += 1
  })
  fake.faults.loseResponse()
  t.match(await rejection(db.write([insert(1)])), { code: 'OUTCOME_UNKNOWN' })
  t.equal(commits, 1, 'records may have changed')
  await db.write([insert(2)])
  t.equal(commits, 2, 'from now on, none changes without a result')
  await db.write([insert(3)])
  t.equal(commits, 2)
  t.strictSame(await numbers(db), [1, 2, 3])
})

t.test('a service whose row was deleted adds it again', async (t) => {
  const { db, fake } = await startEngine(t, SCHEMA)
  await db.write([insert(1)])
  fake.execute('DELETE FROM _rowhouse_services')
  await db.write([insert(2)])
  t.strictSame(await numbers(db), [1, 2])
})

t.test('a cluster that refuses a change is named as the reason, and nothing is called unknown', async (t) => {
  const { db, fake } = await startEngine(t, SCHEMA)
  fake.faults.refuse()
  t.match(await rejection(db.write([insert(1)])), { code: 'STORAGE_UNAVAILABLE' })
  await db.write([insert(2)])
  t.strictSame(await numbers(db), [2])
})

t.test('a read whose response was lost is sent again', async (t) => {
  const { db, fake } = await startEngine(t, SCHEMA)
  await db.write([insert(1)])
  fake.faults.loseResponse('/db/query')
  t.strictSame(await numbers(db), [1])
})

t.test('a node that could not store a batch stores the next one', async (t) => {
  const { db, fake } = await startEngine(t, SCHEMA)
  await db.write([insert(1)])
  await db.write([insert(2)])
  fake.execute('UPDATE _rowhouse_services SET batch = batch - 1')
  await db.write([insert(3)])
  t.strictSame(await numbers(db), [1, 2, 3])
})

t.test('a unit that is stored alone is not called refused if memory cannot be read after it', async (t) => {
  const { db, fake } = await startEngine(t, SCHEMA, { maxRetryMs: 50 })
  for (let count = 0; count < 30; count += 1) fake.faults.noLeader('/db/query')
  t.match(await rejection(db.write([sql('DROP TABLE t')], { foreignKeys: false })), { code: 'OUTCOME_UNKNOWN' })
  t.strictSame(fake.read("SELECT name FROM sqlite_schema WHERE name = 't'"), [])
})
