import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { JsonType } from '../../../schemas/table.ts'
import { storedTypeOf } from '../../../services/model/column-types.ts'
import type { Row } from '../../../services/model/sql-value.ts'
import { defaultAs, defaultValueOf, describeTable, toStructure } from '../../../services/sql/introspection.ts'

const structureOf = (t: Test, sql: string, name = 't') => {
  const db = new BetterSqlite3(':memory:')
  t.teardown(() => db.close())
  db.exec(sql)
  const { sql: describe, params } = describeTable(name)
  return toStructure(db.prepare(describe).get(...params) as Row)
}

t.test('the key and the rowid of a table are read from its declaration', async (t) => {
  const keyOf = (t: Test, sql: string) => {
    const { key, isRowidKey, rowid } = structureOf(t, sql) ?? {}
    return { key, isRowidKey, rowid }
  }
  const expected: Record<string, object> = {
    'CREATE TABLE t (id INTEGER PRIMARY KEY, a)': { key: ['id'], isRowidKey: true, rowid: 'id' },
    'CREATE TABLE t (a, PRIMARY KEY (a))': { key: ['a'], isRowidKey: false, rowid: 'rowid' },
    'CREATE TABLE t (id INT PRIMARY KEY)': { key: ['id'], isRowidKey: false, rowid: 'rowid' },
    'CREATE TABLE t (id INTEGER PRIMARY KEY DESC)': { key: ['id'], isRowidKey: false, rowid: 'rowid' },
    'CREATE TABLE t (a TEXT, b INTEGER, PRIMARY KEY (b, a))': { key: ['b', 'a'], isRowidKey: false, rowid: 'rowid' },
    'CREATE TABLE t (id INTEGER PRIMARY KEY) WITHOUT ROWID': { key: ['id'], isRowidKey: false, rowid: null },
    'CREATE TABLE t (a TEXT)': { key: ['rowid'], isRowidKey: true, rowid: 'rowid' },
    'CREATE TABLE t (RowId TEXT)': { key: ['_rowid_'], isRowidKey: true, rowid: '_rowid_' },
    'CREATE TABLE t (rowid TEXT, _ROWID_ TEXT)': { key: ['oid'], isRowidKey: true, rowid: 'oid' },
    'CREATE TABLE t (rowid INTEGER PRIMARY KEY)': { key: ['rowid'], isRowidKey: true, rowid: 'rowid' },
    'CREATE TABLE t (rowid TEXT PRIMARY KEY)': { key: ['rowid'], isRowidKey: false, rowid: '_rowid_' },
    'CREATE TABLE t (k TEXT PRIMARY KEY, rowid, _rowid_, oid)': { key: ['k'], isRowidKey: false, rowid: null }
  }
  for (const [sql, key] of Object.entries(expected)) t.strictSame(keyOf(t, sql), key, sql)
})

t.test('a table without a key and without a name for its rowid has no structure', async (t) => {
  t.equal(structureOf(t, 'CREATE TABLE t (rowid, _rowid_, oid)'), null)
})

t.test('columns are read as they are declared', async (t) => {
  const structure = structureOf(
    t,
    `CREATE TABLE t (
      id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT NOT NULL DEFAULT 'x', g INTEGER GENERATED ALWAYS AS (id * 2) VIRTUAL,
      s TEXT AS (a || '!') STORED, untyped, "" TEXT, "a""b" REAL, "__proto__" BOOLEAN DEFAULT 1
    )`
  )
  t.match(structure?.columns, [
    { name: 'id', isPrimary: true, isAutoIncrement: true, nullable: true, sqliteType: 'INTEGER', jsonType: 'integer' },
    { name: 'a', isPrimary: false, isAutoIncrement: false, nullable: false, defaultValue: 'x' },
    { name: 'g', isGenerated: true, isReadonly: true, jsonType: 'integer' },
    { name: 's', isGenerated: true, isReadonly: true, jsonType: 'string' },
    { name: 'untyped', sqliteType: 'BLOB', jsonType: 'string', declaredType: '' },
    { name: '', label: '' },
    { name: 'a"b', sqliteType: 'REAL' },
    { name: '__proto__', jsonType: 'boolean', defaultValue: true }
  ])
  t.equal(structure?.columns.length, 8)
})

