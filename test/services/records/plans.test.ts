import t from 'tap'
import { startServices } from '../services.ts'

const THEIRS = `
  CREATE TABLE words (w TEXT, n INTEGER, PRIMARY KEY (w COLLATE NOCASE));
  INSERT INTO words VALUES ('b', 1), ('C', 2), ('a', 3);
  CREATE TABLE sums (id INTEGER PRIMARY KEY, a INTEGER, total INTEGER AS (a + 1));
  INSERT INTO sums (a) VALUES (1);
  CREATE TABLE untyped (k PRIMARY KEY, n INTEGER);
  INSERT INTO untyped VALUES ('a', 1);
  ANALYZE untyped;
  INSERT INTO untyped VALUES ('b', 2), (3, 3), ('full', 9223372036854775807);
`

t.test('SQLite is asked how it would run a statement', async (t) => {
  const { serve, db, registry, foreign } = await startServices(t, THEIRS)
  const asked: string[] = []
  const scanned: string[] = []
  const { plan, scan } = db
  db.plan = (statement) => {
    asked.push(statement.sql)
    return plan(statement)
  }
  db.scan = (statement, caller) => {
    scanned.push(statement.sql)
    return scan(statement, caller)
  }

  t.test('once, however often the statement runs', async (t) => {
    const { read, list } = await serve('words')
    for (let times = 0; times < 3; times += 1) {
      t.strictSame(
        (await list()).rows.map(({ w }: { w: string }) => w),
        ['C', 'a', 'b']
      )
      t.equal((await read('C')).n, 2)
    }
    t.equal(asked.length, 2)
    t.equal(scanned.length, 3, 'a page that has to be sorted is made in a reader thread')
  })

  t.test('and again when another program has committed: it may have made the index that was missing', async (t) => {
    foreign.exec('CREATE UNIQUE INDEX exact ON words (w)')
    await registry.load()
    const { list } = await serve('words')
    t.strictSame(
      (await list()).rows.map(({ w }: { w: string }) => w),
      ['C', 'a', 'b']
    )
    t.equal(asked.length, 3)
    t.equal(scanned.length, 3)
  })

  t.test(
    'where it would look through the table for a key, as statistics may have it, a reader thread does',
    async (t) => {
      const { read, update, increment } = await serve('untyped')
      t.strictSame(await read('b'), { k: 'b', n: 2 })
      t.strictSame(await read('3'), { k: 3, n: 3 })
      await t.rejects(read('c'), { code: 'RECORD_NOT_FOUND' })
      await update('3', { n: 4 })
      await t.rejects(update('c', { n: 4 }), { code: 'RECORD_NOT_FOUND' })
      t.equal(scanned.length, 7)
      t.match(scanned.at(-1), /^SELECT 1 FROM "untyped" WHERE .*alive\(\)/)
      await increment('b', 'n')
      await t.rejects(increment('full', 'n'), { code: 'INCREMENT_OVERFLOW' })
      t.equal(scanned.length, 10)
      t.match(scanned.at(-1), /AS fits FROM "untyped" WHERE .*alive\(\)/)
    }
  )

  t.test('but not for a record that a reader thread makes in any case', async (t) => {
    const before = asked.length
    const { read } = await serve('sums')
    t.strictSame(await read('1'), { id: 1, a: 1, total: 2 })
    foreign.exec('DROP TABLE sums')
    await t.rejects(read('1'), { code: 'STRUCTURE_CHANGED' })
    t.equal(asked.length, before)
  })
})
