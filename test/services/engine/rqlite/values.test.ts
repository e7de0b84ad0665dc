import t from 'tap'
import { literalOf, toRows, withLiterals } from '../../../../services/engine/rqlite/values.ts'
import type { SqlValue } from '../../../../services/model/sql-value.ts'
import { sql } from '../engine.ts'
import { startEngine } from './engine.ts'

/** Values with SQLite's own text of each. */
const VALUES: readonly (readonly [SqlValue, string])[] = [
  [null, 'NULL'],
  [5n, '5'],
  [9_223_372_036_854_775_807n, '9223372036854775807'],
  [-9_223_372_036_854_775_808n, '-9223372036854775808'],
  [5, '5.0'],
  [0.1, '0.1'],
  [1e21, '1.0e+21'],
  [5e-324, '4.9406564584124654e-324'],
  [Number.POSITIVE_INFINITY, '9.0e+999'],
  [Number.NEGATIVE_INFINITY, '-9.0e+999'],
  [Number.NaN, 'NULL'],
  ['', "''"],
  ["it's", "'it''s'"],
  ['"x"\\\n', `'"x"\\\n'`],
  ["x'41'", "'x''41'''"],
  ["\u0085X'41'", "'\u0085X''41'''"],
  [" X'4'", "' X''4'''"],
  ['日本 😀', "'日本 😀'"],
  [new Uint8Array([0, 255]), "X'00FF'"],
  [new Uint8Array(), "X''"]
]

t.test('a parameter keeps its value and its storage class', async (t) => {
  const { db } = await startEngine(t, 'CREATE TABLE t (v)')
  for (const [value, text] of VALUES) {
    const [row] = await db.read(sql('SELECT quote(?) AS text', value))
    t.equal(row?.text, text, `read ${text}`)
    const [stored] = await db.write([sql('INSERT INTO t VALUES (?) RETURNING quote(v) AS text', value)])
    t.equal(stored?.rows[0]?.text, text, `write ${text}`)
  }
})

t.test('values that need another text of the statement stand beside others', async (t) => {
  const { db } = await startEngine(t)
  const [row] = await db
    .read(sql("SELECT ? AS a, ? AS b, '?' AS c, ? AS d, ? AS e", 1n, "x'41'", Number.POSITIVE_INFINITY, 'end'))
    .catch(() => [])
  t.equal(row, undefined, 'an infinity that is no text fails')
  const [texts] = await db.read(
    sql("SELECT ? AS a, ? AS b, '?' AS c, quote(?) AS d, ? AS e", 1n, "x'41'", Number.POSITIVE_INFINITY, 'end')
  )
  t.strictSame({ ...texts }, { a: 1, b: "x'41'", c: '?', d: '9.0e+999', e: 'end' })
})

t.test('a literal has the value and the storage class of a parameter', async (t) => {
  const { db } = await startEngine(t)
  for (const [value, text] of VALUES) {
    const [row] = await db.read(sql(withLiterals(sql("SELECT quote(?) AS text, '?' AS mark", value))))
    t.equal(row?.text, text)
  }
  t.equal(literalOf('a\0b'), "CAST(x'610062' AS TEXT)")
  t.equal(literalOf(-0), '-0.0')
})

t.test('rows have bytes, and numbers for booleans', async (t) => {
  t.strictSame(toRows({ columns: ['a', 'b', 'c'], values: [[[1, 2], true, null]] }), [
    { a: new Uint8Array([1, 2]), b: 1, c: null }
  ])
  t.strictSame(toRows({}), [])
})
