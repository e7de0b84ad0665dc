import t from 'tap'
import { openConnection } from '../../../services/engine/shared/connection.ts'
import { createSqliteDialect } from '../../../services/engine/shared/sqlite-dialect.ts'
import type { Column } from '../../../services/model/table.ts'
import { csvText, jsonText } from '../../../services/sql/record-text.ts'

const dialect = createSqliteDialect()

const db = openConnection({ file: ':memory:', readonly: false, busyTimeout: 0, cacheSize: 1 }).raw
t.teardown(() => db.close())

const column = (name: string, jsonType: Column['jsonType'], sqliteType: Column['sqliteType']) =>
  ({ name, jsonType, sqliteType, declaredType: sqliteType }) as Column

const COLUMNS = [column('a "b"', 'string', 'TEXT'), column('n', 'integer', 'INTEGER'), column('r', 'number', 'REAL')]

const shape = (isStrict: boolean, columns: readonly Column[] = COLUMNS) => ({
  tableName: 't',
  isStrict,
  columns,
  dialect,
  integers: 'auto' as const
})

const widths = (isStrict: boolean, ...values: readonly unknown[]) => {
  const json = jsonText(shape(isStrict))
  const csv = csvText(shape(isStrict), true)
  const row = db
    .prepare(
      `SELECT ${json.width} AS json, ${json.text} AS jsonText, ${csv.width} AS csv, ${csv.text} AS csvText
        FROM (SELECT ? AS "a ""b""", ? AS n, ? AS r) AS t`
    )
    .get(...values) as { json: number; jsonText: string; csv: number; csvText: string }
  return { ...row, json: row.json - row.jsonText.length, csv: row.csv - row.csvText.length }
}

t.test('the width of a record is about the length of its text', async (t) => {
  for (const isStrict of [true, false]) {
    for (const values of [
      ['x'.repeat(10_000), 1, 1.5],
      [null, null, null],
      ['', 2 ** 40, 1e-300]
    ]) {
      const { json, csv } = widths(isStrict, ...values)
      t.ok(Math.abs(json) < 30 && Math.abs(csv) < 30, `${isStrict} ${String(values).slice(0, 20)} ${json} ${csv}`)
    }
  }
})

t.test('text and BLOBs in number columns of tables that are not STRICT are counted', async (t) => {
  const { json, csv } = widths(false, 'x', 'y'.repeat(10_000), Buffer.alloc(900))
  t.ok(json > -400 && csv > -400, 'bytes grow by a third in base64')
})

t.test('a record costs at least its names; BLOBs cost more; generated columns have no limit', async (t) => {
  t.equal(jsonText(shape(true)).minCost, 'a "b"'.length + 2 + 3 * 4 + 2 * 8)
  t.equal(jsonText(shape(false)).minCost, 'a "b"'.length + 2 + 3 * 4)
  t.equal(csvText(shape(false), true).minCost, 9)
  t.equal(jsonText(shape(true, [column('b', 'string', 'BLOB')])).minCost, 1 + 4 + 64)
  const generated = { ...column('g', 'integer', 'INTEGER'), isGenerated: true }
  t.equal(jsonText(shape(true, [generated])).minCost, Number.POSITIVE_INFINITY)
})
