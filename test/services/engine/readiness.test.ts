import { dirname, join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { openDatabase } from '../../../services/engine/loop/open.ts'
import { createReadiness } from '../../../services/engine/readiness.ts'
import { temporaryDirectory } from '../../helpers.ts'

let now = Date.parse('2026-03-01T12:00:00Z')
const file = join(temporaryDirectory(t), 'rowhouse.db')
const db = await openDatabase({
  file,
  dataDirectory: dirname(file),
  cacheSize: 4,
  walSize: 16,
  isQuiet: () => true,
  beforeUpgrade: async () => {},
  onDeath: t.threw
})
t.teardown(() => db.close())
const { check } = createReadiness({ db, clock: () => now })

const writtenAt = async () => {
  const [row] = await db.read({ sql: "SELECT value FROM _rowhouse_meta WHERE key = 'ready_at'", params: [] })
  return row?.value
}

t.test('a check writes durably', async (t) => {
  await check()
  t.equal(await writtenAt(), now)
})

t.test('calls within a second share one check', async (t) => {
  const before = now
  now += 999
  await Promise.all(Array.from({ length: 100 }, check))
  t.equal(await writtenAt(), before)
  now += 1
  await Promise.all(Array.from({ length: 100 }, check))
  t.equal(await writtenAt(), before + 1000)
})

t.test('a clock that was set back does not prevent a check', async (t) => {
  now -= 3_600_000
  await check()
  t.equal(await writtenAt(), now)
})

t.test('a lock of another program is reported until it ends', async (t) => {
  const external = new BetterSqlite3(file)
  t.teardown(() => external.close())
  external.exec('BEGIN IMMEDIATE')
  now += 1000
  await t.rejects(check(), { code: 'DATABASE_BUSY', kind: 'unavailable', retryAfter: 1 })
  external.exec('ROLLBACK')
  await t.rejects(check(), { code: 'DATABASE_BUSY' }, 'the result is shared for a second')
  now += 1000
  await t.resolves(check())
})

t.test('any other failure of the write is reported as unavailable storage', async (t) => {
  const external = new BetterSqlite3(file)
  t.teardown(() => external.close())
  external.exec("CREATE TRIGGER no BEFORE INSERT ON _rowhouse_meta BEGIN SELECT RAISE(ABORT, 'no'); END")
  now += 1000
  await t.rejects(check(), { code: 'STORAGE_UNAVAILABLE', kind: 'unavailable', retryAfter: 5 })
  external.exec('DROP TRIGGER no')
})

t.test('a defect of this service stays an unknown error', async (t) => {
  const external = new BetterSqlite3(file)
  t.teardown(() => external.close())
  external.exec('CREATE TRIGGER broken BEFORE INSERT ON _rowhouse_meta BEGIN SELECT abs(); END')
  now += 1000
  const error = await check().catch((reason) => reason)
  t.match(error, Error)
  t.equal(error.kind, undefined)
  external.exec('DROP TRIGGER broken')
})
