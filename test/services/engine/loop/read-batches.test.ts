import { existsSync } from 'node:fs'
import t, { type Test } from 'tap'
import { createReadBatches } from '../../../../services/engine/loop/read-batches.ts'
import { type ConnectionOptions, openConnection } from '../../../../services/engine/shared/connection.ts'
import { databaseFile, openExternal, prepareFile, rejection, sql } from '../engine.ts'

const COUNT = sql('SELECT count(*) AS n FROM notes')

/** With a rollback journal a writer shuts readers out, which is how one meets a lock. */
const start = (t: Test, isQuiet = false) => {
  const file = databaseFile(t)
  if (!existsSync(file)) prepareFile(file, 'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)')
  const options: ConnectionOptions = { file, readonly: true, busyTimeout: 0, cacheSize: 1 }
  const connection = openConnection(options)
  t.teardown(() => connection.close())
  const time = { now: 0 }
  const turn = createReadBatches(
    connection,
    () => isQuiet,
    () => time.now
  )
  return { turn, connection, time, foreign: openExternal(t, file) }
}

t.test('reads of one turn see one snapshot, those of the next a later one', async (t) => {
  const { turn, connection, foreign } = start(t)
  foreign.pragma('journal_mode = WAL')
  connection.raw.function('write_meanwhile', () => foreign.prepare('INSERT INTO notes DEFAULT VALUES').run().changes)
  const reads = [turn.read(COUNT), turn.read(sql('SELECT write_meanwhile() AS n')), turn.read(COUNT)]
  t.strictSame(await Promise.all(reads), [[{ n: 0 }], [{ n: 1 }], [{ n: 0 }]])
  t.strictSame(await turn.read(COUNT), [{ n: 1 }])
})

t.test('a turn lasts 10 ms; what it has not begun by then is answered in the next', async (t) => {
  const { turn, connection, time, foreign } = start(t)
  foreign.pragma('journal_mode = WAL')
  connection.raw.function('milliseconds', (spent) => {
    time.now += spent as number
    return spent
  })
  const reads = [9, 1, 0].map((spent) => turn.read(sql('SELECT milliseconds(?) AS spent', spent)))
  const count = turn.read(COUNT)
  t.strictSame(await Promise.all(reads.slice(0, 2)), [[{ spent: 9 }], [{ spent: 1 }]])
  foreign.exec("INSERT INTO notes (text) VALUES ('between')")
  t.strictSame(await reads[2], [{ spent: 0 }])
  t.strictSame(await count, [{ n: 1 }])
})

t.test('a quiet service answers at once', async (t) => {
  const { turn, foreign } = start(t, true)
  const before = turn.read(COUNT)
  foreign.exec("INSERT INTO notes (text) VALUES ('a')")
  t.strictSame(await before, [{ n: 0 }])
})

t.test('text is given as it is, and null where there is no row', async (t) => {
  const { turn } = start(t)
  t.equal(await turn.readText(sql('SELECT ?', 'a"b')), 'a"b')
  t.equal(await turn.readText(sql('SELECT text FROM notes')), null)
})

t.test('a read that fails leaves the others of its turn alone', async (t) => {
  const { turn } = start(t)
  const [good, bad, alsoGood] = [turn.read(COUNT), rejection(turn.read(sql('SELECT * FROM gone'))), turn.read(COUNT)]
  t.strictSame(await good, [{ n: 0 }])
  t.match(await bad, { code: 'STRUCTURE_CHANGED' })
  t.strictSame(await alsoGood, [{ n: 0 }])
})

t.test('reads go on where the transaction of a turn has ended by itself', async (t) => {
  const { turn } = start(t)
  const ending = rejection(turn.read(sql('ROLLBACK')))
  t.strictSame(await turn.read(COUNT), [{ n: 0 }])
  await ending
  t.strictSame(await turn.read(COUNT), [{ n: 0 }])
})

t.test('a read that meets a lock waits for it without holding up the event loop', async (t) => {
  const { turn, foreign } = start(t)
  foreign.exec('BEGIN EXCLUSIVE')
  const waiting = turn.read(COUNT)
  foreign.exec("INSERT INTO notes (text) VALUES ('a')")
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  foreign.exec('COMMIT')
  t.strictSame(await waiting, [{ n: 1 }])
})

t.test('so it does when it has waited for its turn before', async (t) => {
  const { turn, foreign, time } = start(t)
  foreign.exec('BEGIN EXCLUSIVE')
  const waiting = turn.read(COUNT)
  time.now = 2000
  await new Promise(setImmediate)
  foreign.exec('ROLLBACK')
  t.strictSame(await waiting, [{ n: 0 }])
})

t.test('a lock that lasts 2 s is reported', async (t) => {
  const { turn, foreign, time } = start(t)
  foreign.exec('BEGIN EXCLUSIVE')
  const waiting = rejection(turn.read(COUNT))
  await new Promise(setImmediate)
  time.now += 2000
  t.match(await waiting, { code: 'DATABASE_BUSY', retryAfter: 1 })
  foreign.exec('ROLLBACK')
  t.strictSame(await turn.read(COUNT), [{ n: 0 }])
})

t.test('what is asked of a closed engine is refused as a stop, not as a fault', async (t) => {
  const { turn, connection } = start(t)
  const queued = [rejection(turn.read(COUNT)), rejection(turn.readText(COUNT))]
  connection.close()
  for (const refusal of await Promise.all(queued)) t.match(refusal, { code: 'OVERLOADED', retryAfter: 5 })
})

t.test('a quiet engine that is closed refuses in the same way', async (t) => {
  const { turn, connection } = start(t, true)
  connection.close()
  t.match(await rejection(turn.read(COUNT)), { code: 'OVERLOADED' })
})
