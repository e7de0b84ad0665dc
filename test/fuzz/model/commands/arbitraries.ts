import fc from 'fast-check'
import type { JsonType } from '../../../../schemas/table.ts'

/** A number that selects one of the existing sessions, tables or rows: see `pick`. */
export const selector = fc.nat(999)
/** A value in one of `oneIn` cases, otherwise null. */
export const sometimes = <T>(arbitrary: fc.Arbitrary<T>, oneIn = 12) =>
  fc.oneof({ weight: oneIn - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })
/** True in one of ten cases. */
export const rarely = fc.integer({ min: 0, max: 9 }).map((n) => n === 9)

/** Text with the special characters of LIKE, CSV, JSON, SQL, URLs and case folding. */
export const text = fc.string({
  unit: fc.constantFrom(...'aAbB01äÄ😀%_\\"\',\n=+-@ /#?&é'),
  maxLength: 5
})

const integer = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -9, max: 12 }) },
  { weight: 1, arbitrary: fc.maxSafeInteger() },
  {
    weight: 2,
    arbitrary: fc.constantFrom<number | string>(
      Number.MAX_SAFE_INTEGER,
      Number.MIN_SAFE_INTEGER,
      '9007199254740992',
      '-9007199254740993',
      '9223372036854775807',
      '-9223372036854775808'
    )
  }
)

/** Without -0, which JSON.stringify turns into 0. */
const double = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.constantFrom(0.1, 0.5, 1e21, 5e-324, Number.MAX_VALUE, 1 / 3)
)

const json = fc.constantFrom<object>({}, [], { a: [1, null] }, { é: 'ü"' }, [true, 'x'], [{}, 0.1])

/** Any JSON value. It is valid for some types of fields and invalid for others. */
export const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: integer },
  { weight: 3, arbitrary: double },
  { weight: 5, arbitrary: text },
  { weight: 2, arbitrary: fc.boolean() },
  { weight: 2, arbitrary: json },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(1e300, '9223372036854775808', '01', 2 ** 53) }
)

/** Few names, so that they collide. Some are keywords, some have upper and lower case. */
export const tableNames = ['cats', 'Dogs', 'select', 'T_1', 'order']
export const tableName = fc.constantFrom(...tableNames)
export const fieldName = fc.constantFrom('a', 'Name', 'n', 'group', 'b_2', 'id', 'r', 'updated_at', 'sqlite_x')

/** Returns the name in upper case, in lower case or unchanged. */
export const changeCase = (name: string, n: number) => {
  if (n % 5 === 0) return name.toUpperCase()
  return n % 5 === 1 ? name.toLowerCase() : name
}

export const jsonTypes = fc.constantFrom<JsonType>('integer', 'number', 'string', 'boolean', 'object', 'array')
