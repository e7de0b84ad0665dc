import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { createRecordInserts } from '../../../../services/engine/staging/record-inserts.ts'
import { createRefusals } from '../../../../services/engine/staging/refusals.ts'
import { LINE_COLUMN, STAGED_TABLE } from '../../../../services/sql/staged.ts'

/** Stores records with these values, one in each line, and returns what was stored and what was refused. */
const store = (values: readonly number[]) => {
  const db = new BetterSqlite3(':memory:')
  db.exec(`CREATE TABLE ${STAGED_TABLE} (v INTEGER CHECK (v <> 13), ${LINE_COLUMN} INTEGER)`)
  let stored = 0
  const refused: number[] = []
  const inserts = createRecordInserts(db, ['v'], {
    onStored: (count) => {
      stored += count
    },
    onRefused: (line) => refused.push(line),
    explainRefusal: createRefusals({ declarations: [''], fields: [] })
  })
  for (const [line, value] of values.entries()) inserts.add(line, [value])
  inserts.flush()
  const rows = db.prepare(`SELECT ${LINE_COLUMN} FROM ${STAGED_TABLE} ORDER BY rowid`).pluck().all()
  db.close()
  return { stored, refused, rows }
}

const lines = (count: number) => Array.from({ length: count }, (_, line) => line)

t.test('stores records in their order, in statements of several and of one', async (t) => {
  for (const count of [1, 16, 40])
    t.same(store(lines(count).map(() => 1)), { stored: count, refused: [], rows: lines(count) })
})

t.test('a record that SQLite refuses leaves the others of its statement stored', async (t) => {
  const expected = { stored: 38, refused: [3, 39], rows: lines(40).filter((line) => line !== 3 && line !== 39) }
  t.same(store(lines(40).map((line) => (line === 3 || line === 39 ? 13 : 1))), expected)
})
