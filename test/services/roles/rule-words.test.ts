import t from 'tap'
import { operators } from '../../../schemas/query.ts'
import type { Claims } from '../../../schemas/role.ts'
import { recordsInWords, valueInWords } from '../../../services/roles/rule-words.ts'

const inWords = (rule: object | undefined, claims: Claims = {}) => recordsInWords(rule, claims)

t.test('a condition of each operator has words', async (t) => {
  const expected = {
    eq: [5, 'equals 5'],
    ne: ['red', "is not 'red'"],
    gt: [5, 'is greater than 5'],
    gte: [5, 'is at least 5'],
    lt: [5, 'is less than 5'],
    lte: [5, 'is at most 5'],
    between: [[1, 2], 'is between 1 and 2'],
    in: [['a', 'b'], "is one of 'a', 'b'"],
    notIn: [['a'], "is none of 'a'"],
    isNull: [true, 'has no value'],
    contains: ['cup', "contains 'cup'"],
    startsWith: ['cup', "starts with 'cup'"],
    endsWith: ['cup', "ends with 'cup'"]
  } as const
  t.same(Object.keys(expected), Object.keys(operators))
  for (const [operator, [value, words]] of Object.entries(expected))
    t.equal(inWords({ where: { f: { [operator]: value } } }), `Records where f ${words}.`)
  t.equal(inWords({ where: { f: { isNull: false } } }), 'Records where f has a value.')
  t.equal(inWords({ where: { f: { in: [] } } }), 'Records where f is one of an empty list.')
  t.equal(inWords({ where: { f: { between: 1 } } }), 'Records where f is between 1.', 'a rule that closes the table')
})

t.test('all conditions of a rule are joined', async (t) => {
  const where = { customer_id: { eq: 17 }, state: { ne: 'archived' } }
  t.equal(inWords({ where }), "Records where customer_id equals 17 and state is not 'archived'.")
  t.equal(inWords({ where: { n: { gte: 1, lt: 5 } } }), 'Records where n is at least 1 and n is less than 5.')
})

t.test('lists of rules have brackets where they are needed', async (t) => {
  const a = { where: { a: { eq: 1 } } }
  const b = { where: { b: { eq: 2 } } }
  const both = { where: { ...a.where, ...b.where } }
  t.equal(inWords({ any: [a, b] }), 'Records where a equals 1 or b equals 2.')
  t.equal(inWords({ any: [a, both] }), 'Records where a equals 1 or (a equals 1 and b equals 2).')
  t.equal(inWords({ ...a, any: [a, b] }), 'Records where a equals 1 and (a equals 1 or b equals 2).')
  t.equal(inWords({ all: [a, b] }), 'Records where a equals 1 and b equals 2.')
  t.equal(inWords({ none: [a, b] }), 'Records where not (a equals 1 or b equals 2).')
})

t.test('empty parts match every record, or none', async (t) => {
  for (const rule of [undefined, {}, { where: {} }, { all: [] }, { none: [] }, { any: [{}] }])
    t.equal(inWords(rule), 'All records.')
  t.equal(inWords({ any: [] }), 'No records.')
  t.equal(inWords({ none: [{}] }), 'Records where not (any record).')
})

t.test('via names the foreign key', async (t) => {
  const via = { order_id: { via: { customer_id: { where: { region: { eq: 'north' } } } } } }
  t.equal(
    inWords({ via }),
    "Records where order_id refers to a record with (customer_id refers to a record with (region equals 'north'))."
  )
})

t.test('claims show their value, and missing ones their name', async (t) => {
  const claims = { customer: 17, regions: ['north', 'south'] }
  const rule = (operator: string, claim: string) => ({ where: { f: { [operator]: { $claim: claim } } } })
  t.equal(inWords(rule('eq', 'customer'), claims), 'Records where f equals 17.')
  t.equal(inWords(rule('in', 'regions'), claims), "Records where f is one of 'north', 'south'.")
  t.equal(inWords(rule('eq', 'regions'), claims), "Records where f equals 'north', 'south'.")
  t.equal(inWords(rule('eq', 'other'), claims), "Records where f equals the missing claim 'other'.")
  t.equal(inWords({ where: { f: { in: [1, { $claim: 'customer' }] } } }, claims), 'Records where f is one of 1, 17.')
  t.equal(valueInWords({ $claim: 'toString' }, {}), "the missing claim 'toString'")
  t.equal(valueInWords(null, {}), 'null')
})
