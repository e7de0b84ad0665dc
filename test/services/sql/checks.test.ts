import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import type { Checks } from '../../../services/model/table.ts'
import { type ComparedKind, columnChecks } from '../../../services/sql/checks.ts'

const COLUMNS: Record<string, ComparedKind> = {
  i: 'integer',
  r: 'real',
  s: 'text',
  'odd "name"': 'text',
  null: 'integer'
}

const DECLARED = 'i INTEGER, r REAL, s TEXT, x, "odd ""name""" TEXT, "null" INTEGER'

const declaration = (check: string) => `CREATE TABLE t (${DECLARED}, CHECK (${check}))`

const read = (sql: string) => Object.fromEntries(columnChecks(sql, (name) => COLUMNS[name.toLowerCase()]))

const checksOf = (check: string) => read(declaration(check))

const CASES: readonly (readonly [check: string, checks: Record<string, Checks>])[] = [
  ["s IN ('a', 'it''s')", { s: { allowedValues: ['a', "it's"] } }],
  ["((S in ('a')))", { s: { allowedValues: ['a'] } }],
  ['"odd ""name""" IN (\'a\')', { 'odd "name"': { allowedValues: ['a'] } }],
  ['[i] IN (1, -2, +3, 1)', { i: { allowedValues: [1, -2, 3] } }],
  ['r IN (0.5, 1e2)', { r: { allowedValues: [0.5, 100] } }],
  ['i BETWEEN 1 AND 5', { i: { minimum: 1, maximum: 5 } }],
  ['`i` BETWEEN -1.5 AND 2.5', { i: { minimum: -1, maximum: 2 } }],
  ['i >= 1 AND i <= 5', { i: { minimum: 1, maximum: 5 } }],
  ['i > 1 AND i < 5', { i: { minimum: 2, maximum: 4 } }],
  ['i > 1.5 AND i < 4.5', { i: { minimum: 2, maximum: 4 } }],
  ['r > 0 AND r < 1.5', { r: { minimum: 0, maximum: 1.5 } }],
  ['0 <= i AND 5 > i', { i: { minimum: 0, maximum: 4 } }],
  ['i <= 0 AND r <= -0.5', { i: { maximum: 0 }, r: { maximum: -0.5 } }],
  ['i >= 1 AND (i >= 3 AND i <= 9) AND i <= 7', { i: { minimum: 3, maximum: 7 } }],
  ['i BETWEEN 1 AND 5 AND r BETWEEN 0 AND 1', { i: { minimum: 1, maximum: 5 }, r: { minimum: 0, maximum: 1 } }],
  ['(i BETWEEN 1 AND 5) AND r >= 0', { i: { minimum: 1, maximum: 5 }, r: { minimum: 0 } }],
  ['i IN (1, 2, 3) AND i IN (2, 3, 4)', { i: { allowedValues: [2, 3] } }],
  ['i IN (1) AND i IN (2)', { i: {} }],
  ['i IN (1) AND i < 5', { i: { allowedValues: [1], maximum: 4 } }],
  ['length(s) <= 5', { s: { maxLength: 5 } }],
  ['LENGTH(s) > 0 AND 9 >= length (s)', { s: { minLength: 1, maxLength: 9 } }],
  ['length(s) BETWEEN 2 AND 3', { s: { minLength: 2, maxLength: 3 } }],
  ['length(s) >= -1', { s: { minLength: 0 } }],
  ["s IN ('a') AND x > i", { s: { allowedValues: ['a'] } }],
  ["s IN ('a') AND (i > 1 OR x)", { s: { allowedValues: ['a'] } }],
  ['i >= 1 /* AND i >= 5 */ -- AND i >= 6\n', { i: { minimum: 1 } }],
  ['i >= 1 AND x IS NOT NULL', { i: { minimum: 1 } }],
  // Nothing of these is certain.
  ["s IN ('a', NULL)", {}],
  ['s IN (\'a\', "b")', {}],
  ["s IN ('a', x)", {}],
  ["s IN (1, 'a')", {}],
  ["s IN (SELECT 'a')", {}],
  ["s NOT IN ('a')", {}],
  ["s IN ('a') OR i > 1", {}],
  ["s = 'a'", {}],
  ["s >= 'a'", {}],
  ['s >= 5', {}],
  ['length(s) IN (1, 2)', {}],
  ['length(i) <= 5', {}],
  ['length(s) <= x', {}],
  ["i IN ('1')", {}],
  ['i IN (1.5)', {}],
  ['i IN (0x10)', {}],
  ['i IN ()', {}],
  ['i >= 9007199254740993', {}],
  ['r <= 1e999', {}],
  ['i >= 1 + 1', {}],
  ['i + 1 >= 1', {}],
  ['i >= - - 1', {}],
  ['i BETWEEN 1 AND r', {}],
  ['i BETWEEN x AND 5', {}],
  ['i NOT BETWEEN 1 AND 5', {}],
  ['NOT i >= 1', {}],
  ['i <> 1', {}],
  ['x IN (1)', {}],
  ['x >= 1', {}],
  ['null >= 1', {}],
  ['CASE WHEN x AND i >= 1 AND x THEN 1 ELSE 1 END', {}],
  ['x BETWEEN 1 AND i >= 1', {}],
  ['x BETWEEN 0 AND 1 BETWEEN 0 AND i >= 1', {}],
  ['(x AND 1) BETWEEN 0 AND i >= 1', {}],
  ['i >= 1 = 0', {}],
  ["s COLLATE NOCASE IN ('a')", {}],
  ["s IN ('A' COLLATE NOCASE)", {}],
  [`i IN (${Array.from({ length: 201 }, (_, index) => index).join(', ')})`, {}]
]

