import t from 'tap'
import { openConnection } from '../../../services/engine/shared/connection.ts'
import { createSqliteDialect } from '../../../services/engine/shared/sqlite-dialect.ts'
import type { Column, RegisteredTable } from '../../../services/model/table.ts'
import { aggregateRows, countOfRecords, fieldGroup } from '../../../services/sql/aggregates.ts'

const ROWS = 10_000
const column = { name: 'name', jsonType: 'string', sqliteType: 'TEXT', declaredType: 'TEXT' } as Column
const structure = { columns: [column], isStrict: false, key: ['id'], isRowidKey: true, rowid: 'id' }
const table = { name: 't', structure } as unknown as RegisteredTable
const dialect = createSqliteDialect()
const selection = { table, dialect, rows: null, filter: null, joins: [] }
const shape = { tableName: 't', isStrict: false, dialect, integers: 'auto' as const }

t.test('the guard of an aggregate is also called for the rows that SQLite has sorted', async (t) => {
  const { raw, run, rows } = openConnection({ file: ':memory:', readonly: false, busyTimeout: 0, cacheSize: 1 })
  t.teardown(() => raw.close())
  let calls = 0
  raw.function('alive', { deterministic: false }, () => {
    calls += 1
    return 1
  })
  run('CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)', [])
  run(
    `WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS}) INSERT INTO t SELECT i, i % 10 FROM n`,
    []
  )
  const callsWith = (groups: readonly Column[]) => {
    calls = 0
    const aggregation = {
      selection,
      groups: groups.map((column) => fieldGroup(shape, column)),
      having: null,
      order: []
    }
    const { sql, params } = aggregateRows({ ...aggregation, computed: [countOfRecords('n')], limit: 100 })
    const [row] = rows(sql, params)
    return { calls, groups: JSON.parse(`[${row?.text}]`).length }
  }
  const whole = callsWith([])
  t.equal(whole.groups, 1)
  t.strictSame(callsWith([column]), { calls: 2 * whole.calls, groups: 10 })
})
