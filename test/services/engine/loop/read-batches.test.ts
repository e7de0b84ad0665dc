import { existsSync } from 'node:fs'
import t, { type Test } from 'tap'
import { createReadBatches } from '../../../../services/engine/loop/read-batches.ts'
import { type ConnectionOptions, openConnection } from '../../../../services/engine/shared/connection.ts'
import { databaseFile, openExternal, prepareFile, rejection, sql } from '../engine.ts'

const COUNT = sql('SELECT count(*) AS n FROM notes')

/** The file has a rollback journal, with which a writer locks readers out. */
const start = (t: Test, isQuiet = false) => {
  const file = databaseFile(t)
  if (!existsSync(file)) prepareFile(file, 'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)')
  const options: ConnectionOptions = { file, readonly: true, busyTimeout: 0, cacheSize: 1 }
  const connection = openConnection(options)
  t.teardown(() => connection.close())
  const time = { now: 0 }
  const reads = createReadBatches(
    connection,
    () => isQuiet,
    () => time.now
  )
  return { reads, connection, time, external: openExternal(t, file) }
}

t.test('the reads of one batch see one snapshot, and the next batch sees a later one', async (t) => {
  const { reads, connection, external } = start(t)
  external.pragma('journal_mode = WAL')
  connection.raw.function(
    'write_concurrently',
    () => external.prepare('INSERT INTO notes DEFAULT VALUES').run().changes
  )
  const results = [reads.read(COUNT), reads.read(sql('SELECT write_concurrently() AS n')), reads.read(COUNT)]
  t.strictSame(await Promise.all(results), [[{ n: 0 }], [{ n: 1 }], [{ n: 0 }]])
  t.strictSame(await reads.read(COUNT), [{ n: 1 }])
})

t.test('a batch lasts 10 ms, and reads that have not started by then move to the next', async (t) => {
  const { reads, connection, time, external } = start(t)
  external.pragma('journal_mode = WAL')
  connection.raw.function('milliseconds', (spent) => {
    time.now += spent as number
    return spent
  })
  const results = [9, 1, 0].map((spent) => reads.read(sql('SELECT milliseconds(?) AS spent', spent)))
  const count = reads.read(COUNT)
  t.strictSame(await Promise.all(results.slice(0, 2)), [[{ spent: 9 }], [{ spent: 1 }]])
  external.exec("INSERT INTO notes (text) VALUES ('between')")
  t.strictSame(await results[2], [{ spent: 0 }])
  t.strictSame(await count, [{ n: 1 }])
})

t.test('with few connections a read runs at once', async (t) => {
  const { reads, external } = start(t, true)
  const before = reads.read(COUNT)
  external.exec("INSERT INTO notes (text) VALUES ('a')")
  t.strictSame(await before, [{ n: 0 }])
})

t.test('readText returns the text unchanged, and null without a row', async (t) => {
  const { reads } = start(t)
  t.equal(await reads.readText(sql('SELECT ?', 'a"b')), 'a"b')
  t.equal(await reads.readText(sql('SELECT text FROM notes')), null)
})

t.test('a read that fails does not affect the others of its batch', async (t) => {
  const { reads } = start(t)
  const [good, bad, alsoGood] = [reads.read(COUNT), rejection(reads.read(sql('SELECT * FROM gone'))), reads.read(COUNT)]
  t.strictSame(await good, [{ n: 0 }])
  t.match(await bad, { code: 'STRUCTURE_CHANGED' })
  t.strictSame(await alsoGood, [{ n: 0 }])
})

t.test('reads succeed after the transaction of a batch has ended early', async (t) => {
  const { reads } = start(t)
  const ending = rejection(reads.read(sql('ROLLBACK')))
  t.strictSame(await reads.read(COUNT), [{ n: 0 }])
  await ending
  t.strictSame(await reads.read(COUNT), [{ n: 0 }])
})

t.test('a read is retried after a lock without blocking the event loop', async (t) => {
  const { reads, external } = start(t)
  external.exec('BEGIN EXCLUSIVE')
  const waiting = reads.read(COUNT)
  external.exec("INSERT INTO notes (text) VALUES ('a')")
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  external.exec('COMMIT')
  t.strictSame(await waiting, [{ n: 1 }])
})

t.test('the time in the queue does not count towards the limit for locks', async (t) => {
  const { reads, external, time } = start(t)
  external.exec('BEGIN EXCLUSIVE')
  const waiting = reads.read(COUNT)
  time.now = 2000
  await new Promise(setImmediate)
  external.exec('ROLLBACK')
  t.strictSame(await waiting, [{ n: 0 }])
})

t.test('a lock that lasts 2 s is reported as DATABASE_BUSY', async (t) => {
  const { reads, external, time } = start(t)
  external.exec('BEGIN EXCLUSIVE')
  const waiting = rejection(reads.read(COUNT))
  await new Promise(setImmediate)
  time.now += 2000
  t.match(await waiting, { code: 'DATABASE_BUSY', retryAfter: 1 })
  external.exec('ROLLBACK')
  t.strictSame(await reads.read(COUNT), [{ n: 0 }])
})

t.test('a closed engine rejects reads as OVERLOADED, not as a defect', async (t) => {
  const { reads, connection } = start(t)
  const queued = [rejection(reads.read(COUNT)), rejection(reads.readText(COUNT))]
  connection.close()
  for (const refusal of await Promise.all(queued)) t.match(refusal, { code: 'OVERLOADED', retryAfter: 5 })
})

t.test('a closed engine with few connections rejects reads in the same way', async (t) => {
  const { reads, connection } = start(t, true)
  connection.close()
  t.match(await rejection(reads.read(COUNT)), { code: 'OVERLOADED' })
})
