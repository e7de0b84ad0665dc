import t, { type Test } from 'tap'
import type { Connection } from '../../../../services/engine/shared/connection.ts'
import { createBatchRunner, type Outcome } from '../../../../services/engine/writer/batch.ts'
import { openWriter } from '../../../../services/engine/writer/boot.ts'
import type { Unit } from '../../../../services/sql/statement.ts'
import { databaseFile, openExternal, sql } from '../engine.ts'

const SCHEMA = `
  CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE);
  CREATE TABLE strict_ones (id INTEGER PRIMARY KEY, text TEXT UNIQUE ON CONFLICT ROLLBACK);
  CREATE TABLE guarded (id INTEGER PRIMARY KEY, text TEXT);
  CREATE TRIGGER rolls_back BEFORE INSERT ON guarded WHEN new.text = 'rollback' BEGIN SELECT RAISE(ROLLBACK, 'no'); END;
  CREATE TRIGGER fails AFTER INSERT ON guarded WHEN new.text = 'fail' BEGIN SELECT RAISE(FAIL, 'no'); END;
  CREATE TRIGGER ignores BEFORE INSERT ON guarded WHEN new.text = 'ignore' BEGIN SELECT RAISE(IGNORE); END;
`

const DEFERRED = `
  CREATE TABLE parents (id INTEGER PRIMARY KEY);
  CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED);
`

const ORPHAN = [
  sql('INSERT INTO children VALUES (1, 7777)'),
  sql('UPDATE children SET parent = NULL WHERE id = 1')
] as const

const start = (t: Test, observe = (connection: Connection): Connection => connection) => {
  const file = databaseFile(t)
  const connection = openWriter({ file, readonly: false, busyTimeout: 50, cacheSize: 8, walSize: 16 })
  connection.raw.exec(SCHEMA)
  const runner = createBatchRunner(observe(connection))
  t.teardown(() => connection.close())

  const run = (...units: readonly Unit[]) => {
    const results = [...runner.runBatch(units)]
    return { outcomes: results.flatMap(({ outcomes }) => outcomes), foreign: results.some(({ foreign }) => foreign) }
  }
  const texts = (table: string) => connection.rows(`SELECT text FROM ${table} ORDER BY id`, []).map(({ text }) => text)
  return { file, connection, runner, run, texts }
}

const note = (text: string) => sql('INSERT INTO notes (text) VALUES (?)', text)
const strictOne = (text: string) => sql('INSERT INTO strict_ones (text) VALUES (?)', text)
const guarded = (text: string) => sql('INSERT INTO guarded (text) VALUES (?)', text)

const codes = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) => ('error' in outcome ? outcome.error.code : outcome.map(({ changes }) => changes)))

t.test('a batch commits all of its units, each with a result per statement', async (t) => {
  const { run, texts, connection } = start(t)
  const inserted = { changes: 1, rows: [] }
  const { outcomes, foreign } = run([note('a'), sql('SELECT count(*) AS n FROM notes')], [note('b')], [])
  t.strictSame(outcomes, [[inserted, { changes: 1, rows: [{ n: 1 }] }], [inserted], []])
  t.equal(foreign, false)
  t.equal(connection.raw.inTransaction, false)
  t.strictSame(texts('notes'), ['a', 'b'])
})

t.test('a batch ends when its results have a MiB, and the rest is committed after it', async (t) => {
  const { file, connection, runner, texts } = start(t)
  const other = openExternal(t, file)
  const stored = () => other.prepare('SELECT count(*) FROM notes').pluck().get()
  const wide = sql("SELECT printf('%.*c', 600000, 'x') AS text, x'00' AS bytes")
  const units = (names: string) => [...names].map((name) => [note(name), wide])
  const lengths: number[] = []
  for (const { outcomes, foreign } of runner.runBatch(units('abcdeafgh'))) {
    lengths.push(outcomes.length)
    t.equal(stored(), texts('notes').length, 'what is told is durable, and no more is')
    t.equal(connection.raw.inTransaction, false)
    t.equal(foreign, lengths.length === 3)
    if (lengths.length === 2) other.exec("INSERT INTO notes (text) VALUES ('theirs')")
  }
  t.strictSame(lengths, [2, 2, 3, 2], 'a unit that fails has no results')
  t.strictSame(texts('notes'), ['a', 'b', 'c', 'd', 'theirs', 'e', 'f', 'g', 'h'])

  other.exec(DEFERRED)
  t.strictSame(
    [...runner.runBatch(units('ijk'))].map(({ outcomes }) => outcomes.length),
    [2, 1],
    'also where each unit has a transaction of its own'
  )
})

