/** A request, and the response of rqlite 10 and of the fake. */
export interface Case {
  readonly name: string
  readonly path: string
  readonly method?: 'GET' | 'POST'
  /** A body that is not a text is sent as JSON. */
  readonly body?: unknown
  readonly status?: number
  /** The body of the response. */
  readonly expected: unknown
}

export const CREATE = [
  "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE NOT NULL, b TEXT CHECK (b <> 'no'))",
  'CREATE TABLE p (id INTEGER PRIMARY KEY)',
  'CREATE TABLE k (p INTEGER REFERENCES p)',
  'CREATE TABLE later (p INTEGER REFERENCES p DEFERRABLE INITIALLY DEFERRED)',
  'CREATE TABLE d (a DATE, b DATETIME, c TIMESTAMP, e BOOLEAN, f BLOB, g REAL)',
  "CREATE TRIGGER refuse BEFORE INSERT ON t WHEN NEW.b = 'raise' BEGIN SELECT RAISE(ABORT, 'refused; by t'); END",
  'CREATE TABLE r (id INTEGER PRIMARY KEY, a INTEGER, "a`b" INTEGER)'
]

const EXECUTE = '/db/execute'
const QUERY = '/db/query'
const TRANSACTION = '/db/execute?transaction&norwrandom&norwtime'

const results = (...list: readonly unknown[]) => ({ results: list })
const error = (text: string) => ({ error: text })
const inserted = (id: number) => ({ last_insert_id: id, rows_affected: 1 })
const rows = (columns: readonly string[], types: readonly string[], ...values: readonly unknown[]) =>
  values.length > 0 ? { columns, types, values } : { columns, types }

/** A statement that fails, with the text of its error. */
const FAILURES: readonly (readonly [sql: string, text: string])[] = [
  ['INSERT INTO t(a) VALUES (NULL)', 'NOT NULL constraint failed: t.a'],
  ["INSERT INTO t(a, b) VALUES (9, 'no')", "CHECK constraint failed: b <> 'no'"],
  ['INSERT INTO k VALUES (404)', 'FOREIGN KEY constraint failed'],
  ['INSERT INTO later VALUES (404)', 'FOREIGN KEY constraint failed'],
  ["INSERT INTO t(a, b) VALUES (9, 'raise')", 'refused; by t'],
  ['SELECT * FROM nope', 'no such table: nope'],
  ['SELECT nope FROM t', 'no such column: nope'],
  ['INSERT INTO t(nope) VALUES (1)', 'table t has no column named nope'],
  ["INSERT INTO p VALUES ('x')", 'datatype mismatch'],
  ['SELECT zeroblob(2000000000)', 'string or blob too big'],
  ['SELEKT 1', 'near "SELEKT": syntax error'],
  ['CREATE TABLE t (a)', 'table t already exists'],
  ['CREATE INDEX d ON t (a)', 'there is already a table named d'],
  ['DROP INDEX nope', 'no such index: nope'],
  ["SELECT json('!')", 'malformed JSON'],
  ['INSERT INTO p VALUES (1, 2)', 'table p has 1 columns but 2 values were supplied'],
  ['COMMIT', 'cannot commit - no transaction is active'],
  ['SELECT abs(-9223372036854775808)', 'integer overflow']
]

const failures: readonly Case[] = FAILURES.map(([sql, text]) => ({
  name: `${sql} fails`,
  path: EXECUTE,
  body: [sql],
  expected: results(error(text))
}))

const parsing: readonly Case[] = (
  [
    ['{}', 'invalid request'],
    ['', 'invalid JSON body'],
    ['[]', 'no statements'],
    ['[1]', 'invalid request'],
    ['[[]]', 'invalid request'],
    ['["SELECT 1"', 'invalid JSON body'],
    ['[["SELECT ?",["a"]]]', 'unsupported type string'],
    ['[["SELECT ?",[300]]]', 'unsupported type 300'],
    ['[["SELECT ?",1e999]]', 'invalid number 1e999']
  ] as const
).map(([body, expected]) => ({ name: `the body ${body}`, path: QUERY, body, status: 400, expected }))

