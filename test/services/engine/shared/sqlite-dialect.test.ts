import t from 'tap'
import { openConnection } from '../../../../services/engine/shared/connection.ts'
import { createSqliteDialect } from '../../../../services/engine/shared/sqlite-dialect.ts'

const ROWS = 20_000

const connection = openConnection({ file: ':memory:', readonly: false, busyTimeout: 0, cacheSize: 1 })
t.teardown(() => connection.close())

let calls = 0
connection.raw.function('alive', { deterministic: false }, () => {
  calls += 1
  return 1
})

/** The number of rows that the guard lets through, and of calls of `alive()` for them. */
const countGuarded = (table: string, rowid: string | null) => {
  calls = 0
  const { scanGuard } = createSqliteDialect()
  const rows = connection.value(`SELECT count(*) FROM ${table} WHERE ${scanGuard(rowid)}`)
  return { rows, calls }
}

t.test('base64() encodes a BLOB', async (t) => {
  t.equal(connection.value(`SELECT ${createSqliteDialect().base64("x'00ff'")}`), 'AP8=')
})

t.test('the guard is true for every row, and is called for some of them, whatever the step between keys', async (t) => {
  for (const [name, step] of Object.entries({ one: 1n, two: 2n, thousand: 1000n, wide: 2n ** 48n, negative: -10n })) {
    connection.run(`CREATE TABLE ${name} (id INTEGER PRIMARY KEY)`, [])
    connection.run(
      `WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS}) INSERT INTO ${name} SELECT i * ? FROM n`,
      [step]
    )
    const guarded = countGuarded(name, 'id')
    t.equal(guarded.rows, ROWS, name)
    t.ok(guarded.calls > 250 && guarded.calls < 400, `${guarded.calls} calls for steps of ${step}`)
  }
})

t.test('without a rowid the guard is called for each row', async (t) => {
  t.strictSame(countGuarded('one', null), { rows: ROWS, calls: ROWS })
})