t.test('the rowid of a table without a key is its first column', async (t) => {
  const structure = structureOf(t, 'CREATE TABLE t (a TEXT)')
  t.match(structure?.columns, [
    { name: 'rowid', isPrimary: true, jsonType: 'integer', isReadonly: false },
    { name: 'a' }
  ])
})

t.test('foreign keys are read with their targets', async (t) => {
  const parents = `CREATE TABLE Parent (id INTEGER PRIMARY KEY, code TEXT UNIQUE); CREATE TABLE pair (a, b, PRIMARY KEY (b, a));
    CREATE TABLE keyless (a); CREATE VIEW broken AS SELECT * FROM nowhere; CREATE VIRTUAL TABLE words USING fts5(a)`
  const foreignKeysOf = (columns: string) =>
    structureOf(t, `${parents}; CREATE TABLE t (${columns})`)?.foreignKeys.map((key) => Object.values(key))
  const expected: Record<string, unknown> = {
    'p REFERENCES parent': [[['p'], 'Parent', ['id']]],
    'p REFERENCES PARENT (CODE)': [[['p'], 'Parent', ['code']]],
    'id INTEGER PRIMARY KEY, p REFERENCES t': [[['p'], 't', ['id']]],
    'x, y, FOREIGN KEY (x, y) REFERENCES pair': [[['x', 'y'], 'pair', ['b', 'a']]],
    'x, y, FOREIGN KEY (y, x) REFERENCES pair (a, b)': [[['y', 'x'], 'pair', ['a', 'b']]],
    'p REFERENCES parent, q REFERENCES parent (code)': [
      [['p'], 'Parent', ['id']],
      [['q'], 'Parent', ['code']]
    ],
    'g AS (p) REFERENCES parent, p': [[['g'], 'Parent', ['id']]],
    'p REFERENCES missing': [],
    'p REFERENCES missing (id)': [],
    'p REFERENCES parent (missing)': [],
    'p REFERENCES keyless': [],
    'p REFERENCES broken (id)': [],
    'p REFERENCES words (a)': [],
    'x, y, FOREIGN KEY (x, y) REFERENCES pair (a, missing)': []
  }
  for (const [columns, foreignKeys] of Object.entries(expected))
    t.strictSame(foreignKeysOf(columns), foreignKeys, columns)
})

t.test('indexes show which columns are indexed and unique', async (t) => {
  const factsOf = (sql: string) => {
    const columns = structureOf(t, sql)?.columns ?? []
    const namesOf = (fact: 'isIndexed' | 'isUnique') => columns.filter((column) => column[fact]).map(({ name }) => name)
    return [namesOf('isIndexed').join(), namesOf('isUnique').join()]
  }
  const table = 'CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT)'
  const expected: Record<string, readonly string[]> = {
    [table]: ['id', 'id'],
    'CREATE TABLE t (a TEXT)': ['rowid', 'rowid'],
    'CREATE TABLE t (a TEXT PRIMARY KEY, b TEXT UNIQUE) WITHOUT ROWID': ['a,b', 'a,b'],
    'CREATE TABLE t (a TEXT, b TEXT, PRIMARY KEY (b, a))': ['b', ''],
    'CREATE TABLE t (a TEXT, b TEXT, UNIQUE (a, b))': ['rowid,a', 'rowid'],
    [`${table}; CREATE INDEX i ON t (A)`]: ['id,a', 'id'],
    [`${table}; CREATE INDEX i ON t (a, b)`]: ['id,a', 'id'],
    [`${table}; CREATE UNIQUE INDEX i ON t (b DESC)`]: ['id,b', 'id,b'],
    [`${table}; CREATE UNIQUE INDEX i ON t (a, b)`]: ['id,a', 'id'],
    [`${table}; CREATE UNIQUE INDEX i ON t (a) WHERE b IS NULL`]: ['id', 'id'],
    [`${table}; CREATE UNIQUE INDEX i ON t (lower(a))`]: ['id', 'id'],
    [`${table}; CREATE UNIQUE INDEX i ON t (lower(a), b)`]: ['id', 'id'],
    [`${table}; CREATE UNIQUE INDEX i ON t (a, lower(b))`]: ['id,a', 'id']
  }
  for (const [sql, facts] of Object.entries(expected)) t.strictSame(factsOf(sql), facts, sql)
})