t.test('a check is read only in forms that are certain', async (t) => {
  for (const [check, checks] of CASES) t.strictSame(checksOf(check), checks, check)
})

/** Values that pass and fail the checks above. */
const SAMPLES: Record<string, readonly (string | number)[]> = {
  i: [-9, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100],
  r: [-1.5, -0.5, 0, 0.5, 1, 1.25, 1.5, 2, 100, 1e300],
  s: ['', 'a', 'A', 'b', 'bb', 'bbb', 'bbbbbb', "it's", '1', '5', 'äöüäöü', 'x'.repeat(20)],
  'odd "name"': ['a', 'b']
}

const satisfies = (value: string | number, { allowedValues, ...bounds }: Checks) => {
  const size = typeof value === 'string' ? [...value].length : value
  const { minimum = bounds.minLength ?? -Infinity, maximum = bounds.maxLength ?? Infinity } = bounds
  return (allowedValues?.includes(value) ?? true) && size >= minimum && size <= maximum
}

t.test('SQLite refuses every value that a check which was read excludes', async (t) => {
  for (const [check, expected] of CASES.filter(([, checks]) => Object.keys(checks).length > 0)) {
    const db = new BetterSqlite3(':memory:')
    db.exec(declaration(check))
    for (const [column, checks] of Object.entries(expected)) {
      const insert = db.prepare(`INSERT INTO t ("${column.replaceAll('"', '""')}") VALUES (?)`)
      for (const value of SAMPLES[column] ?? []) {
        if (!satisfies(value, checks)) t.throws(() => insert.run(value), { code: 'SQLITE_CONSTRAINT_CHECK' }, check)
      }
    }
    db.close()
  }
})

t.test('checks are found at columns and at the table, and belong to the column that they name', async (t) => {
  const sql = `CREATE TABLE t (
    i INTEGER DEFAULT 5 CONSTRAINT positive CHECK (i > 0) NOT NULL CHECK (r >= 2),
    r REAL, s TEXT DEFAULT 'CHECK (i > 9)', "check" TEXT, CHECK (i <= 9) /* CHECK (i > 8) */
  )`
  t.strictSame(read(sql), { i: { minimum: 1, maximum: 9 }, r: { minimum: 2 } })
  t.strictSame(read('CREATE TABLE t (i INTEGER)'), {})
})

t.test('texts are not read if the table declares a collation other than BINARY', async (t) => {
  t.strictSame(read("CREATE TABLE t (s TEXT COLLATE NOCASE CHECK (s IN ('a')), i CHECK (i > 0))"), {
    i: { minimum: 1 }
  })
  t.strictSame(read("CREATE TABLE t (s TEXT COLLATE binary CHECK (s IN ('a')))"), { s: { allowedValues: ['a'] } })
})

t.test('a damaged declaration and a very long list are read without failing', async (t) => {
  t.strictSame(read('CREATE TABLE t (i CHECK (i > 0'), {})
  t.strictSame(read('CREATE TABLE t (i CHECK (i IN (1'), {})
  t.strictSame(read('CREATE TABLE t (i CHECK ())'), {})
  t.strictSame(checksOf(`i IN (${'1, '.repeat(200_000)}1)`), {})
})
