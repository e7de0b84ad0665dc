import t from 'tap'
import { declaresAutoIncrement, declaresReplace } from '../../../services/sql/lexer.ts'

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

t.test('ON CONFLICT REPLACE is found in any form, and replace() is not', async (t) => {
  t.ok(declaresReplace('CREATE TABLE t (a UNIQUE ON CONFLICT REPLACE)'))
  t.ok(declaresReplace('CREATE TABLE t (a UNIQUE on conflict -- really\n replace)'))
  t.notOk(declaresReplace("CREATE TABLE t (a CHECK (replace(a, 'x', '') = a))"))
  t.notOk(declaresReplace("CREATE TABLE t (a DEFAULT 'ON CONFLICT REPLACE', b UNIQUE ON CONFLICT IGNORE)"))
})
