import t, { type Test } from 'tap'
import type { Outcome } from '../../../../services/engine/shared/message.ts'
import { createUnreadText } from '../../../../services/engine/shared/unread-text.ts'
import { createBatchRunner } from '../../../../services/engine/writer/batch.ts'
import { openWriter } from '../../../../services/engine/writer/open-writer.ts'
import type { Unit } from '../../../../services/sql/statement.ts'
import { databaseFile, sql } from '../engine.ts'

// A disk that fails during COMMIT. Real failures of a disk are in test/crash/failed-commits.test.ts.

const REPLACEMENT = /failed_commit/

const diskFailure = (code: string) => Object.assign(new Error('disk I/O error'), { code })

/** Returns a runner on a disk that fails when `fails` returns true for a statement. SQLite rolls back then, or not. */
const start = (t: Test, { schema = '', fails, rollsBack = true, code = 'SQLITE_IOERR_FSYNC' }: Options) => {
  const connection = openWriter({ file: databaseFile(t), readonly: false, busyTimeout: 50, cacheSize: 8, walSize: 16 })
  connection.raw.exec(`CREATE TABLE notes (text TEXT UNIQUE); ${schema}`)
  t.teardown(() => connection.close())
  const statements: string[] = []
  const run = (text: string, params: Parameters<typeof connection.run>[1]) => {
    statements.push(text)
    if (!fails(text)) return connection.run(text, params)
    if (rollsBack && connection.raw.inTransaction) connection.run('ROLLBACK', [])
    throw diskFailure(code)
  }
  const { runBatch } = createBatchRunner({ ...connection, run }, createUnreadText())
  const runUnits = (...units: readonly Unit[]) =>
    [...runBatch(units.map((unit) => ({ unit, options: undefined })))].flatMap(({ outcomes }) => outcomes)
  const count = (pattern: RegExp) => statements.filter((text) => pattern.test(text)).length
  const notes = () => connection.rows('SELECT text FROM notes ORDER BY text', []).map(({ text }) => text)
  return { runUnits, count, notes, connection }
}

interface Options {
  readonly schema?: string
  readonly fails: (text: string) => boolean
  readonly rollsBack?: boolean
  readonly code?: string
}

const once = (pattern: RegExp) => {
  let isDone = false
  return (text: string) => {
    const isHit = !isDone && pattern.test(text)
    isDone ||= isHit
    return isHit
  }
}

const note = (text: string) => [sql('INSERT INTO notes VALUES (?)', text)]

const codes = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) => ('error' in outcome ? outcome.error.code : 'ok'))

for (const rollsBack of [true, false])
  t.test(
    `after a COMMIT that fails, no unit runs again, whether SQLite rolls back (${rollsBack}) or not`,
    async (t) => {
      const { runUnits, count, notes } = start(t, { fails: once(/^COMMIT$/), rollsBack })
      t.strictSame(codes(runUnits(note('a'), note('b'))), ['SQLITE_IOERR_FSYNC', 'SQLITE_IOERR_FSYNC'])
      t.equal(count(/^INSERT INTO notes/), 2)
      t.equal(count(REPLACEMENT), 1)
      t.strictSame(notes(), [])
      t.strictSame(codes(runUnits(note('a'), note('b'))), ['ok', 'ok'], 'the same units may be sent again')
      t.strictSame(notes(), ['a', 'b'])
    }
  )

t.test('two commits that replace failed ones differ: the same bytes would replace nothing', async (t) => {
  const { runUnits, connection } = start(t, { fails: (text) => text === 'COMMIT' })
  const replacement = () => connection.value("SELECT value FROM _rowhouse_meta WHERE key = 'failed_commit'")
  runUnits(note('a'))
  const first = replacement()
  runUnits(note('a'))
  t.type(first, 'string')
  t.not(replacement(), first)
})

t.test('a COMMIT that cannot write stores nothing: no unit runs again, and nothing is replaced', async (t) => {
  const options = { fails: once(/^COMMIT$/), rollsBack: false, code: 'SQLITE_IOERR_WRITE' }
  const { runUnits, count, notes } = start(t, options)
  t.strictSame(codes(runUnits(note('a'), note('b'))), ['SQLITE_IOERR_WRITE', 'SQLITE_IOERR_WRITE'])
  t.equal(count(/^INSERT INTO notes/), 2)
  t.equal(count(REPLACEMENT), 0)
  t.strictSame(codes(runUnits(note('a'))), ['ok'])
  t.strictSame(notes(), ['a'])
})

t.test('a statement that fails is no failed COMMIT: the other units of its batch run again', async (t) => {
  const { runUnits, count, notes } = start(t, { fails: once(/^INSERT INTO notes/) })
  t.strictSame(codes(runUnits(note('a'), note('b'))), ['ok', 'ok'])
  t.equal(count(REPLACEMENT), 0)
  t.strictSame(notes(), ['a', 'b'])
})

t.test('beside deferred foreign keys, the COMMIT of one unit fails, and the next unit is stored', async (t) => {
  const schema = `CREATE TABLE parents (id INTEGER PRIMARY KEY);
    CREATE TABLE children (parent INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED);`
  const { runUnits, notes } = start(t, { schema, fails: once(/^COMMIT$/) })
  const orphan = [sql('INSERT INTO children VALUES (1)')]
  t.strictSame(codes(runUnits(note('a'), note('b'))), ['SQLITE_IOERR_FSYNC', 'ok'])
  t.strictSame(codes(runUnits(orphan, note('c'))), ['SQLITE_CONSTRAINT_FOREIGNKEY', 'ok'])
  t.strictSame(notes(), ['b', 'c'])
})

for (const schema of ['', 'CREATE TABLE children (id REFERENCES notes (text) DEFERRABLE INITIALLY DEFERRED);'])
  t.test(`if the next commit fails too, the runner ends: the outcome is unknown ${schema}`, async (t) => {
    const { runUnits } = start(t, { schema, fails: (text) => text === 'COMMIT' || REPLACEMENT.test(text) })
    t.throws(() => runUnits(note('a')), {
      name: 'UnknownOutcome',
      message: /^The disk failed during a commit, and again/
    })
  })