const writing: readonly Case[] = [
  {
    name: 'a transaction ends at the first error, and stores nothing',
    path: TRANSACTION,
    body: [
      ['INSERT INTO t(a) VALUES (?)', 1],
      ['INSERT INTO t(a) VALUES (?)', 1],
      ['INSERT INTO t(a) VALUES (?)', 2]
    ],
    expected: results(inserted(1), error('UNIQUE constraint failed: t.a'))
  },
  { name: 'the table is empty', path: QUERY, body: ['SELECT a FROM t'], expected: results(rows(['a'], [''])) },
  {
    name: 'deferred foreign keys fail without a position',
    path: TRANSACTION,
    body: ['INSERT INTO later VALUES (404)', 'INSERT INTO p VALUES (1)'],
    expected: { results: [], error: 'FOREIGN KEY constraint failed' }
  },
  {
    name: 'a number of changed rows is checked',
    path: TRANSACTION,
    body: ['DELETE FROM t', ["SELECT CASE WHEN changes() <> ? THEN json('!') END", 1]],
    expected: results({ last_insert_id: 1 }, error('malformed JSON'))
  },
  {
    name: 'statements without a transaction stand alone',
    path: EXECUTE,
    body: ['INSERT INTO p VALUES (5)', 'INSERT INTO p VALUES (5)', '', ' -- nothing', 'INSERT INTO p VALUES (6)'],
    expected: results(inserted(5), error('UNIQUE constraint failed: p.id'), {}, inserted(6))
  },
  {
    name: 'a text has several statements, which share the parameters',
    path: EXECUTE,
    body: [
      ['INSERT INTO p VALUES (?); INSERT INTO p VALUES (?)', 10, 11],
      ['INSERT INTO p VALUES (?)', 12, 13],
      ['INSERT INTO p VALUES (?); INSERT INTO p VALUES (?)', 14],
      'INSERT INTO p VALUES (?)'
    ],
    expected: results(inserted(11), inserted(12), error('not enough args to execute query: want 1 got 1'), inserted(15))
  },
  {
    name: 'foreign keys are off for a text that is a transaction of its own',
    path: EXECUTE,
    body: [
      'PRAGMA foreign_keys = OFF',
      "BEGIN IMMEDIATE; INSERT INTO k VALUES (77); UPDATE k SET p = ';' WHERE p = 0; COMMIT",
      'PRAGMA foreign_keys = ON',
      'DELETE FROM k'
    ],
    expected: results(inserted(15), { last_insert_id: 1 }, { last_insert_id: 1 }, inserted(1))
  },
  {
    name: 'a transaction stays open until a later statement ends it',
    path: EXECUTE,
    body: ['BEGIN IMMEDIATE; INSERT INTO p VALUES (20); SELEKT', 'ROLLBACK', 'ROLLBACK'],
    expected: results(
      error('near "SELEKT": syntax error'),
      { last_insert_id: 20, rows_affected: 1 },
      error('cannot rollback - no transaction is active')
    )
  },
  {
    name: 'RETURNING returns rows',
    path: TRANSACTION,
    body: [
      ['INSERT INTO r(id, a) VALUES (?, ?) RETURNING id, a + 1.5 AS b', 1, 2],
      'DELETE FROM r WHERE 0 RETURNING id'
    ],
    expected: results(rows(['id', 'b'], ['integer', 'real'], [1, 3.5]), rows(['id'], ['integer']))
  },
  {
    name: 'only the last statement of a text with RETURNING runs, with all parameters',
    path: TRANSACTION,
    body: [
      ['DELETE FROM r RETURNING id; INSERT INTO r(id, a) VALUES (?, ?) RETURNING id, a', 40, 2],
      'SELECT CASE WHEN changes() <> 1 THEN json(1) END',
      "SELECT CASE WHEN (SELECT count(*) FROM r) < 2 THEN json('!') END",
      'DELETE FROM r WHERE id = 40'
    ],
    expected: results(
      rows(['id', 'a'], ['integer', 'integer'], [40, 2]),
      { last_insert_id: 40, rows_affected: 1 },
      { last_insert_id: 40, rows_affected: 1 },
      { last_insert_id: 40, rows_affected: 1 }
    )
  },
  {
    name: 'an associative response has objects',
    path: '/db/execute?associative',
    body: ['INSERT INTO r(id) VALUES (2) RETURNING id, a', 'DELETE FROM r', 'nope'],
    expected: results(
      { types: { a: 'integer', id: 'integer' }, rows: [{ a: null, id: 2 }] },
      { last_insert_id: 2, rows_affected: 2, rows: null },
      error('near "nope": syntax error')
    )
  }
]

