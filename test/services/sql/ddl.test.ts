import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import type { SqlValue } from '../../../services/model/sql-value.ts'
import { addColumnSql, createTableSql } from '../../../services/sql/ddl.ts'
import { declareField, declareStructure } from '../../../services/tables/changes/new-table.ts'

const declare = (fields: Parameters<typeof declareStructure>[0]['fields']) =>
  declareStructure({ name: 't', label: '', fields })

t.test('a declared table becomes a STRICT table with the declared key', async (t) => {
  const { structure, declarations } = declare([
    { name: 'code', jsonType: 'string', isPrimary: true },
    { name: 'select', jsonType: 'integer', nullable: false },
    { name: 'on', jsonType: 'boolean', defaultValue: true },
    { name: 'price', jsonType: 'number', defaultValue: 5 }
  ])
  t.equal(
    createTableSql('order', declarations, structure.key),
    'CREATE TABLE "order" ("code" TEXT PRIMARY KEY NOT NULL, "select" INTEGER NOT NULL, "on" INTEGER DEFAULT 1, "price" REAL DEFAULT 5e+0) STRICT'
  )
})

t.test('an integer key is the rowid, with AUTOINCREMENT if it is declared', async (t) => {
  const sql = (isAutoIncrement: boolean) => {
    const { structure, declarations } = declare([{ name: 'n', jsonType: 'integer', isPrimary: true, isAutoIncrement }])
    return createTableSql('t', declarations, structure.key)
  }
  t.equal(sql(false), 'CREATE TABLE "t" ("n" INTEGER PRIMARY KEY) STRICT')
  t.equal(sql(true), 'CREATE TABLE "t" ("n" INTEGER PRIMARY KEY AUTOINCREMENT) STRICT')
})

t.test('every default is read back with the same bits', async (t) => {
  const db = new BetterSqlite3(':memory:')
  t.teardown(() => db.close())
  db.defaultSafeIntegers()
  const stored = (column: string, value: SqlValue) => {
    const { column: field } = declareField({
      name: 'a',
      jsonType: column === 'REAL' ? 'number' : column === 'TEXT' ? 'string' : 'integer'
    })
    db.exec('DROP TABLE IF EXISTS t; CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT')
    db.exec(addColumnSql('t', { column: { ...field, sqliteType: column as 'REAL' }, defaultValue: value }))
    return db.prepare('INSERT INTO t DEFAULT VALUES RETURNING a').pluck().get()
  }
  for (const number of [0.1, 1e-7, -2.5, 5e-324, 1.7976931348623157e308, 1e21, 9007199254740992, 0]) {
    t.equal(stored('REAL', number), number, String(number))
  }
  for (const integer of [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)])
    t.equal(stored('INTEGER', integer), integer, String(integer))
  for (const text of ['', "it's", 'NULL', '1', '"', '\n', '--', '表']) t.equal(stored('TEXT', text), text)
  t.strictSame([...(stored('BLOB', new Uint8Array([0, 255])) as Uint8Array)], [0, 255])
  t.equal(stored('TEXT', null), null)
})
