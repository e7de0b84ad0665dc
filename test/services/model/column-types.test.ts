import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import type { JsonType, SqliteType } from '../../../schemas/table.ts'
import { affinityOf, declarableTypesOf, isStorableAs, jsonTypeOf } from '../../../services/model/column-types.ts'

const DECLARED = [
  'INT',
  'INTEGER',
  'BIGINT',
  'CHARINT',
  'POINT',
  'TEXT',
  'VARCHAR(20)',
  'CLOB',
  'NVARCHAR',
  '',
  'BLOB',
  'REAL',
  'DOUBLE PRECISION',
  'FLOAT',
  'NUMERIC',
  'DECIMAL(10,2)',
  'BOOLEAN',
  'DATE',
  'DATETIME',
  'STRING',
  'ANY',
  'JSON',
  'text collate'
]

/** Returns the affinity that SQLite applies, from the types that it stores for '7' and 7. */
const observedAffinity = (db: BetterSqlite3.Database, declared: string): SqliteType => {
  db.exec(`DROP TABLE IF EXISTS t; CREATE TABLE t (a ${declared === '' ? '' : `"${declared}"`})`)
  const typeOf = (sql: string) => db.prepare(`INSERT INTO t VALUES (${sql}) RETURNING typeof(a)`).pluck().get()
  if (typeOf('7') === 'text') return 'TEXT'
  if (typeOf("'7'") === 'text') return 'BLOB'
  if (typeOf("'7'") === 'real') return 'REAL'
  const cast = db.prepare(`SELECT typeof(CAST('7.5' AS "${declared}"))`).pluck().get()
  return cast === 'integer' ? 'INTEGER' : 'NUMERIC'
}

t.test('the affinity of a declared type is the one that SQLite applies', async (t) => {
  const db = new BetterSqlite3(':memory:')
  t.teardown(() => db.close())
  for (const declared of DECLARED) t.equal(affinityOf(declared, false), observedAffinity(db, declared), declared)
})

t.test('a column declared ANY has no affinity in a STRICT table', async (t) => {
  t.equal(affinityOf('ANY', true), 'BLOB')
  t.equal(affinityOf('any', true), 'BLOB')
  t.equal(affinityOf('ANY', false), 'NUMERIC')
  t.equal(affinityOf('INT', true), 'INTEGER')
})

t.test('the JSON type follows from the declared type', async (t) => {
  const expected: Record<string, JsonType> = {
    INTEGER: 'integer',
    BIGINT: 'integer',
    TEXT: 'string',
    BLOB: 'string',
    '': 'string',
    REAL: 'number',
    NUMERIC: 'number',
    'DECIMAL(10,2)': 'number',
    BOOLEAN: 'boolean',
    bool: 'boolean',
    DATE: 'string',
    DATETIME: 'string',
    TIMESTAMP: 'string',
    JSON: 'string',
    UUID: 'string',
    STRING: 'string',
    "ENUM('a','b')": 'string',
    MONEY: 'number',
    YEAR: 'number',
    'BIT(1)': 'number',
    LONG: 'number'
  }
  for (const [declared, jsonType] of Object.entries(expected)) {
    t.equal(jsonTypeOf(declared, affinityOf(declared, false)), jsonType, declared)
  }
})

t.test('a chosen JSON type stays if the stored type can hold it', async (t) => {
  t.ok(isStorableAs('boolean', 'INTEGER'))
  t.ok(isStorableAs('array', 'TEXT'))
  t.notOk(isStorableAs('array', 'INTEGER'))
  t.notOk(isStorableAs('integer', 'TEXT'))
})

t.test(
  'a declaration may name BLOB for a string, and otherwise only the type that follows from the JSON type',
  async (t) => {
    t.strictSame(declarableTypesOf('string'), ['TEXT', 'BLOB'])
    t.strictSame(declarableTypesOf('boolean'), ['INTEGER'])
  }
)
