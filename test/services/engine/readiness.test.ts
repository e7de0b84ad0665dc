import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { openDatabase } from '../../../services/engine/loop/open.ts'
import { createReadiness } from '../../../services/engine/readiness.ts'
import { temporaryDirectory } from '../../helpers.ts'

let now = Date.parse('2026-03-01T12:00:00Z')
const file = join(temporaryDirectory(t), 'rowhouse.db')
const db = await openDatabase({ file, cacheSize: 4, walSize: 16, isQuiet: () => true, onDeath: t.threw })
t.teardown(() => db.close())
const { check } = createReadiness({ db, clock: () => now })

const writtenAt = async () => {
  const [row] = await db.read({ sql: "SELECT value FROM _rowhouse_meta WHERE key = 'ready_at'", params: [] })
  return row?.value
}

t.test('being ready means having written durably just now', async (t) => {
  await check()
  t.equal(await writtenAt(), now)
})

t.test('within a second, one look stands for all who ask', async (t) => {
  const then = now
  now += 999
  await Promise.all(Array.from({ length: 100 }, check))
  t.equal(await writtenAt(), then)
  now += 1
  await Promise.all(Array.from({ length: 100 }, check))
  t.equal(await writtenAt(), then + 1000)
})

t.test('a clock set back does not keep us from looking', async (t) => {
  now -= 3_600_000
  await check()
  t.equal(await writtenAt(), now)
})

t.test('a lock of another program is told as it is, and its end is noticed', async (t) => {
  const other = new BetterSqlite3(file)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  now += 1000
  await t.rejects(check(), { code: 'DATABASE_BUSY', kind: 'unavailable', retryAfter: 1 })
  other.exec('ROLLBACK')
  await t.rejects(check(), { code: 'DATABASE_BUSY' }, 'for a second, the answer stands')
  now += 1000
  await t.resolves(check())
})

t.test('whatever else keeps us from writing is storage that is unavailable', async (t) => {
  const other = new BetterSqlite3(file)
  t.teardown(() => other.close())
  other.exec("CREATE TRIGGER no BEFORE INSERT ON _rowhouse_meta BEGIN SELECT RAISE(ABORT, 'no'); END")
  now += 1000
  await t.rejects(check(), { code: 'STORAGE_UNAVAILABLE', kind: 'unavailable', retryAfter: 5 })
  other.exec('DROP TRIGGER no')
})

t.test('a fault of ours stays one', async (t) => {
  const other = new BetterSqlite3(file)
  t.teardown(() => other.close())
  other.exec('CREATE TRIGGER broken BEFORE INSERT ON _rowhouse_meta BEGIN SELECT abs(); END')
  now += 1000
  const error = await check().catch((reason) => reason)
  t.match(error, Error)
  t.equal(error.kind, undefined)
  other.exec('DROP TRIGGER broken')
})
