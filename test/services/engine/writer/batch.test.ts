import t, { type Test } from 'tap'
import type { Connection } from '../../../../services/engine/shared/connection.ts'
import type { Outcome, UnitWithOptions } from '../../../../services/engine/shared/message.ts'
import { CHANGE_GUARD } from '../../../../services/engine/shared/sqlite-dialect.ts'
import { createUnreadText } from '../../../../services/engine/shared/unread-text.ts'
import { createBatchRunner } from '../../../../services/engine/writer/batch.ts'
import { openWriter } from '../../../../services/engine/writer/open-writer.ts'
import type { Unit, UnitOptions } from '../../../../services/sql/statement.ts'
import { databaseFile, openExternal, sql } from '../engine.ts'

const SCHEMA = `
  CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE);
  CREATE TABLE strict_notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE ON CONFLICT ROLLBACK);
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

const request = (unit: Unit, options?: UnitOptions): UnitWithOptions => ({ unit, options })

const start = (t: Test, wrap = (connection: Connection): Connection => connection) => {
  const file = databaseFile(t)
  const connection = openWriter({ file, readonly: false, busyTimeout: 50, cacheSize: 8, walSize: 16 })
  connection.raw.exec(SCHEMA)
  const runner = createBatchRunner(wrap(connection), createUnreadText())
  t.teardown(() => connection.close())

  const run = (...units: readonly (Unit | UnitWithOptions)[]) => {
    const results = [...runner.runBatch(units.map((unit) => ('unit' in unit ? unit : request(unit))))]
    return {
      outcomes: results.flatMap(({ outcomes }) => outcomes),
      sawExternalCommit: results.some(({ sawExternalCommit }) => sawExternalCommit)
    }
  }
  const texts = (table: string) => connection.rows(`SELECT text FROM ${table} ORDER BY id`, []).map(({ text }) => text)
  return { file, connection, runner, run, texts }
}

const note = (text: string) => sql('INSERT INTO notes (text) VALUES (?)', text)
const check = (text: string) => ({ ...sql(text), expect: 1 })
const strictNote = (text: string) => sql('INSERT INTO strict_notes (text) VALUES (?)', text)
const guarded = (text: string) => sql('INSERT INTO guarded (text) VALUES (?)', text)

const codes = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) => ('error' in outcome ? outcome.error.code : outcome.map(({ changes }) => changes)))

t.test('a batch commits all its units and returns a result per statement', async (t) => {
  const { run, texts, connection } = start(t)
  const inserted = { changes: 1, rows: [] }
  const { outcomes, sawExternalCommit } = run([note('a'), check('SELECT count(*) AS n FROM notes')], [note('b')], [])
  t.strictSame(outcomes, [[inserted, { changes: 1, rows: [{ n: 1 }] }], [inserted], []])
  t.equal(sawExternalCommit, false)
  t.equal(connection.raw.inTransaction, false)
  t.strictSame(texts('notes'), ['a', 'b'])
})

t.test('a SELECT in a unit is a check', async (t) => {
  const { run, texts } = start(t)
  const { outcomes } = run([note('a'), sql('SELECT 1')], [check('SELECT 1'), note('b')])
  t.match(outcomes, [{ error: { message: /needs `expect`/ } }, { length: 2 }])
  t.strictSame(texts('notes'), ['b'])
})

t.test('a unit without foreign keys runs alone, and the other units of the batch with them', async (t) => {
  const { run, connection } = start(t)
  connection.raw.exec(`CREATE TABLE parents (id INTEGER PRIMARY KEY);
    CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents ON DELETE CASCADE);
    INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1, 1)`)
  const orphan = sql('INSERT INTO children (parent) VALUES (7777)')
  const settings = ['foreign_keys', 'legacy_alter_table']
  const { outcomes } = run(
    [note('before')],
    [orphan],
    request([sql('ALTER TABLE parents RENAME TO passing'), sql('DELETE FROM passing')], { foreignKeys: false }),
    request([sql('DELETE FROM notes'), sql('fails')], { foreignKeys: false }),
    [orphan]
  )
  t.strictSame(codes(outcomes), [[1], 'SQLITE_CONSTRAINT_FOREIGNKEY', [0, 1], 'SQLITE_ERROR', 'SQLITE_ERROR'])
  t.equal(connection.value('SELECT count(*) FROM children'), 1, 'no cascade')
  t.equal(connection.value('SELECT count(*) FROM notes'), 1, 'the failed unit was rolled back')
  t.match(connection.value("SELECT sql FROM sqlite_schema WHERE name = 'children'"), /REFERENCES parents/)
  t.strictSame(
    settings.map((name) => connection.value(`PRAGMA ${name}`)),
    [1, 0]
  )
})

t.test('a unit that ignores broken views renames a table, and keeps foreign keys', async (t) => {
  const { run, connection } = start(t)
  connection.raw.exec('CREATE VIEW broken AS SELECT nope FROM missing')
  const rename = sql('ALTER TABLE notes RENAME TO renamed')
  const orphan = sql('INSERT INTO children (parent) VALUES (7777)')
  connection.raw.exec('CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES guarded)')
  const { outcomes } = run([rename], request([rename], { keepsBroken: true }), request([orphan], { keepsBroken: true }))
  t.match(codes(outcomes), ['SQLITE_ERROR', [0], 'SQLITE_CONSTRAINT_FOREIGNKEY'])
  t.equal(connection.value('PRAGMA writable_schema'), 0)
})

t.test('a batch ends when its results have 1 MiB, and the next batch commits the rest', async (t) => {
  const { file, connection, runner, texts } = start(t)
  const external = openExternal(t, file)
  const stored = () => external.prepare('SELECT count(*) FROM notes').pluck().get()
  const wide = check("SELECT printf('%.*c', 600000, 'x') AS text, x'00' AS bytes")
  const units = (names: string) => [...names].map((name) => request([note(name), wide]))
  const lengths: number[] = []
  for (const { outcomes, sawExternalCommit } of runner.runBatch(units('abcdeafgh'))) {
    lengths.push(outcomes.length)
    t.equal(stored(), texts('notes').length, 'the reported outcomes are durable, and no others')
    t.equal(connection.raw.inTransaction, false)
    t.equal(sawExternalCommit, lengths.length === 3)
    if (lengths.length === 2) external.exec("INSERT INTO notes (text) VALUES ('external')")
  }
  t.strictSame(lengths, [2, 2, 3, 2], 'a unit that fails has no results')
  t.strictSame(texts('notes'), ['a', 'b', 'c', 'd', 'external', 'e', 'f', 'g', 'h'])

  external.exec(DEFERRED)
  t.strictSame(
    [...runner.runBatch(units('ijk'))].map(({ outcomes }) => outcomes.length),
    [2, 1],
    'also if each unit has a transaction of its own'
  )
})

t.test('a unit that fails changes nothing, and the other units succeed', async (t) => {
  const { run, texts } = start(t)
  const { outcomes } = run([note('a')], [note('b'), note('a')], [note('c')])
  t.strictSame(codes(outcomes), [[1], 'SQLITE_CONSTRAINT_UNIQUE', [1]])
  t.strictSame(texts('notes'), ['a', 'c'])
})

/** The position of the failed statement for each unit; null where there is none. */
const failedStatements = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) => ('error' in outcome ? (outcome.error.statement ?? null) : 'committed'))

t.test('a unit that fails reports the position of the failed statement', async (t) => {
  t.test('in a batch with a savepoint for each unit', async (t) => {
    const { run } = start(t)
    const { outcomes } = run(
      [note('a')],
      [note('b'), note('a')],
      [sql('SELEC')],
      [note('c'), note('d'), check('SELECT ?')]
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

t.test('a unit that changes another number of rows than expected reports the statement', async (t) => {
  const { run, texts } = start(t)
  const missing = { ...sql('UPDATE notes SET text = ? WHERE id = 7', 'x'), expect: 1 }
  const { outcomes } = run([note('a'), missing], [{ ...note('b'), expect: 1 }])
  t.match(outcomes[0], { error: { code: 'UNEXPECTED_CHANGES', statement: 1 } })
  t.strictSame(codes(outcomes).slice(1), [[1]])
  t.strictSame(texts('notes'), ['b'])
})

t.test('an error that ends the whole transaction fails its own unit only', async (t) => {
  t.test('ON CONFLICT ROLLBACK', async (t) => {
    const { run, texts, connection } = start(t)
    const { outcomes } = run([note('a')], [strictNote('x')], [note('b'), strictNote('x'), note('never')], [note('c')])
    t.strictSame(codes(outcomes), [[1], [1], 'SQLITE_CONSTRAINT_UNIQUE', [1]])
    t.strictSame(texts('notes'), ['a', 'c'])
    t.strictSame(texts('strict_notes'), ['x'])
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
    t.strictSame(
      codes(run([note('large'.repeat(100_000))]).outcomes),
      [[1]],
      'with free space again, no restart is needed'
    )
  })
})

t.test('a violation of a deferred foreign key is not masked by another unit', async (t) => {
  const { file, run, connection } = start(t)
  openExternal(t, file).exec(DEFERRED)
  const [orphan, repair] = ORPHAN
  for (const when of ['in the batch that first reads the key', 'in the next batch'])
    t.strictSame(codes(run([orphan], [repair]).outcomes), ['SQLITE_CONSTRAINT_FOREIGNKEY', [0]], when)
  t.strictSame(codes(run([orphan, repair]).outcomes), [[1, 1]], 'a unit may repair its own violation')
  t.equal(connection.value('SELECT parent FROM children'), null)
})

t.test('nor if the key was created before the first batch', async (t) => {
  const { file, runner, run } = start(t)
  openExternal(t, file).exec(DEFERRED)
  t.equal(runner.sawExternalCommit(), true)
  const [orphan, repair] = ORPHAN
  t.strictSame(codes(run([orphan], [repair]).outcomes), ['SQLITE_CONSTRAINT_FOREIGNKEY', [0]])
})

t.test('RAISE(FAIL) and RAISE(IGNORE) change nothing', async (t) => {
  const { run, texts } = start(t)
  const { outcomes } = run([guarded('fail')], [{ ...guarded('ignore'), expect: 1 }], [guarded('fine')])
  t.strictSame(codes(outcomes), ['SQLITE_CONSTRAINT_TRIGGER', 'UNEXPECTED_CHANGES', [1]])
  t.strictSame(texts('guarded'), ['fine'])
})

t.test('a schema change is committed or rolled back with its unit', async (t) => {
  const { run, connection } = start(t)
  const { outcomes } = run(
    [sql('CREATE TABLE made (id INTEGER PRIMARY KEY) STRICT'), note('registered')],
    [sql('CREATE TABLE lost (id INTEGER PRIMARY KEY) STRICT'), note('registered')]
  )
  t.strictSame(codes(outcomes), [[0, 1], 'SQLITE_CONSTRAINT_UNIQUE'])
  t.strictSame(connection.rows("SELECT name FROM sqlite_schema WHERE name IN ('made', 'lost')", []), [{ name: 'made' }])
})

t.test('a lock of another program fails the whole batch, and the next batch succeeds', async (t) => {
  const { file, run, texts } = start(t)
  const external = openExternal(t, file)
  external.exec('BEGIN IMMEDIATE')
  const { outcomes, sawExternalCommit } = run([note('a')], [note('b')])
  t.strictSame(codes(outcomes), ['SQLITE_BUSY', 'SQLITE_BUSY'])
  t.equal(sawExternalCommit, false)
  external.exec('ROLLBACK')
  t.strictSame(codes(run([note('c')]).outcomes), [[1]])
  t.strictSame(texts('notes'), ['c'])
})

t.test('a lock that begins between single transactions is waited for once and fails the remaining units', async (t) => {
  const begins: string[] = []
  const { file, run, texts } = start(t, (connection) => ({
    ...connection,
    run: (text, params) => {
      if (text === 'BEGIN IMMEDIATE') begins.push(text)
      const result = connection.run(text, params)
      if (text === 'COMMIT') external.exec('BEGIN IMMEDIATE')
      return result
    }
  }))
  const external = openExternal(t, file)
  const { outcomes } = run([note('a')], [guarded('rollback')], [note('b')], [note('c')])
  t.strictSame(codes(outcomes), [[1], 'SQLITE_BUSY', 'SQLITE_BUSY', 'SQLITE_BUSY'])
  t.equal(begins.length, 4, 'without savepoints, with savepoints, for the first unit, and for the second')
  external.exec('ROLLBACK')
  t.strictSame(texts('notes'), ['a'])
})

t.test('an external commit is reported once, and an own commit is not reported', async (t) => {
  const { file, run, runner } = start(t)
  const external = openExternal(t, file)
  t.equal(run([note('own')]).sawExternalCommit, false)
  t.equal(run([note('own again')]).sawExternalCommit, false)
  external.exec("INSERT INTO notes (text) VALUES ('external')")
  t.equal(run([note('own once more')]).sawExternalCommit, true)
  t.equal(runner.sawExternalCommit(), false)
  external.exec("INSERT INTO notes (text) VALUES ('external again')")
  t.equal(runner.sawExternalCommit(), true)
})

t.test('a check for external commits that fails reports none', async (t) => {
  const { connection, runner } = start(t)
  connection.close()
  t.equal(runner.sawExternalCommit(), false)
})

t.test('a unit that takes too long fails before its next statement, and the others of its batch succeed', async (t) => {
  const { run, texts, connection } = start(t)
  let calls = 0
  connection.raw.function('slow', { deterministic: false }, () => {
    calls += 1
    for (const end = performance.now() + 20; performance.now() < end; );
    return 1
  })
  const slow = (maxMs: number) => request([check('SELECT slow()'), note(`after ${maxMs}`)], { maxMs })
  const { outcomes } = run([note('before')], slow(10), [note('other')], slow(60_000))
  t.strictSame(codes(outcomes), [[1], 'UNIT_EXPIRED', [1], [1, 1]])
  t.strictSame(texts('notes'), ['before', 'other', 'after 60000'])
  t.equal(calls, 2, 'it does not run again')
})

t.test('a guarded statement is stopped after a row, and returns no rows', async (t) => {
  const { run, texts, connection } = start(t)
  let calls = 0
  connection.raw.function('slow', { deterministic: false }, () => {
    calls += 1
    for (const end = performance.now() + 5; performance.now() < end; );
    return 1
  })
  connection.raw.exec('CREATE TEMP TRIGGER slow AFTER UPDATE ON notes BEGIN SELECT slow(); END')
  run(...Array.from({ length: 100 }, (_, index) => [note(`${index}`)]))
  const update = (maxMs: number) => request([sql(`UPDATE notes SET id = id + 1000${CHANGE_GUARD}`)], { maxMs })
  t.strictSame(codes(run(update(50)).outcomes), ['UNIT_EXPIRED'])
  t.ok(calls < 50, `${calls}`)
  t.strictSame(connection.value('SELECT max(id) FROM notes'), 100, 'nothing was changed')
  const [outcome] = run(update(60_000)).outcomes
  t.match(outcome, [{ changes: 100, rows: [] }])
  t.equal(texts('notes').length, 100)
})
