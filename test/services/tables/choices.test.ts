import t from 'tap'
import { readChoices, writeChoices } from '../../../services/tables/choices.ts'

const FIELD = { name: 'a', label: 'A', jsonType: 'string', isHidden: false, isReadonly: true } as const
const CHOICES = { fields: [FIELD, { ...FIELD, name: 'k', isNullableKey: true }], autoTimestamps: false }

t.test('choices are read as they were written, with their version', async (t) => {
  const text = writeChoices(CHOICES)
  t.strictSame(readChoices(text), CHOICES)
  t.equal(JSON.parse(text).version, 1)
})

t.test('choices that cannot be read are refused with the reason', async (t) => {
  const stored = { version: 1, ...CHOICES }
  const withField = (changes: object) => ({ ...stored, fields: [{ ...FIELD, ...changes }] })
  const cases: readonly (readonly [stored: unknown, reason: RegExp])[] = [
    [5, /not an object/],
    [null, /not an object/],
    [{ ...stored, version: 2 }, /version 2; this Rowhouse reads 1/],
    [{ fields: [], autoTimestamps: false }, /version undefined/],
    [{ ...stored, autoTimestamps: 1 }, /autoTimestamps/],
    [{ ...stored, fields: [] }, /fields/],
    [{ ...stored, fields: {} }, /fields/],
    [{ ...stored, fields: [null] }, /fields/],
    [{ ...stored, fields: ['a'] }, /fields/],
    [{ ...stored, fields: [FIELD, { ...FIELD, name: 'A' }] }, /fields/],
    ...[
      { name: 5 },
      { name: 'a\0' },
      { label: null },
      { jsonType: 'date' },
      { jsonType: 'toString' },
      { jsonType: 5 },
      { isHidden: 0 },
      { isReadonly: undefined },
      { isNullableKey: 'yes' }
    ].map((changes) => [withField(changes), /fields/] as const)
  ]
  for (const [value, reason] of cases) t.throws(() => readChoices(JSON.stringify(value)), { message: reason })
  t.throws(() => readChoices('{'))
})
