import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { foldName } from '../../../services/model/names.ts'
import { identifier, textLiteral } from '../../../services/sql/identifiers.ts'

const ODD_NAMES = [
  'select',
  'a"b',
  '"',
  '""',
  "it's",
  ' ',
  '',
  '__proto__',
  'rowid',
  'a;--',
  'a.b',
  '表',
  'a\nb',
  '[x]',
  '`',
  '%',
  '\\'
]

t.test('any name that SQLite accepts can be quoted, and is read back unchanged', async (t) => {
  const db = new BetterSqlite3(':memory:')
  t.teardown(() => db.close())
  for (const [index, name] of ODD_NAMES.entries()) {
    const table = identifier(`${name}${index}`)
    db.exec(`CREATE TABLE ${table} (${identifier(name)} TEXT)`)
    db.exec(`INSERT INTO ${table} (${identifier(name)}) VALUES (${textLiteral(name)})`)
    t.strictSame(
      db
        .prepare(`SELECT ${identifier(name)} FROM ${table}`)
        .raw()
        .all(),
      [[name]],
      JSON.stringify(name)
    )
    const declared = db.prepare('SELECT name FROM pragma_table_xinfo(?)').pluck().all(`${name}${index}`)
    t.strictSame(declared, [name])
  }
})

t.test('NUL would end the statement, so it is rejected', async (t) => {
  t.throws(() => identifier('a\0b'), { message: /must not contain NUL/ })
  t.throws(() => textLiteral('a\0b'), { message: /must not contain NUL/ })
})

t.test('case folding is that of SQLite: ASCII only', async (t) => {
  t.equal(foldName('AZaz09_Ä\u212a'), 'azaz09_Ä\u212a')
})
