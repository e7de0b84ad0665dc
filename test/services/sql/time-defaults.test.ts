import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { timeDefaults } from '../../../services/sql/replicable.ts'

const raw = new BetterSqlite3(':memory:')
t.teardown(() => raw.close())

/** Returns the expression of a column that is declared like this. */
const expressionOf = (column: string) => {
  const sql = `CREATE TABLE t (id INTEGER PRIMARY KEY, "at" ${column})`
  raw.exec(`${sql}; DROP TABLE t`)
  const table = { type: 'table', name: 't', tableName: 't', sql, hasPages: true, isWithoutRowid: false }
  return timeDefaults(table).get('at')
}

for (const value of [
  'CURRENT_TIMESTAMP',
  'current_date',
  '(CURRENT_TIME)',
  '(datetime())',
  "(date('now'))",
  "(time('NOW'))",
  '(unixepoch())',
  "(unixepoch('subsec'))",
  "(unixepoch('now', 'SubSec') * 1000)",
  '(julianday())',
  "(strftime('%s', 'now'))",
  "(strftime('%Y-%m-%dT%H:%M:%fZ'))",
  "(CAST(strftime('%s', 'now') AS INTEGER))",
  "(datetime('now', '+1 day', 'start of month'))",
  "(CURRENT_DATE || 'T' || /* of UTC */ CURRENT_TIME)",
  "(json_object('at', datetime('now')) ->> '$.at')"
]) {
  t.test(`the default ${value} is computed from a parameter`, async (t) => {
    const expression = expressionOf(`TEXT NOT NULL DEFAULT ${value} CHECK (length("at") > 0)`)
    t.equal(expression?.sql.split('?').length, Number(expression?.times) + 1)
    // Within one statement, SQLite's current time does not change.
    const fixed = expression?.sql.replaceAll('?', "(SELECT unixepoch('now', 'subsec'))")
    const row = raw
      .prepare<[], { stored: unknown; sent: unknown }>(`SELECT (${value}) AS stored, (${fixed}) AS sent`)
      .get()
    t.ok(row?.stored)
    t.equal(row?.sent, row?.stored)
  })
}

for (const column of [
  'TEXT',
  'TEXT DEFAULT 5',
  "TEXT DEFAULT 'CURRENT_TIMESTAMP'",
  "TEXT DEFAULT (date('2026-01-31'))",
  'DEFAULT (random())',
  "DEFAULT (datetime('now') || random())",
  "DEFAULT (datetime('now', 'localtime'))",
  "DEFAULT (datetime('now', lower('localtime')))",
  "DEFAULT (timediff('now', '2026-01-31'))",
  'DEFAULT (strftime())',
  "DEFAULT (date(lower('NOW')))",
  'DEFAULT (date(datetime()))',
  `DEFAULT ("abs"(1) || CURRENT_DATE)`,
  'NOT NULL ON CONFLICT REPLACE DEFAULT CURRENT_TIMESTAMP'
]) {
  t.test(`a column declared ${column} has no such default`, async (t) => {
    t.equal(expressionOf(column), undefined)
  })
}

t.test('a time that is sent has the precision of the default', async (t) => {
  const { sql = '' } = expressionOf("DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now'))") ?? {}
  t.equal(raw.prepare(`SELECT ${sql}`).pluck().get(1764209000.999), '2025-11-27 02:03:20.999')
})
