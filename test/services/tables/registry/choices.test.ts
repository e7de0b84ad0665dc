import t from 'tap'
import { readChoices, writeChoices } from '../../../../services/tables/registry/choices.ts'

const FIELD = {
  name: 'a',
  clientName: 'A',
  label: 'A',
  jsonType: 'string',
  isHidden: false,
  isReadonly: true
} as const
const KEY = { ...FIELD, name: 'k', clientName: 'K', isNullableKey: true, exactType: 'TEXT' }
const CHOICES = { clientName: 'Cats', fields: [FIELD, KEY], autoTimestamps: false }

t.test('choices are read as they were written, with their version', async (t) => {
  const text = writeChoices(CHOICES)
  t.strictSame(readChoices(text), CHOICES)
  t.equal(JSON.parse(text).version, 2)
  for (const labelField of ['a', null]) {
    t.strictSame(readChoices(writeChoices({ ...CHOICES, labelField })), { ...CHOICES, labelField })
  }
})

t.test('choices that cannot be read are refused with the reason', async (t) => {
  const stored = { version: 2, ...CHOICES }
  const withField = (changes: object) => ({ ...stored, fields: [{ ...FIELD, ...changes }] })
  const cases: readonly (readonly [stored: unknown, reason: RegExp])[] = [
    [5, /not an object/],
    [null, /not an object/],
    [{ ...stored, version: 1 }, /version 1; this Rowhouse reads 2/],
    [{ fields: [], autoTimestamps: false }, /version undefined/],
    [{ ...stored, autoTimestamps: 1 }, /autoTimestamps/],
    [{ ...stored, clientName: undefined }, /clientName/],
    [{ ...stored, clientName: 'cats' }, /clientName/],
    [{ ...stored, viewKey: 'a' }, /viewKey/],
    [{ ...stored, viewKey: [5] }, /viewKey/],
    [{ ...stored, labelField: 5 }, /labelField/],
    [{ ...stored, labelField: 'a\0' }, /labelField/],
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
      { isNullableKey: 'yes' },
      { clientName: 'a b' },
      { clientName: 5 },
      { exactType: 5 }
    ].map((changes) => [withField(changes), /fields/] as const)
  ]
  for (const [value, reason] of cases) t.throws(() => readChoices(JSON.stringify(value)), { message: reason })
  t.throws(() => readChoices('{'))
})
