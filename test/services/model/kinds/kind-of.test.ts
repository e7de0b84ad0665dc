import t from 'tap'
import type { JsonType, SqliteType } from '../../../../schemas/table.ts'
import { kindOf } from '../../../../services/model/kinds/kind-of.ts'
import type { Column } from '../../../../services/model/table.ts'

const kind = (jsonType: JsonType, sqliteType: SqliteType, declaredType: string = sqliteType) =>
  kindOf({ jsonType, sqliteType, declaredType })

t.test('the kind of a column follows from its JSON type, stored type and declaration', async (t) => {
  t.equal(kind('integer', 'INTEGER').name, 'integer')
  t.equal(kind('number', 'REAL').name, 'real')
  t.equal(kind('number', 'NUMERIC').name, 'numeric')
  t.equal(kind('boolean', 'INTEGER').name, 'boolean')
  t.equal(kind('object', 'TEXT').name, 'json')
  t.equal(kind('array', 'TEXT').name, 'json')
  t.equal(kind('string', 'TEXT').name, 'text')
  t.equal(kind('string', 'BLOB').name, 'blob')
  t.equal(kind('string', 'BLOB', '').name, 'untyped')
  t.equal(kind('string', 'BLOB', 'ANY').name, 'untyped')
  t.equal(kind('string', 'NUMERIC', 'DATETIME').name, 'loose')
})

t.test('the message of a field for numbers says that it must be a number', async (t) => {
  const messageOf = (value: unknown) => {
    const column = { jsonType: 'number', sqliteType: 'NUMERIC' } as Column
    const checked = kind('number', 'NUMERIC').check(value, column, 'auto')
    return 'violation' in checked ? checked.violation.message : null
  }
  t.match(messageOf('5'), /^must be a number, without quotes/)
  t.equal(messageOf('x'), 'must be a number')
  t.strictSame([messageOf(5), messageOf(1.5), messageOf('9007199254740993')], [null, null, null])
})

t.test('a kind parses the text that it makes of a key', async (t) => {
  const columns = [
    [kind('integer', 'INTEGER'), 9007199254740993n],
    [kind('number', 'REAL'), 1.5],
    [kind('boolean', 'INTEGER'), 1n],
    [kind('boolean', 'INTEGER'), 0n],
    [kind('boolean', 'INTEGER'), 2n],
    [kind('string', 'TEXT'), 'a,b'],
    [kind('string', 'BLOB'), new Uint8Array([0, 255])]
  ] as const
  for (const [{ name, keyText, parseKey }, value] of columns) t.strictSame(parseKey(keyText(value)), [value], name)
})

t.test('without an affinity, several stored values have the same JSON', async (t) => {
  const { sameInJson } = kind('string', 'BLOB', '')
  t.strictSame(sameInJson('0100'), ['0100', new Uint8Array(Buffer.from('0100', 'base64')), '0100'])
  t.strictSame(sameInJson('90071992547409931'), ['90071992547409931', '90071992547409931', 90071992547409931n])
  t.strictSame(sameInJson(5n), [5n, 5n, 5n])
  t.strictSame(kind('string', 'TEXT').sameInJson('0100'), ['0100'])
})

t.test('a JSON column outside a STRICT table may store any type', async (t) => {
  const json = kind('object', 'TEXT')
  t.strictSame(json.parseKey('{"a":1}'), ['{"a":1}'])
  const context = { escapesFormulas: false, base64: (value: string) => `base64(${value})` }
  t.match(json.csv('"t"."c"', { ...context, isStrict: false }), /base64\("t"\."c"\)/)
  t.notMatch(json.csv('"t"."c"', { ...context, isStrict: true }), /base64/)
})
