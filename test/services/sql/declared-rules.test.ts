import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { checksIn, raisesIn, ruleOfIndex } from '../../../services/sql/declared-rules.ts'

const DECLARATION = `CREATE TABLE t (id INTEGER PRIMARY KEY, "a b" INT CHECK ("a b" > 0),
  c INT constraint "c ""pos" check (c > 0) CHECK (abs(c) <> 7), d INT CHECK(  d  >  0 /* CHECK (x) */ ),
  e INT CHECK ([e] > 1 AND ("a b" < 5 OR \`c\` = 1)), f TEXT CHECK ('it''s ' || f <> 'it''s CHECK (y)'),
  CHECK (id < 100), CONSTRAINT later CHECK (d < 9 -- at most (8
  ))`

t.test('each CHECK of a table is found by the text that SQLite reports', async (t) => {
  const db = new BetterSqlite3(':memory:')
  t.teardown(() => db.close())
  db.exec(DECLARATION)
  const checks = checksIn(DECLARATION)
  const failing: Record<string, string> = {
    '"a b") VALUES (0)': '"a b" > 0',
    'c) VALUES (0)': 'c "pos',
    'd) VALUES (0)': 'd  >  0 /* CHECK (x) */',
    'e) VALUES (0)': '[e] > 1 AND ("a b" < 5 OR `c` = 1)',
    "f) VALUES ('CHECK (y)')": "'it''s ' || f <> 'it''s CHECK (y)'",
    'id) VALUES (100)': 'id < 100',
    'd) VALUES (9)': 'later'
  }
  for (const [values, label] of Object.entries(failing)) {
    let message = ''
    try {
      db.exec(`INSERT INTO t (${values}`)
    } catch (error) {
      message = String(Reflect.get(error as Error, 'message')).replace(/^CHECK constraint failed: /, '')
    }
    t.strictSame(
      checks.filter(({ reported }) => reported.includes(message)).map((check) => check.label),
      [label],
      message
    )
  }
})

t.test('a CHECK has the names of its expression, without texts and comments', async (t) => {
  const namesOf = (label: string) => [...(checksIn(DECLARATION).find((check) => check.label === label)?.names ?? [])]
  t.match(namesOf('[e] > 1 AND ("a b" < 5 OR `c` = 1)'), ['e', '>', '1', 'and', '(', 'a b'])
  t.strictSame(namesOf('d  >  0 /* CHECK (x) */'), ['d', '>', '0'])
  t.notOk(namesOf("'it''s ' || f <> 'it''s CHECK (y)'").includes('y'))
})

t.test('a CREATE TABLE statement without a CHECK has none', async (t) => {
  for (const sql of ['CREATE TABLE t (a)', 'CREATE TABLE t ("CHECK" TEXT)', "CREATE TABLE t (a DEFAULT 'CHECK (a)')"])
    t.strictSame(checksIn(sql), [], sql)
})

t.test('only literal messages of a trigger are found', async (t) => {
  const sql = `CREATE TRIGGER a BEFORE INSERT ON t BEGIN SELECT raise(ABORT, 'it''s full'); SELECT RAISE(IGNORE);
    SELECT RAISE(FAIL, new.a || ' is'); SELECT RAISE(ROLLBACK, 'no'); SELECT 'RAISE(ABORT, x)'; END`
  t.strictSame(
    raisesIn(sql).map(({ label }) => label),
    ["it's full", 'no']
  )
})

t.test('an index has the names of its expressions', async (t) => {
  const { label, names } = ruleOfIndex('t_b', 'CREATE UNIQUE INDEX t_b ON t (lower("B"), c) WHERE d > 0')
  t.equal(label, 't_b')
  for (const name of ['b', 'c', 'd']) t.ok(names.has(name), name)
  t.notOk(names.has('t'))
})
