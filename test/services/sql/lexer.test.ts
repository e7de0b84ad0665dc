import t from 'tap'
import {
  declaresAutoIncrement,
  declaresConflicts,
  declaresReplace,
  hasConflictClause,
  maySkip,
  nameIn,
  tablesCountedBy,
  textIn,
  tokenTexts,
  triggerTargets
} from '../../../services/sql/lexer.ts'

t.test('AUTOINCREMENT counts as a keyword only, not in a name, a text or a comment', async (t) => {
  t.ok(declaresAutoIncrement('CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT)'))
  t.ok(declaresAutoIncrement('create table t (id integer primary key/* c */autoincrement)'))
  for (const sql of [
    'CREATE TABLE t (id INTEGER PRIMARY KEY, "AUTOINCREMENT" TEXT)',
    'CREATE TABLE t (id INTEGER PRIMARY KEY, [a AUTOINCREMENT] TEXT)',
    'CREATE TABLE t (id INTEGER PRIMARY KEY, `AUTOINCREMENT` TEXT)',
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT DEFAULT 'it''s AUTOINCREMENT')",
    'CREATE TABLE t (id INTEGER PRIMARY KEY -- AUTOINCREMENT\n)',
    'CREATE TABLE t (id INTEGER PRIMARY KEY /* AUTOINCREMENT */)',
    'CREATE TABLE t (id INTEGER PRIMARY KEY, autoincrement_by INTEGER)',
    'CREATE TABLE "a""AUTOINCREMENT" (id INTEGER PRIMARY KEY)',
    ''
  ]) {
    t.notOk(declaresAutoIncrement(sql), sql)
  }
})

t.test('a conflict clause is found in any form', async (t) => {
  t.ok(declaresConflicts('CREATE TABLE t (a UNIQUE on -- really\n conflict IGNORE)'))
  t.notOk(
    declaresConflicts("CREATE TABLE t (a DEFAULT 'ON CONFLICT IGNORE', conflict, b REFERENCES t ON DELETE CASCADE)")
  )
})

t.test('a statement of a trigger has a conflict clause', async (t) => {
  for (const sql of ['INSERT OR REPLACE INTO t', 'update or ignore t', 'Replace /**/ INTO t'])
    t.ok(hasConflictClause(sql))
  for (const sql of ['INSERT INTO t', 'SELECT replace(a, b, c) OR 1', 'UPDATE t SET a = 1 OR 2']) {
    t.notOk(hasConflictClause(sql))
  }
})

t.test('ON CONFLICT REPLACE is found in any form, and replace() is not', async (t) => {
  t.ok(declaresReplace('CREATE TABLE t (a UNIQUE ON CONFLICT REPLACE)'))
  t.ok(declaresReplace('CREATE TABLE t (a UNIQUE on conflict -- really\n replace)'))
  t.notOk(declaresReplace("CREATE TABLE t (a CHECK (replace(a, 'x', '') = a))"))
  t.notOk(declaresReplace("CREATE TABLE t (a DEFAULT 'ON CONFLICT REPLACE', b UNIQUE ON CONFLICT IGNORE)"))
})

t.test('names are unquoted, and numbers and texts are no names', async (t) => {
  t.strictSame(['a', '"a ""b"""', '`a ``b```', '[a "b]', 'ä', "'a'", '5', '1.5', '+'].map(nameIn), [
    'a',
    'a "b"',
    'a `b`',
    'a "b',
    'ä',
    undefined,
    undefined,
    undefined,
    undefined
  ])
  t.strictSame(["'it''s'", '"a"', 'a'].map(textIn), ["it's", undefined, undefined])
})

t.test('numbers and operators are one token each', async (t) => {
  t.strictSame(tokenTexts('a>=1.5e-3 AND .5<>0x1F -- c\n!= 2. /* d */ <=x/* open'), [
    ...['a', '>=', '1.5e-3', 'AND', '.5', '<>', '0x1F', '!=', '2.', '<=', 'x']
  ])
})

t.test('the tables into which a trigger writes are found', async (t) => {
  const targets = (body: string) => triggerTargets(`CREATE TRIGGER g AFTER INSERT ON t BEGIN ${body}; END`)
  t.strictSame(targets('UPDATE a SET b = 1'), ['a'])
  t.strictSame(targets('UPDATE OR IGNORE "a ""b" SET b = 1'), ['a "b'])
  t.strictSame(targets('INSERT INTO [a] VALUES (1); REPLACE INTO `b` VALUES (1)'), ['a', 'b'])
  for (const body of ['UPDATE other SET b = 1', 'DELETE FROM t', "SELECT 'UPDATE t SET a' FROM t"])
    t.notOk(targets(body).includes('t'), body)
  t.strictSame(triggerTargets('UPDATE'), [])
})

t.test('the tables whose rows a trigger may add or remove', async (t) => {
  const counted = (body: string) => tablesCountedBy(`CREATE TRIGGER g AFTER DELETE ON t BEGIN ${body}; END`)
  t.strictSame(
    counted('DELETE FROM "a b"; INSERT OR REPLACE INTO [c] SELECT * FROM d; UPDATE OR REPLACE e SET x = 1'),
    ['a b', 'c', 'e']
  )
  t.strictSame(counted("DELETE FROM 'it''s'; SELECT 'DELETE FROM x' -- DELETE FROM y"), ["it's"])
  t.equal(counted('DELETE FROM 5'), null)
  t.equal(tablesCountedBy('DELETE FROM'), null)
  t.equal(maySkip('SELECT RAISE (IGNORE)'), true)
  t.equal(maySkip("SELECT RAISE(ABORT, 'IGNORE'); INSERT OR IGNORE INTO t VALUES (1)"), false)
})
