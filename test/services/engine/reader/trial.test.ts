import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { createTrial, type Trial } from '../../../../services/engine/reader/trial.ts'
import { databaseFile, prepareFile, sql } from '../engine.ts'

const start = (t: Test, schema: string) => {
  const file = databaseFile(t)
  prepareFile(file, schema)
  const tryUnit = createTrial({ file, busyTimeout: 0, cacheSize: 1 })
  return {
    file,
    outcome: (...statements: readonly string[]) => tryUnit({ trial: statements.map((text) => sql(text)) }),
    tried: (...statements: readonly string[]): Trial => {
      const outcome = tryUnit({ trial: statements.map((text) => sql(text)) })
      if ('error' in outcome) throw new Error(outcome.error.message)
      return outcome.trial
    }
  }
}

const CATS = 'CREATE TABLE cats (id INTEGER PRIMARY KEY, name TEXT, lives INTEGER);'

t.test('a trial returns the views whose columns have other names, and leaves the file unchanged', async (t) => {
  const { tried } = start(
    t,
    `${CATS} CREATE VIEW all_cats AS SELECT * FROM cats; CREATE VIEW numbers AS SELECT lives FROM cats`
  )
  const rename = 'ALTER TABLE cats RENAME COLUMN name TO title'
  const changedViews = [{ name: 'all_cats', before: ['id', 'name', 'lives'], after: ['id', 'title', 'lives'] }]
  t.match(tried(rename), { broken: [], hasBroken: false, changedViews })
  t.match(tried(rename), { changedViews, declarations: /name TEXT/ })
  t.match(tried('DROP VIEW all_cats'), { broken: [], changedViews: [] })
})

t.test('a view of a missing table is broken, one with a function of another program is not', async (t) => {
  const triedWith = (view: string) => start(t, CATS + view).tried('ALTER TABLE cats DROP COLUMN lives')
  const broken = triedWith('CREATE VIEW broken AS SELECT x FROM gone')
  t.match(broken, { broken: [], hasBroken: true, changedViews: [] })
  const elsewhere = triedWith('CREATE VIEW elsewhere AS SELECT own_function(name) FROM cats')
  t.match(elsewhere, { broken: [], hasBroken: false, changedViews: [] })
})

t.test('triggers of each kind are compiled before and after a change', async (t) => {
  const trigger = (name: string, event: string) =>
    `CREATE TRIGGER ${name} AFTER ${event} ON cats BEGIN UPDATE log SET day = 1; END;`
  const { tried } = start(
    t,
    `${CATS} CREATE TABLE log (id INTEGER PRIMARY KEY, day TEXT);
     ${trigger('added', 'INSERT')} ${trigger('deleted', 'DELETE')} ${trigger('changed', 'UPDATE')}
     ${trigger('named', "UPDATE OF name, 'lives'")}
     CREATE TRIGGER other AFTER INSERT ON cats BEGIN SELECT 1; END`
  )
  const { broken } = tried('ALTER TABLE log DROP COLUMN day')
  t.strictSame(
    broken.map(({ type, name }) => `${type} ${name}`),
    ['trigger added', 'trigger deleted', 'trigger changed', 'trigger named']
  )
})

t.test('a unit that fails for two reasons returns the first error', async (t) => {
  const { outcome } = start(t, `${CATS} CREATE VIEW names AS SELECT name FROM cats`)
  t.match(outcome('ALTER TABLE cats DROP COLUMN name', 'DROP TABLE gone'), {
    error: { message: /^error in view names/ }
  })
  t.match(outcome('ALTER TABLE cats DROP COLUMN name'), { trial: { broken: [{ type: 'view', name: 'names' }] } })
  t.match(outcome('DROP TABLE gone'), { error: { message: 'no such table: gone' } })
})

t.test('a virtual table of a missing module does not prevent a trial', async (t) => {
  const { file, tried } = start(t, `${CATS} CREATE VIRTUAL TABLE words USING fts5 (a)`)
  const external = new BetterSqlite3(file)
  external.unsafeMode(true)
  external.exec(`PRAGMA writable_schema = ON;
    INSERT INTO sqlite_schema VALUES ('table', 'foreign_words', 'foreign_words', 0,
      'CREATE VIRTUAL TABLE foreign_words USING own_module (a)')`)
  external.close()
  t.match(tried('ALTER TABLE cats DROP COLUMN lives'), { broken: [], hasBroken: false })
})

t.test(
  'a view of a missing module that prevents a change is listed with the objects that the change breaks',
  async (t) => {
    const { file, tried } = start(t, CATS)
    const external = new BetterSqlite3(file)
    external.unsafeMode(true)
    external.exec(`PRAGMA writable_schema = ON;
    INSERT INTO sqlite_schema VALUES ('table', 'foreign_words', 'foreign_words', 0,
      'CREATE VIRTUAL TABLE foreign_words USING own_module (a)');
    INSERT INTO sqlite_schema VALUES ('view', 'found', 'found', 0, 'CREATE VIEW found AS SELECT * FROM foreign_words');
    INSERT INTO sqlite_schema VALUES ('view', 'names', 'names', 0, 'CREATE VIEW names AS SELECT name FROM cats')`)
    external.close()
    const { broken } = tried('ALTER TABLE cats DROP COLUMN name')
    t.match(broken, [{ name: 'found' }, { name: 'names' }])
  }
)

t.test('a file that cannot be opened fails the trial', async (t) => {
  const tryUnit = createTrial({ file: `${databaseFile(t)}/none`, busyTimeout: 0, cacheSize: 1 })
  t.match(tryUnit({ trial: [] }), { error: { message: /directory does not exist/ } })
})