const INSERT_TIMES = [
  "INSERT INTO d VALUES ('2020-01-02', '2020-01-02 03:04:05.120', 1600000000, 1, 'text', 5)",
  "INSERT INTO d VALUES ('bad', '2020-01-02T03:04:05+02:00', 1600000000123, 7, x'4142', 1.5)"
]

const reading: readonly Case[] = [
  {
    name: 'a query does not write',
    path: QUERY,
    body: ['INSERT INTO p VALUES (99)', 'SELECT 1', ['SELECT ?']],
    expected: results(
      error('attempt to change database via query operation'),
      rows(['1'], ['integer'], [1]),
      error('not enough args to execute query: want 1 got 0')
    )
  },
  {
    name: 'an error does not end a transaction of a query',
    path: '/db/query?level=linearizable&transaction',
    body: ['SELECT nope', 'SELECT 1; SELECT 2'],
    expected: results(error('no such column: nope'), rows(['2'], ['integer'], [2]))
  },
  {
    name: 'parameters have the type of their JSON',
    path: QUERY,
    body: '[["SELECT typeof(?), typeof(?), typeof(?), typeof(?), typeof(?), typeof(?), typeof(?)",5,5.0,1e2,true,[65]," x\'41\' ",9223372036854775808],["SELECT ?1, ?2, ?1","x\'zz\'",null]]',
    expected: results(
      rows(
        [...Array(7).fill('typeof(?)')],
        [...Array(7).fill('text')],
        ['integer', 'real', 'real', 'integer', 'blob', 'blob', 'real']
      ),
      rows(['?1', '?2', '?1'], ['text', '', 'text'], ["x'zz'", null, "x'zz'"])
    )
  },
  {
    name: 'numbers are exact',
    path: QUERY,
    body: [
      'SELECT 9223372036854775807 AS a, 0.1 AS b, 5.0 AS c, -0.0 AS d, 1e-7 AS e, 1e21 AS f, 1.7976931348623157e308 AS g'
    ],
    expected:
      '{"results":[{"columns":["a","b","c","d","e","f","g"],"types":["integer","real","real","real","real","real","real"],"values":[[9223372036854775807,0.1,5,-0,1e-7,1e+21,1.7976931348623157e+308]]}]}'
  },
  {
    name: 'times can be inserted',
    path: EXECUTE,
    body: INSERT_TIMES,
    expected: results(inserted(1), inserted(2))
  },
  {
    name: 'the declaration of a column changes its values',
    path: QUERY,
    body: ['SELECT * FROM d', 'SELECT b FROM d WHERE 0', 'SELECT f, +f FROM d'],
    expected: results(
      rows(
        ['a', 'b', 'c', 'e', 'f', 'g'],
        ['date', 'datetime', 'timestamp', 'boolean', 'blob', 'real'],
        ['2020-01-02T00:00:00Z', '2020-01-02T03:04:05.12Z', '2020-09-13T12:26:40Z', true, 'text', 5],
        ['0001-01-01T00:00:00Z', '2020-01-02T03:04:05+02:00', '2020-09-13T12:26:40.123Z', true, 'QUI=', 1.5]
      ),
      rows(['b'], ['datetime']),
      rows(['f', '+f'], ['blob', 'text'], ['text', 'text'], ['QUI=', 'AB'])
    )
  },
  {
    name: 'blob_array returns lists of bytes',
    path: '/db/query?blob_array',
    body: ['SELECT f FROM d'],
    expected: results(rows(['f'], ['blob'], ['text'], [[65, 66]]))
  },
  {
    name: 'an associative query has objects',
    path: '/db/query?associative',
    body: ['SELECT e, a FROM d LIMIT 1', 'SELECT nope', 'SELECT 1 AS a WHERE 0'],
    expected: results(
      { types: { a: 'date', e: 'boolean' }, rows: [{ a: '2020-01-02T00:00:00Z', e: true }] },
      { rows: [], error: 'no such column: nope' },
      { types: { a: '' }, rows: [] }
    )
  },
  {
    name: 'an infinity fails the whole response',
    path: QUERY,
    body: ['SELECT 1', 'SELECT -1e999'],
    status: 500,
    expected: 'json: error calling MarshalJSON for type *http.DBResults: json: unsupported value: -Inf'
  },
  {
    name: 'db_timeout ends a query that returns no row',
    path: '/db/query?db_timeout=100ms',
    body: ['WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c WHERE x < 0'],
    expected: results(error('query timeout'))
  },
  {
    name: 'db_timeout ends a transaction',
    path: '/db/query?transaction&db_timeout=100ms',
    body: ['WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c WHERE x < 0', 'SELECT 1'],
    expected: { results: [], error: 'sql: transaction has already been committed or rolled back' }
  },
  { name: 'a path that does not exist', path: '/nope', method: 'GET', status: 404, expected: '' },
  { name: 'a method that is not allowed', path: EXECUTE, method: 'GET', status: 405, expected: '' },
  {
    name: 'a duration that is none',
    path: '/db/query?db_timeout=1',
    body: ['SELECT 1'],
    status: 400,
    expected: 'db_timeout is not a valid duration'
  }
]

