import { join } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import t from 'tap'
import type { WriteBatch } from '../../../services/engine/counts.ts'
import type { Database } from '../../../services/engine/database.ts'
import { fileSizes } from '../../../services/engine/loop/file-sizes.ts'
import { serviceCaller } from '../../../services/model/caller.ts'
import { databaseFile, prepareFile, rejection, sql, startEngine } from './engine.ts'

const SCHEMA = 'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)'
const COUNT = sql('SELECT count(*) AS n FROM notes')
const INSERT = sql('INSERT INTO notes (text) VALUES (?)', 'x'.repeat(1000))

const until = async (isMet: () => boolean) => {
  while (!isMet()) await nextTick()
}

/** Starts the engine without any pending work. */
const start = async (t: Parameters<typeof startEngine>[0], options: Parameters<typeof startEngine>[2] = {}) => {
  const file = databaseFile(t)
  prepareFile(file, SCHEMA)
  return startEngine(t, file, options)
}

const readsOf = (db: Database) => db.counts().reads

t.test('the reads of one tick are counted as one batch', async (t) => {
  const db = await start(t)
  const before = readsOf(db)
  const reads = [db.read(COUNT), db.read(COUNT), db.readText(COUNT)]
  t.match(readsOf(db), { reads: before.reads + 3, pending: 3 })
  await Promise.all(reads)
  t.strictSame(readsOf(db), { reads: before.reads + 3, batches: before.batches + 1, pending: 0 })
  t.ok(db.counts().cachedSql >= COUNT.sql.length)
})

t.test('each write batch is reported with its size and times', async (t) => {
  const db = await start(t)
  const batches: WriteBatch[] = []
  db.onWriteBatch((batch) => batches.push(batch))
  const writes = [db.write([INSERT]), db.write([INSERT]), db.write([sql('INSERT INTO gone VALUES (1)')])]
  t.match(db.counts().writes, { pending: 3, pendingSize: 2000, refused: 0 })
  t.match(
    (await Promise.allSettled(writes)).map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected']
  )
  t.equal(batches.length, 1)
  const [{ units, waitMs, commitMs } = { units: 0, waitMs: -1, commitMs: 0 }] = batches
  t.equal(units, 3)
  t.ok(waitMs >= 0 && commitMs > 0, `${waitMs} ms, then ${commitMs} ms`)
  t.match(db.counts().writes, { pending: 0, pendingSize: 0, refused: 0 })
})

t.test('refused writes are counted', async (t) => {
  const db = await start(t)
  const accepted = Array.from({ length: 4096 }, () => db.write([]))
  t.match(await rejection(db.write([])), { code: 'OVERLOADED' })
  t.equal(db.counts().writes.refused, 1)
  await Promise.all(accepted)
})

t.test('scans are counted while they run and wait, and if they are refused', async (t) => {
  const db = await start(t)
  t.strictSame(db.counts().scans, { running: 0, waiting: 0, refused: 0 })
  const scans = Promise.allSettled(Array.from({ length: 300 }, () => db.scan(COUNT, serviceCaller)))
  const { running, waiting, refused } = db.counts().scans
  t.ok(running > 0)
  t.equal(waiting, 256)
  t.equal(running + waiting + refused, 300)
  await scans
  await until(() => db.counts().scans.running === 0)
  t.strictSame(db.counts().scans, { running: 0, waiting: 0, refused })
})

t.test('held readers and processes for views are counted', async (t) => {
  const db = await start(t)
  const [reader, view] = [await db.holdReader(serviceCaller), await db.viewScans.holdReader(serviceCaller)]
  t.match(db.counts(), { heldReaders: 1, viewProcesses: 1, viewScans: { running: 1 } })
  await Promise.all([reader.release(), view.release()])
  await until(() => db.counts().viewProcesses === 0 && db.counts().viewScans.running === 0)
  t.equal(db.counts().heldReaders, 0)
})

t.test('the restarts of the WAL are counted', async (t) => {
  const db = await start(t, { walSize: 1 })
  t.match(await db.fileSizes(), { walRestarts: 0 })
  for (let round = 0; round < 12; round += 1)
    await db.write([sql('INSERT INTO notes (text) SELECT hex(randomblob(200000))')])
  const { walRestarts } = await db.fileSizes()
  t.ok(walRestarts >= 2, `${walRestarts} restarts after 5 MB, with a WAL_SIZE of 1`)
})

t.test('a file without a WAL has no restarts', async (t) => {
  t.strictSame(await fileSizes(join(t.testdir(), 'none')), { database: 0, wal: 0, walRestarts: 0 })
})
