import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { fromJsonRows, joinRows, rowJson } from '../../../services/sql/json-rows.ts'
import { joinTerms } from '../../../services/sql/terms.ts'

/** Literals of SQL. */
const VALUES = [
  'NULL',
  "''",
  "x''",
  "x'00ff41'",
  '9223372036854775807',
  '-9223372036854775807 - 1',
  '9007199254740993',
  '5',
  '5.0',
  '0.1',
  '0.30000000000000004',
  '1.7976931348623157e308',
  '5e-324',
  '123456789012345680.0',
  '1e999',
  '-1e999',
  "'5'",
  "'5.0'",
  "'007'",
  "'x''41'''",
  "'[1]'",
  `'{"x":"41"}'`,
  "'null'",
  `'a{"x":'`,
  "'\"\\/'",
  "'😀 ü'",
  "'a' || char(0, 10, 127, 8232) || 'b'"
]

const TYPES = ['', 'INTEGER', 'REAL', 'TEXT', 'BLOB', 'NUMERIC', 'BOOLEAN']
const STRICT_TYPES = ['INTEGER', 'REAL', 'TEXT', 'BLOB', 'ANY']

const openDatabase = () => {
  const db = new BetterSqlite3(':memory:')
  t.teardown(() => db.close())
  return db
}

/** Sends all rows of `source` to `target` as JSON text. Returns the number of rows that are not exactly the same. */
const countDifferent = (db: BetterSqlite3.Database, columns: readonly string[]) => {
  const json = db
    .prepare(`SELECT ${joinRows(rowJson(['rowid', ...columns]))} FROM source`)
    .pluck()
    .get() as string
  const { from, params } = fromJsonRows(['position', ...columns], json)
  db.prepare(`INSERT INTO target SELECT ${columns.join(', ')} FROM ${from} AS sent ORDER BY position`).run(...params)
  const differs = columns.map(
    (name) => `typeof(s.${name}) <> typeof(t.${name}) OR s.${name} IS NOT t.${name} OR hex(s.${name}) <> hex(t.${name})`
  )
  return db
    .prepare(
      `SELECT count(*) FROM source AS s LEFT JOIN target AS t ON t.rowid = s.rowid WHERE ${joinTerms(differs, 'OR')}`
    )
    .pluck()
    .get()
}

for (const [types, option] of [
  [TYPES, ''],
  [STRICT_TYPES, ' STRICT']
] as const)
  for (const type of types)
    t.test(`each value of a column ${type}${option} arrives as it is`, async (t) => {
      const db = openDatabase()
      for (const name of ['source', 'target']) db.exec(`CREATE TABLE ${name} (v ${type})${option}`)
      const stored = VALUES.filter((value) => {
        try {
          return db.prepare(`INSERT INTO source SELECT ${value}`).run().changes === 1
        } catch {
          return false
        }
      })
      t.ok(stored.length >= 3, `SQLite stores ${stored.length} of the values`)
      t.equal(countDifferent(db, ['v']), 0)
      t.equal(db.prepare('SELECT count(*) FROM target').pluck().get(), stored.length)
    })

t.test('rows without a BLOB are read without a test of each value', async (t) => {
  t.notMatch(fromJsonRows(['v'], '[["a"],[1]]').from, /json_type/)
  t.match(fromJsonRows(['v'], '[[{"x":"41"}]]').from, /unhex/)
})

t.test('no rows are an empty list', async (t) => {
  const db = openDatabase()
  t.equal(
    db
      .prepare(`SELECT ${joinRows(rowJson(['v']))} FROM (SELECT 1 AS v WHERE FALSE)`)
      .pluck()
      .get(),
    '[]'
  )
})

t.test('a row may have more values than a function has arguments', async (t) => {
  const db = openDatabase()
  const columns = Array.from({ length: 1200 }, (_, index) => `c${index}`)
  for (const name of ['source', 'target']) db.exec(`CREATE TABLE ${name} (${columns.join(', ')})`)
  db.exec(`INSERT INTO source VALUES (${columns.map((_, index) => VALUES[index % VALUES.length]).join(', ')})`)
  t.equal(countDifferent(db, columns), 0)
})
