import t from 'tap'
import type { JsonType, SqliteType } from '../../../schemas/table.ts'
import type { Column, Structure } from '../../../services/model/table.ts'
import { columnRef } from '../../../services/sql/identifiers.ts'
import { forEachCollation, isExactly, keyMatch, keyParser, keyTexts } from '../../../services/sql/keys.ts'

type KeyColumn = readonly [name: string, jsonType: JsonType, sqliteType: SqliteType, declaredType?: string]

const column = ([name, jsonType, sqliteType, declaredType = sqliteType]: KeyColumn): Column => ({
  name,
  label: name,
  sqliteType,
  jsonType,
  nullable: true,
  defaultValue: null,
  isPrimary: true,
  isAutoIncrement: false,
  isHidden: false,
  isReadonly: false,
  isIndexed: true,
  isUnique: false,
  declaredType,
  isGenerated: false,
  isNotNull: false,
  defaultLiteral: 'none',
  checks: {}
})

const structure = (columns: readonly KeyColumn[], isRowidKey = false): Structure => ({
  columns: columns.map(column),
  isStrict: false,
  isView: false,
  hasCollatedKey: false,
  conflicts: null,
  key: columns.map(([name]) => name),
  isRowidKey,
  rowid: null,
  foreignKeys: [],
  autoTimestamps: false
})

const matchOf = (structure: Structure) => keyMatch({ name: 't', structure })

const rowid = structure([['id', 'integer', 'INTEGER']], true)
const text = structure([['code', 'string', 'TEXT']])
const numeric = structure([['n', 'number', 'NUMERIC', 'DECIMAL(10,2)']])
const untyped = structure([['k', 'string', 'BLOB', '']])
const blob = structure([['k', 'string', 'BLOB', 'BLOB']])
const composite = structure([
  ['a', 'string', 'TEXT'],
  ['b', 'integer', 'INTEGER']
])

t.test('a rowid is an integer, whatever type its column declares', async (t) => {
  t.strictSame(keyParser(rowid)('42'), [42n])
  for (const key of ['042', '4.0', 'abc', '']) t.equal(keyParser(rowid)(key), undefined, key)
})

t.test('a text key is used unchanged', async (t) => {
  for (const key of ['7', '7.0', '', 'a,b', '%2C', 'a%b'])
    t.strictSame(keyParser(text)(key), forEachCollation([key]), key)
})

t.test('a key is compared in each collation that its index can have, which matches exact values only', async (t) => {
  t.equal(
    matchOf(text),
    '"t"."code" = ? COLLATE BINARY AND "t"."code" = ? COLLATE NOCASE AND "t"."code" = ? COLLATE RTRIM'
  )
  t.strictSame(forEachCollation(['Tom', 5n]), ['Tom', 5n, 'Tom', 5n, 'Tom', 5n])
  t.equal(matchOf(rowid), '"t"."id" = ?')
})

t.test('a key of a REAL column is the shortest literal of a double', async (t) => {
  const real = structure([['k', 'number', 'REAL', 'REAL']])
  t.strictSame(keyParser(real)('5'), forEachCollation([5]))
  t.strictSame(keyParser(real)('-18522257411224070'), forEachCollation([-18522257411224072]))
  t.strictSame(keyParser(real)('1e+21'), forEachCollation([1e21]))
  t.strictSame(keyParser(real)('x'), forEachCollation(['x']))
  for (const key of ['5.0', '-0', '9223372036854775807', '1e21']) t.equal(keyParser(real)(key), undefined, key)
})

t.test('a key of a boolean column has its JSON text', async (t) => {
  const flag = structure([['k', 'boolean', 'NUMERIC', 'BOOLEAN']])
  t.strictSame(keyParser(flag)('true'), forEachCollation([1n]))
  t.strictSame(keyParser(flag)('false'), forEachCollation([0n]))
  t.strictSame(keyParser(flag)('2'), forEachCollation([2n]))
  t.strictSame(keyParser(flag)('maybe'), forEachCollation(['maybe']))
  for (const key of ['0', '1', '01']) t.equal(keyParser(flag)(key), undefined, key)
})

t.test('a key of numeric affinity is the literal that JSON shows', async (t) => {
  t.strictSame(keyParser(numeric)('12'), forEachCollation([12n]))
  t.strictSame(keyParser(numeric)('12.5'), forEachCollation([12.5]))
  for (const key of ['12.0', '012', '+12', ' 12', '1.20e1', '.5', '5.'])
    t.equal(keyParser(numeric)(key), undefined, key)
})

t.test('text that numeric affinity does not convert is a key, too', async (t) => {
  for (const key of ['abc', '', '0x10', 'Infinity', 'NaN', '1_000', '2024-01-01', '\u00a05'])
    t.strictSame(keyParser(numeric)(key), forEachCollation([key]), key)
})

t.test('a key without an affinity matches a number or text, or text or the bytes that it encodes', async (t) => {
  t.strictSame(keyParser(untyped)('5'), forEachCollation([5n, '5']))
  t.strictSame(keyParser(untyped)('1234'), forEachCollation([1234n, '1234']))
  t.strictSame(keyParser(untyped)('01'), forEachCollation(['01', '01']))
  t.strictSame(keyParser(untyped)('a'), forEachCollation(['a', 'a']))
  t.strictSame(keyParser(untyped)('NQ=='), forEachCollation(['NQ==', new Uint8Array([53])]))
  t.equal(
    matchOf(untyped),
    '"t"."k" COLLATE BINARY IN (?, ?) AND "t"."k" COLLATE NOCASE IN (?, ?) AND "t"."k" COLLATE RTRIM IN (?, ?)'
  )
})

t.test('BLOB keys are base64', async (t) => {
  t.strictSame([...((keyParser(blob)('AP8=')?.[0] as Uint8Array) ?? [])], [0, 255])
  t.equal(keyParser(blob)('AP8'), undefined)
})

t.test('the parts of a composite key are separated by commas, each percent-encoded', async (t) => {
  const pair = (a: string, b: bigint) => [...forEachCollation([a]), ...forEachCollation([b])]
  t.strictSame(keyParser(composite)('x,7'), pair('x', 7n))
  t.strictSame(keyParser(composite)('x%2Cy%25,7'), pair('x,y%', 7n))
  t.strictSame(keyParser(composite)(',7'), pair('', 7n))
  for (const key of ['x', 'x,7,8', 'x,07', '%,7', '%E0%A4,7', '']) t.equal(keyParser(composite)(key), undefined, key)
  t.equal(matchOf(composite), `${isExactly(columnRef('t', 'a'), '?')} AND ${isExactly(columnRef('t', 'b'), '?')}`)
})

t.test('a long run of digits is parsed fast', async (t) => {
  const began = Date.now()
  keyParser(numeric)(`${'1'.repeat(8191)}x`)
  t.ok(Date.now() - began < 200)
})

t.test('the text of a key is split into the text of each part', async (t) => {
  t.strictSame(
    [...keyTexts(composite, 'x%2Cy,1')],
    [
      ['a', 'x,y'],
      ['b', '1']
    ]
  )
  t.strictSame([...keyTexts(text, 'x%2Cy,1')], [['code', 'x%2Cy,1']])
})