t.test('unusual table names are found in any case', async (t) => {
  for (const name of ['a"b', 'order', ' ', "it's", '__proto__', 'ABC', '100%']) {
    t.ok(structureOf(t, `CREATE TABLE "${name.replaceAll('"', '""')}" (a)`, name.toLowerCase()), name)
  }
})

t.test('a constant default is a JSON value, an expression is text', async (t) => {
  const expected: readonly (readonly [string | null, JsonType, unknown])[] = [
    [null, 'string', null],
    ['NULL', 'string', null],
    ["'abc'", 'string', 'abc'],
    ["'it''s'", 'string', "it's"],
    ["''", 'string', ''],
    ["'NULL'", 'string', 'NULL'],
    ['5', 'integer', 5],
    ['-5', 'integer', -5],
    ['+.5', 'number', 0.5],
    ['5e+0', 'number', 5],
    ['1e20', 'number', 1e20],
    ['9223372036854775807', 'integer', '9223372036854775807'],
    ['1', 'boolean', true],
    ['0', 'boolean', false],
    ['2', 'boolean', 2],
    ['TRUE', 'boolean', true],
    ['false', 'boolean', false],
    ['CURRENT_TIMESTAMP', 'string', 'CURRENT_TIMESTAMP'],
    ["datetime('now')", 'string', "datetime('now')"],
    ['\'{"a":1}\'', 'object', { a: 1 }],
    ["'[1]'", 'array', [1]],
    ['"draft"', 'string', 'draft'],
    [`"it's"`, 'string', "it's"],
    ['"a""b"', 'string', 'a"b'],
    [`'it''s "so"'`, 'string', `it's "so"`],
    ["'two\nlines'", 'string', 'two\nlines'],
    ['"a" || "b"', 'string', '"a" || "b"'],
    ['- 1', 'integer', -1],
    ['+  1.5', 'number', 1.5],
    ['- 9223372036854775808', 'integer', '-9223372036854775808'],
    ['- x', 'integer', '- x'],
    ["'{'", 'object', '{'],
    ["x'00'", 'string', 'AA=='],
    ["X'FFfe'", 'string', '//4='],
    ["x''", 'string', ''],
    ["x'0'", 'string', "x'0'"],
    ["'a' || 'b'", 'string', "'a' || 'b'"]
  ]
  for (const [sql, jsonType, value] of expected)
    t.strictSame(defaultValueOf(sql, { jsonType, sqliteType: storedTypeOf[jsonType] }), value, `${sql} as ${jsonType}`)
})

t.test('a constant default equals the value that SQLite stores', async (t) => {
  const types = ['INTEGER', 'REAL', 'TEXT', 'NUMERIC', 'BLOB', 'DATETIME', 'VARCHAR(9)', '']
  const defaults = ['NULL', 'TRUE', 'false', '5', '- 5', '+5', '007', '1.50', '2e3', '-.5', '0x10', '-0xff', '1e21']
  const texts = ["'5'", "'05'", "' 7'", "'1e2'", "'x'", "''", "'0x10'", '9223372036854775807']
  const clauses = types.flatMap((type) => [...defaults, ...texts].map((value) => ({ type, value })))
  const sql = `CREATE TABLE t (${clauses.map(({ type, value }, index) => `c${index} ${type} DEFAULT ${value}`).join(', ')})`
  const db = new BetterSqlite3(':memory:')
  t.teardown(() => db.close())
  db.exec(`${sql}; INSERT INTO t DEFAULT VALUES`)
  const [stored] = db.prepare<[], Record<string, unknown>>('SELECT * FROM t').safeIntegers().all()
  const inJson = (value: unknown) => {
    if (typeof value !== 'bigint') return value
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  }
  for (const [index, { type, value }] of clauses.entries()) {
    const column = structureOf(t, sql)?.columns.find(({ name }) => name === `c${index}`)
    t.strictSame(column?.defaultValue, inJson(stored?.[`c${index}`]), `${type} DEFAULT ${value}`)
  }
})

t.test('a default follows the JSON type that was chosen for its column', async (t) => {
  t.equal(defaultAs(1, 'boolean'), true)
  t.equal(defaultAs(0, 'boolean'), false)
  t.equal(defaultAs(1, 'integer'), 1)
  t.equal(defaultAs(null, 'boolean'), null)
  t.strictSame(defaultAs('[1]', 'array'), [1])
  t.equal(defaultAs('[1]', 'string'), '[1]')
})
