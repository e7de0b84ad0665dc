import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { createScan, type ReaderOptions } from '../../../../services/engine/reader/scan.ts'
import { createSqliteDialect } from '../../../../services/engine/shared/sqlite-dialect.ts'
import { databaseFile, prepareFile, sql } from '../engine.ts'

const { scanGuard } = createSqliteDialect()

const start = (t: Test) => {
  const file = databaseFile(t)
  prepareFile(
    file,
    `CREATE TABLE odd (id INTEGER PRIMARY KEY);
     WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000) INSERT INTO odd SELECT i * 2 + 1 FROM n;
     CREATE TABLE wide_steps (id INTEGER PRIMARY KEY);
     INSERT INTO wide_steps SELECT id / 2 * 1021 + 1 FROM odd;
     CREATE TABLE negative (id INTEGER PRIMARY KEY);
     INSERT INTO negative SELECT -id FROM wide_steps;
     CREATE TABLE keyed (id TEXT PRIMARY KEY) WITHOUT ROWID;
     INSERT INTO keyed VALUES ('a'), ('b')`
  )
  const time = { now: 0 }
  const options: ReaderOptions = { file, cacheSize: 1, stop: new Int32Array(new SharedArrayBuffer(4)) }
  return { scan: createScan(options, () => time.now), time, options }
}

const countGuarded = (table: string) => sql(`SELECT count(*) AS n FROM ${table} WHERE ${scanGuard('id')}`)
const COUNT = countGuarded('odd')
const COUNT_KEYED = sql(`SELECT count(*) AS n FROM keyed WHERE ${scanGuard(null)}`)

t.test('a scan returns its rows', async (t) => {
  const { scan } = start(t)
  t.strictSame(scan(COUNT), { rows: [{ n: 9000 }] })
  t.strictSame(scan(COUNT_KEYED), { rows: [{ n: 2 }] })
})

t.test('a view is described by declarations of another database', async (t) => {
  const { scan } = start(t)
  const declared = [
    {
      hasPages: true,
      isWithoutRowid: false,
      type: 'table',
      name: 'cats',
      tableName: 'cats',
      sql: 'CREATE TABLE cats (id INTEGER PRIMARY KEY)'
    },
    {
      hasPages: false,
      isWithoutRowid: false,
      type: 'view',
      name: 'ids',
      tableName: 'ids',
      sql: 'CREATE VIEW ids AS SELECT id FROM cats'
    }
  ]
  t.match(scan({ ...sql(''), view: 'ids', declared }), { rows: [{ stored_columns: /"id"/ }] })
  t.match(scan({ ...sql(''), view: 'ids' }), { error: { message: /no such table/ } }, 'the file has no such view')
})

t.test('a large text is put into the buffer as UTF-8 if it fits', async (t) => {
  const { scan } = start(t)
  const textBuffer = new SharedArrayBuffer(600_000)
  const scanText = (text: string) => scan({ ...sql('SELECT ? AS text', text), textBuffer })
  const large = '\u00e9'.repeat(100_000) + '\u20ac'.repeat(100_000)
  t.strictSame(scanText(large), { rows: [{ text: 500_000 }] })
  t.equal(Buffer.from(textBuffer, 0, 500_000).toString(), large)
  for (const text of ['small', '\u20ac'.repeat(200_001)]) t.strictSame(scanText(text), { rows: [{ text }] })
  t.strictSame(scan({ ...sql('SELECT NULL AS text'), textBuffer }), { rows: [{ text: null }] })
})

t.test('a request with a view describes the view instead of running a statement', async (t) => {
  const { scan, options } = start(t)
  prepareFile(options.file, 'CREATE VIEW odd_numbers AS SELECT id FROM odd')
  const request = { sql: '', params: [] }
  t.match(scan({ ...request, view: 'odd_numbers' }), { rows: [{ stored_columns: /"id"/, sources: /"odd"/ }] })
  t.match(scan({ ...request, view: 'gone' }), { error: { message: 'no such table: gone' } })
})

t.test('a scan that fails returns a plain error', async (t) => {
  const { scan } = start(t)
  t.match(scan(sql('SELECT * FROM gone')), { error: { code: 'SQLITE_ERROR', message: 'no such table: gone' } })
})

t.test('a scan cannot write', async (t) => {
  const { scan } = start(t)
  t.match(scan(sql('DELETE FROM odd')), { error: { code: 'SQLITE_READONLY' } })
  t.strictSame(scan(COUNT), { rows: [{ n: 9000 }] })
})

t.test('the stop flag stops a scan, whatever the step between its keys', async (t) => {
  const { scan, options } = start(t)
  for (const table of ['odd', 'wide_steps', 'negative'])
    t.strictSame(scan(countGuarded(table)), { rows: [{ n: 9000 }] }, table)
  Atomics.store(options.stop, 0, 1)
  for (const table of ['odd', 'wide_steps', 'negative'])
    t.match(scan(countGuarded(table)), { error: { code: 'ENGINE_STOPPED' } }, table)
  t.match(scan(COUNT_KEYED), { error: { code: 'ENGINE_STOPPED' } })
})

t.test('the abort flag of a scan stops this scan only', async (t) => {
  const { scan } = start(t)
  const abortFlag = new Int32Array(new SharedArrayBuffer(4))
  t.strictSame(scan({ ...COUNT, abortFlag }), { rows: [{ n: 9000 }] })
  Atomics.store(abortFlag, 0, 1)
  t.match(scan({ ...COUNT, abortFlag }), { error: { code: 'SCAN_ABORTED' } })
  t.strictSame(scan(COUNT), { rows: [{ n: 9000 }] })
})

t.test('a scan is stopped after 30 s, and the next one has its own 30 s', async (t) => {
  const { options } = start(t)
  let now = 0
  const scan = createScan(options, () => {
    now += 20_000
    return now
  })
  t.match(scan(COUNT), { error: { code: 'SCAN_TIMEOUT', message: /Narrow the search, or add an index/ } })
  t.strictSame(scan(sql('SELECT alive() AS n')), { rows: [{ n: 1 }] })
})

t.test('the entry file of reader threads creates a scan from the options of its thread', async (t) => {
  const { options } = start(t)
  const file = new URL(`../../../../services/engine/reader/reader${extname(import.meta.url)}`, import.meta.url)
  t.ok(existsSync(file))
  const worker = new Worker(file, { workerData: options })
  t.strictSame(await once(worker, 'exit'), [0])
})