t.test('a unit that fails leaves no trace, and its neighbours alone', async (t) => {
  const { run, texts } = start(t)
  const { outcomes } = run([note('a')], [note('b'), note('a')], [note('c')])
  t.strictSame(codes(outcomes), [[1], 'SQLITE_CONSTRAINT_UNIQUE', [1]])
  t.strictSame(texts('notes'), ['a', 'c'])
})

/** The position of the failed statement for each unit; null where there is none. */
const failedStatements = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) => ('error' in outcome ? (outcome.error.statement ?? null) : 'committed'))

t.test('a unit that fails reports the position of its failed statement', async (t) => {
  t.test('in a batch with a savepoint for each unit', async (t) => {
    const { run } = start(t)
    const { outcomes } = run(
      [note('a')],
      [note('b'), note('a')],
      [sql('SELEC')],
      [note('c'), note('d'), sql('SELECT ?')]
    )
    t.strictSame(failedStatements(outcomes), ['committed', 1, 0, 2])
    t.match(outcomes[1], {
      error: { code: 'SQLITE_CONSTRAINT_UNIQUE', message: 'UNIQUE constraint failed: notes.text' }
    })
    t.match(outcomes[2], { error: { code: 'SQLITE_ERROR', message: /syntax error/ } })
  })

  t.test('in a transaction of its own', async (t) => {
    const { run } = start(t)
    const { outcomes } = run([note('a'), note('b'), guarded('rollback')], [note('a'), note('a')], [note('b')])
    t.strictSame(failedStatements(outcomes), [2, 1, 'committed'])
  })

  t.test('but a failure of BEGIN or COMMIT has no statement', async (t) => {
    const { file, run } = start(t)
    const external = openExternal(t, file)
    external.exec(DEFERRED)
    const orphan = sql('INSERT INTO children (parent) VALUES (1)')
    t.strictSame(failedStatements(run([note('a'), orphan], [note('b')]).outcomes), [null, 'committed'])
    external.exec('BEGIN IMMEDIATE')
    t.strictSame(failedStatements(run([note('c')], [note('d')]).outcomes), [null, null])
  })
})

t.test('a unit that changes another number of rows than it expects says which statement did', async (t) => {
  const { run, texts } = start(t)
  const missing = { ...sql('UPDATE notes SET text = ? WHERE id = 7', 'x'), expect: 1 }
  const { outcomes } = run([note('a'), missing], [{ ...note('b'), expect: 1 }])
  t.match(outcomes[0], { error: { code: 'UNEXPECTED_CHANGES', statement: 1 } })
  t.strictSame(codes(outcomes).slice(1), [[1]])
  t.strictSame(texts('notes'), ['b'])
})

t.test('what ends the whole transaction fails its own unit only', async (t) => {
  t.test('ON CONFLICT ROLLBACK', async (t) => {
    const { run, texts, connection } = start(t)
    const { outcomes } = run([note('a')], [strictOne('x')], [note('b'), strictOne('x'), note('never')], [note('c')])
    t.strictSame(codes(outcomes), [[1], [1], 'SQLITE_CONSTRAINT_UNIQUE', [1]])
    t.strictSame(texts('notes'), ['a', 'c'])
    t.strictSame(texts('strict_ones'), ['x'])
    t.equal(connection.raw.inTransaction, false)
  })

  t.test('RAISE(ROLLBACK)', async (t) => {
    const { run, texts } = start(t)
    const { outcomes } = run([note('a')], [note('b'), guarded('rollback'), note('never')], [guarded('fine')])
    t.strictSame(codes(outcomes), [[1], 'SQLITE_CONSTRAINT_TRIGGER', [1]])
    t.strictSame(texts('notes'), ['a'])
    t.strictSame(texts('guarded'), ['fine'])
  })

  t.test('a deferred foreign key, which fails at COMMIT', async (t) => {
    const { file, run, texts, connection } = start(t)
    openExternal(t, file).exec(DEFERRED)
    const orphan = sql('INSERT INTO children (parent) VALUES (1)')
    const { outcomes } = run([note('a')], [orphan], [sql('INSERT INTO parents VALUES (2)')], [note('b')])
    t.strictSame(codes(outcomes), [[1], 'SQLITE_CONSTRAINT_FOREIGNKEY', [1], [1]])
    t.strictSame(texts('notes'), ['a', 'b'])
    t.equal(connection.value('SELECT count(*) FROM children'), 0)
    t.equal(connection.raw.inTransaction, false)
  })

  t.test('a full disk', async (t) => {
    const { run, texts, connection } = start(t)
    run([note('a')])
    connection.raw.pragma(`max_page_count = ${Number(connection.value('PRAGMA page_count')) + 2}`)
    const { outcomes } = run([note('b')], [note('large'.repeat(100_000))], [note('c')])
    t.strictSame(codes(outcomes), [[1], 'SQLITE_FULL', [1]])
    t.strictSame(texts('notes'), ['a', 'b', 'c'])

    connection.raw.pragma('max_page_count = 1000000')
    t.strictSame(codes(run([note('large'.repeat(100_000))]).outcomes), [[1]], 'with room again, no restart is needed')
  })
})

