import t from 'tap'
import { openConnection } from '../../../services/engine/shared/connection.ts'
import { createSqliteDialect } from '../../../services/engine/shared/sqlite-dialect.ts'
import type { SqlValue } from '../../../services/model/sql-value.ts'
import type { Column, RegisteredTable } from '../../../services/model/table.ts'
import { jsonText } from '../../../services/sql/record-text.ts'
import { createSqlTexts, recordStatements } from '../../../services/sql/records.ts'
import { toUnit } from '../../../services/sql/unit-values.ts'

const dialect = createSqliteDialect()

const column = (name: string, isPrimary: boolean) =>
  ({
    name,
    jsonType: 'string',
    sqliteType: 'TEXT',
    declaredType: 'TEXT',
    isPrimary,
    ...(isPrimary && { keyDefault: "'made'" })
  }) as Column

const COLUMNS = [column('k', true), column('v', false)] as const

const statementsOf = (rowid: string | null) => {
  const structure = { columns: COLUMNS, isStrict: false, key: ['k'], isRowidKey: false, rowid, autoTimestamps: false }
  const table = { name: 't', structure } as unknown as RegisteredTable
  const shape = { tableName: 't', isStrict: false, columns: COLUMNS, dialect, integers: 'auto' as const }
  return recordStatements(table, jsonText(shape), { dialect, rows: null, texts: createSqlTexts() })
}

const startConnection = (tableOptions: string) => {
  const connection = openConnection({ file: ':memory:', readonly: false, busyTimeout: 0, cacheSize: 1 })
  t.teardown(() => connection.close())
  connection.raw.exec(`
    CREATE TABLE _rowhouse_meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO _rowhouse_meta VALUES ('version', 1);
    CREATE TABLE _rowhouse_unit_values (part INTEGER PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
    CREATE TABLE t (k TEXT PRIMARY KEY DEFAULT 'made', v TEXT) ${tableOptions};
  `)
  return connection
}

const AFTER_INSERT = `CREATE TRIGGER upper_case AFTER INSERT ON t BEGIN
  UPDATE t SET v = upper(v) WHERE k = new.k;
END`

for (const [tableOptions, rowid] of [
  ['', 'rowid'],
  ['WITHOUT ROWID', null]
] as const) {
  t.test(`an insert returns the record ${tableOptions}`, async (t) => {
    const { insert } = statementsOf(rowid)
    const values = (k: string, v: SqlValue) => [[COLUMNS[0], k] as const, [COLUMNS[1], v] as const]
    const { raw, run, value } = startConnection(tableOptions)
    const runUnit = ({ before, unit }: ReturnType<typeof insert>) =>
      toUnit([...before, ...unit])
        .map(({ sql, params }) => run(sql, params as readonly SqlValue[]))
        .find(({ rows }) => rows.length > 0)?.rows ?? []

    t.test('by one statement if the table has no triggers', async (t) => {
      const created = insert(values('a', 'x'), false)
      t.equal(created.unit.length, 1)
      t.strictSame(runUnit(created), [{ record: '{"k":"a","v":"x"}' }])
      t.strictSame(runUnit(insert([], false)), [{ record: '{"k":"made","v":null}' }])
    })

    t.test('after its triggers have run, and changes nothing else', async (t) => {
      raw.exec(AFTER_INSERT)
      const created = insert(values('b', 'x'), true)
      t.notOk(created.unit.some(({ sql }) => /^\s*SELECT/.test(sql)))
      t.strictSame(runUnit(created), [{ record: '{"k":"b","v":"X"}' }])
      t.strictSame(raw.prepare('SELECT * FROM _rowhouse_meta').all(), [{ key: 'version', value: 1 }])
    })

    t.test('and returns no row if a trigger deletes the record', async (t) => {
      raw.exec('CREATE TRIGGER deleting AFTER INSERT ON t BEGIN DELETE FROM t WHERE k = new.k; END')
      const created = insert(values('c', 'x'), true)
      t.equal(created.unit.at(-1)?.expect, 1)
      t.strictSame(runUnit(created), [])
      t.equal(value("SELECT count(*) FROM t WHERE k = 'c'"), 0)
    })
  })
}
