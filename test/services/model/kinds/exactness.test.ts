import fc from 'fast-check'
import t from 'tap'
import type { JsonType, SqliteType } from '../../../../schemas/table.ts'
import { openConnection } from '../../../../services/engine/shared/connection.ts'
import type { CsvContext, JsonContext } from '../../../../services/model/kinds/kind.ts'
import { kindOf } from '../../../../services/model/kinds/kind-of.ts'
import type { SqlValue } from '../../../../services/model/sql-value.ts'

/** The plain form of each rule, slow and easy to check: one branch for each storage class. */
const plainJson = (value: string) => `CASE typeof(${value})
  WHEN 'integer' THEN iif(${value} BETWEEN -9007199254740991 AND 9007199254740991, ${value}, CAST(${value} AS TEXT))
  WHEN 'real' THEN iif(abs(${value}) <= 1.7976931348623157e308, ${value}, NULL)
  WHEN 'blob' THEN base64(${value}) ELSE ${value} END`

const quoted = (text: string) => `'"' || replace(${text}, '"', '""') || '"'`
const plainCsv = (value: string) => `CASE typeof(${value}) WHEN 'integer' THEN ${value}
  WHEN 'real' THEN iif(abs(${value}) <= 1.7976931348623157e308, ${value}, NULL)
  WHEN 'blob' THEN '"' || base64(${value}) || '"' ELSE ${quoted(value)} END`

type PlainForm = readonly [json: string, csv: string]
const same: PlainForm = [plainJson('v'), plainCsv('v')]
const plainForms: Record<string, PlainForm> = {
  boolean: [
    `CASE v WHEN 0 THEN json('false') WHEN 1 THEN json('true') ELSE ${plainJson('v')} END`,
    `CASE v WHEN 0 THEN 'false' WHEN 1 THEN 'true' ELSE ${plainCsv('v')} END`
  ],
  json: [`CASE WHEN typeof(v) = 'text' AND json_valid(v) THEN json(v) ELSE ${plainJson('v')} END`, plainCsv('v')]
}

const KINDS: readonly (readonly [JsonType, SqliteType, string])[] = [
  ['integer', 'INTEGER', 'INTEGER'],
  ['number', 'REAL', 'REAL'],
  ['number', 'NUMERIC', 'DECIMAL(10, 2)'],
  ['boolean', 'INTEGER', 'INTEGER'],
  ['boolean', 'NUMERIC', 'BOOLEAN'],
  ['boolean', 'TEXT', 'TEXT'],
  ['object', 'TEXT', 'TEXT'],
  ['array', 'BLOB', 'BLOB'],
  ['string', 'TEXT', 'VARCHAR(5)'],
  ['string', 'NUMERIC', 'DATETIME'],
  ['string', 'BLOB', 'BLOB'],
  ['string', 'BLOB', '']
]

const ODD_VALUES = `
  (NULL), (0), (1), (-1), (2), (9007199254740991), (9007199254740992), (9007199254740993), (-9007199254740991),
  (-9007199254740992), (9223372036854775807), (-9223372036854775808), (0.0), (-0.0), (1.0), (0.1), (1.5), (1e15),
  (9007199254740991.0), (9007199254740992.0), (-9007199254740992.0), (9223372036854775808.0), (5e-324),
  (2.2250738585072014e-308), (1.7976931348623157e308), (-1.7976931348623157e308), (9e999), (-9e999), (''), (' '), ('x'),
  ('0'), ('1'), ('12'), ('1.5'), ('9007199254740993'), ('9e999'), ('NaN'), ('true'), ('"'), ('a"b'), (char(0)),
  ('a' || char(0) || 'b'), (char(65279)), (char(128512)), (char(1114111)), ('{"a":1}'), ('[]'), ('{a:1}'), ('null'),
  (x''), (x'00'), (x'ff'), (x'f8'), (x'7b7d'), (zeroblob(3)), (zeroblob(5000)), (printf('%.5000c', 'x')),
  (CAST(x'ff41' AS TEXT)), (CAST(x'c3' AS TEXT)), (CAST(x'eda080' AS TEXT)), (CAST(x'00d8' AS TEXT))`

const anyValue: fc.Arbitrary<SqlValue> = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.double({ noNaN: true }),
  fc.string({ unit: 'binary' }),
  fc.uint8Array()
)

/**
 * Stores values in a column that converts none, and declares its type afterwards. So every storage class is in every
 * column, also those that the affinity of the column would have converted.
 */
const createColumn = (encoding: string, declaration: string) => {
  const connection = openConnection({ file: ':memory:', readonly: false, busyTimeout: 0, cacheSize: 1 })
  const { raw } = connection
  raw.pragma(`encoding = '${encoding}'`)
  raw.exec('CREATE TABLE t (v)')
  raw.exec(`INSERT INTO t VALUES ${ODD_VALUES}`)
  const insert = raw.prepare('INSERT INTO t VALUES (?)')
  for (const value of fc.sample(anyValue, 200)) insert.run(value)
  raw.unsafeMode()
  raw.exec(`
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = 'CREATE TABLE t (v ${declaration})';
    PRAGMA writable_schema = RESET;
  `)
  t.teardown(() => connection.close())
  return raw
}

const context: CsvContext & JsonContext = {
  isStrict: false,
  escapesFormulas: false,
  integers: 'auto',
  base64: (value) => `base64(${value})`
}

for (const encoding of ['UTF-8', 'UTF-16le']) {
  for (const [jsonType, sqliteType, declaredType] of KINDS) {
    const { name, json, csv } = kindOf({ jsonType, sqliteType, declaredType })
    const title = `every value of the kind ${name} in a column '${declaredType}' (${encoding}) is shown by its storage class`
    t.test(title, async (t) => {
      const db = createColumn(encoding, declaredType)
      const [plainAsJson, plainAsCsv] = plainForms[name] ?? same
      const select = (asJson: string, asCsv: string) =>
        db
          .prepare(
            `SELECT quote(v) AS stored, hex(json_object('v', ${asJson})) AS json, hex(${asCsv}) AS csv, ${asCsv} IS NULL AS empty FROM t`
          )
          .all()
      const rows = select(json('v', context), csv('v', context))
      t.ok(rows.length > 250)
      t.strictSame(rows, select(plainAsJson, plainAsCsv))
    })
  }
}

t.test('a number is shown although the collation of its column is unknown here', async (t) => {
  const { json, csv } = kindOf({ jsonType: 'integer', sqliteType: 'INTEGER', declaredType: 'INTEGER' })
  const db = createColumn('UTF-8', 'INTEGER COLLATE of_another_program')
  for (const isStrict of [true, false]) {
    const values = { ...context, isStrict }
    const sql = `SELECT json_object('v', ${json('v', values)}) AS json, ${csv('v', values)} AS csv FROM t WHERE rowid = 4`
    t.strictSame(db.prepare(sql).get(), { json: '{"v":-1}', csv: -1 })
  }
})