t.test('what a deferred foreign key refuses is not healed by a neighbour', async (t) => {
  const { file, run, connection } = start(t)
  openExternal(t, file).exec(DEFERRED)
  const [orphan, heal] = ORPHAN
  for (const when of ['with the batch that first sees the key', 'and with the next'])
    t.strictSame(codes(run([orphan], [heal]).outcomes), ['SQLITE_CONSTRAINT_FOREIGNKEY', [0]], when)
  t.strictSame(codes(run([orphan, heal]).outcomes), [[1, 1]], 'a unit may heal itself')
  t.equal(connection.value('SELECT parent FROM children'), null)
})

t.test('nor where the key was seen before the first batch, while there was nothing to write', async (t) => {
  const { file, runner, run } = start(t)
  openExternal(t, file).exec(DEFERRED)
  t.equal(runner.sawExternalCommit(), true)
  const [orphan, heal] = ORPHAN
  t.strictSame(codes(run([orphan], [heal]).outcomes), ['SQLITE_CONSTRAINT_FOREIGNKEY', [0]])
})

t.test('RAISE(FAIL) and RAISE(IGNORE) change nothing', async (t) => {
  const { run, texts } = start(t)
  const { outcomes } = run([guarded('fail')], [{ ...guarded('ignore'), expect: 1 }], [guarded('fine')])
  t.strictSame(codes(outcomes), ['SQLITE_CONSTRAINT_TRIGGER', 'UNEXPECTED_CHANGES', [1]])
  t.strictSame(texts('guarded'), ['fine'])
})

t.test('changes of the schema are units like any other', async (t) => {
  const { run, connection } = start(t)
  const { outcomes } = run(
    [sql('CREATE TABLE made (id INTEGER PRIMARY KEY) STRICT'), note('registered')],
    [sql('CREATE TABLE lost (id INTEGER PRIMARY KEY) STRICT'), note('registered')]
  )
  t.strictSame(codes(outcomes), [[0, 1], 'SQLITE_CONSTRAINT_UNIQUE'])
  t.strictSame(connection.rows("SELECT name FROM sqlite_schema WHERE name IN ('made', 'lost')", []), [{ name: 'made' }])
})

t.test('a lock of another program refuses the batch as a whole, and the next one succeeds', async (t) => {
  const { file, run, texts } = start(t)
  const foreign = openExternal(t, file)
  foreign.exec('BEGIN IMMEDIATE')
  const { outcomes, foreign: saw } = run([note('a')], [note('b')])
  t.strictSame(codes(outcomes), ['SQLITE_BUSY', 'SQLITE_BUSY'])
  t.equal(saw, false)
  foreign.exec('ROLLBACK')
  t.strictSame(codes(run([note('c')]).outcomes), [[1]])
  t.strictSame(texts('notes'), ['c'])
})

t.test('a lock that comes while units run alone is met once, and refuses those that are left', async (t) => {
  const begun: string[] = []
  const { file, run, texts } = start(t, (connection) => ({
    ...connection,
    run: (text, params) => {
      if (text === 'BEGIN IMMEDIATE') begun.push(text)
      const result = connection.run(text, params)
      if (text === 'COMMIT') foreign.exec('BEGIN IMMEDIATE')
      return result
    }
  }))
  const foreign = openExternal(t, file)
  const { outcomes } = run([note('a')], [guarded('rollback')], [note('b')], [note('c')])
  t.strictSame(codes(outcomes), [[1], 'SQLITE_BUSY', 'SQLITE_BUSY', 'SQLITE_BUSY'])
  t.equal(begun.length, 4, 'together, with savepoints, for the first alone, and once more')
  foreign.exec('ROLLBACK')
  t.strictSame(texts('notes'), ['a'])
})

t.test('commits of another program are noticed once; our own are not taken for foreign', async (t) => {
  const { file, run, runner } = start(t)
  const foreign = openExternal(t, file)
  t.equal(run([note('ours')]).foreign, false)
  t.equal(run([note('ours again')]).foreign, false)
  foreign.exec("INSERT INTO notes (text) VALUES ('theirs')")
  t.equal(run([note('ours once more')]).foreign, true)
  t.equal(runner.sawExternalCommit(), false)
  foreign.exec("INSERT INTO notes (text) VALUES ('theirs too')")
  t.equal(runner.sawExternalCommit(), true)
})

t.test('a look for foreign commits that fails is no news', async (t) => {
  const { connection, runner } = start(t)
  connection.close()
  t.equal(runner.sawExternalCommit(), false)
})
