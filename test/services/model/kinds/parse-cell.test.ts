import t from 'tap'
import type { JsonType, SqliteType } from '../../../../schemas/table.ts'
import { unescapeFormula } from '../../../../services/model/kinds/csv-cells.ts'
import { kindOf } from '../../../../services/model/kinds/kind-of.ts'
import type { Column } from '../../../../services/model/table.ts'

/** Returns the stored value of a cell, or the code of its violation. */
const parse = (
  jsonType: JsonType,
  sqliteType: SqliteType,
  text: string,
  isQuoted = false,
  declaredType = sqliteType as string
) => {
  const column = { jsonType, sqliteType, declaredType } as Column
  const checked = kindOf(column).parseCell({ text, isQuoted }, column)
  return 'violation' in checked ? checked.violation.code : checked.value
}

t.test('a cell is converted strictly by the kind of its column', async (t) => {
  t.equal(parse('integer', 'INTEGER', '9223372036854775807'), 9223372036854775807n)
  for (const text of ['1.0', '01', '+1', ' 1', '9223372036854775808', 'x'])
    t.equal(parse('integer', 'INTEGER', text), 'type')
  t.equal(parse('number', 'REAL', '-1.5e3'), -1500)
  t.equal(parse('number', 'REAL', 'x'), 'type')
  t.equal(parse('number', 'REAL', '1e999'), 'range')
  t.equal(parse('number', 'REAL', '-1e999'), 'range')
  t.equal(parse('number', 'NUMERIC', '9007199254740993'), 9007199254740993n)
  t.equal(parse('number', 'NUMERIC', '0.5'), 0.5)
  t.equal(parse('boolean', 'INTEGER', 'true'), 1n)
  t.equal(parse('boolean', 'INTEGER', 'false'), 0n)
  t.equal(parse('boolean', 'INTEGER', '1'), 'type')
  t.equal(parse('string', 'TEXT', '5'), '5')
  t.strictSame(parse('string', 'BLOB', 'AAE='), new Uint8Array([0, 1]))
  t.equal(parse('string', 'BLOB', 'AAE'), 'format')
  t.equal(parse('object', 'TEXT', '{ "a": 1 }'), '{ "a": 1 }')
  t.equal(parse('array', 'TEXT', '[]'), '[]')
  for (const text of ['[]', 'null', '5', '{']) t.equal(parse('object', 'TEXT', text), 'type')
  t.equal(parse('array', 'TEXT', '{}'), 'type')
  t.equal(parse('array', 'TEXT', `[${'[],'.repeat(30_000)}[]]`), 'length', 'too many parts')
})

t.test('where a column has texts and numbers, quotes decide', async (t) => {
  for (const [sqliteType, declaredType] of [
    ['NUMERIC', 'DATE'],
    ['BLOB', '']
  ] as const) {
    t.equal(parse('string', sqliteType, '5', false, declaredType), 5n)
    t.equal(parse('string', sqliteType, '1.5', false, declaredType), 1.5)
    t.equal(parse('string', sqliteType, '5', true, declaredType), '5')
    t.equal(parse('string', sqliteType, 'x', false, declaredType), 'x')
    t.equal(parse('string', sqliteType, '1e999', false, declaredType), 'range')
  }
})

t.test('the guard against formulas is removed, and no other quote', async (t) => {
  t.equal(unescapeFormula("'=1"), '=1')
  t.equal(unescapeFormula("''=1"), "'=1")
  t.equal(unescapeFormula("'x"), "'x")
  t.equal(unescapeFormula('=1'), '=1')
})