export const CASES: readonly Case[] = [...parsing, ...writing, ...failures, ...reading]

/** Statements, and whether rqlite finds their RETURNING. Without it, the rows are lost, and the change is stored. */
export const RETURNING_CASES: readonly (readonly [sql: string, isFound: boolean])[] = [
  ['INSERT INTO "r"("a") VALUES (1) RETURNING "r"."a"', true],
  ['INSERT INTO `r`(a) VALUES (1) returning a', true],
  ["INSERT INTO r(a) VALUES ('`') RETURNING a", true],
  ['UPDATE r SET a = 1 FROM p WHERE r.a = p.id RETURNING a', true],
  ['WITH x(a) AS (SELECT 1) DELETE FROM r WHERE a IN (SELECT a FROM x) RETURNING a', true],
  ['/* c */ DELETE FROM r WHERE 0 RETURNING a -- c', true],
  ['INSERT INTO r("a`b") VALUES (1) RETURNING id', false],
  ['INSERT INTO [r](a) VALUES (1) RETURNING id', false],
  ['INSERT INTO r(a) VALUES (1) RETURNING\nid', false],
  ['INSERT INTO r(a) VALUES (1); INSERT INTO r(a) VALUES (1) RETURNING id', false],
  ['DELETE FROM r WHERE 0 RETURNING a IS NOT DISTINCT FROM 3', false],
  ['DELETE FROM r WHERE 0 RETURNING 1; INSERT INTO [r]("a`b") VALUES (1) RETURNING\nid', true],
  ["SELECT 'returning ' FROM r", false]
]
