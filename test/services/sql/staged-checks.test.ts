import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { LINE_COLUMN, STAGED_TABLE } from '../../../services/sql/staged.ts'
import { recordsInFile, selectLongTexts, selectTextBytes, selectWrong } from '../../../services/sql/staged-checks.ts'

t.test('a check of the file alone reads no stored record', async (t) => {
  const db = new BetterSqlite3(':memory:')
  t.teardown(() => db.close())
  db.exec(`ATTACH ':memory:' AS staged;
    CREATE TABLE staged.${STAGED_TABLE} (${LINE_COLUMN} INTEGER, name TEXT);
    INSERT INTO staged.${STAGED_TABLE} VALUES (2, 'short'), (3, 'a longer text'), (4, 'another long text');`)
  const run = (selection: Parameters<typeof selectWrong>[0]) => {
    const { sql, params } = selectWrong(selection, recordsInFile(selection), 1)
    return db.prepare(sql).all(...params)
  }
  t.strictSame(run(selectLongTexts(['name'], 10)), [{ line: 3, total: 2 }], 'the first line, and the number of lines')
  t.match(run(selectTextBytes(['name'])), [{ total: 35 }])
})
