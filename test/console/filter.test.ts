import t from 'tap'
import { loadSource } from './source.ts'

type Model = object

interface Convert {
  readonly toRuleModel: (fields: readonly object[], rule: object) => Model | null
  readonly toModel: (fields: readonly object[], filter: object) => Model | null
  readonly toFilter: (fields: readonly object[], model: Model) => object | null
}

interface Check {
  readonly findInvalid: (fields: readonly object[], model: Model) => ReadonlyMap<number, string>
}

interface Sentence {
  readonly toSentence: (fields: readonly object[], filter: object) => string
}

const { toModel, toRuleModel, toFilter } = await loadSource<Convert>(t, 'records/filter/convert.ts')
const { findInvalid } = await loadSource<Check>(t, 'records/filter/filter.ts')
const { toSentence } = await loadSource<Sentence>(t, 'records/filter/sentence.ts')

const FIELDS = [
  { name: 'a', jsonType: 'string', sqliteType: 'TEXT', isExact: true },
  { name: 'b', jsonType: 'string', sqliteType: 'TEXT', isExact: true },
  { name: 'n', jsonType: 'integer', sqliteType: 'INTEGER', isExact: true },
  { name: 'untyped', jsonType: 'string', sqliteType: 'BLOB', isExact: false }
]

const A = { where: { a: { eq: 'x' } } }
const B = { where: { b: { eq: 'y' } } }
const N = { where: { n: { gt: 3 } } }
const AB = { where: { a: { eq: 'x' }, b: { eq: 'y' } } }

/** The filter that the dialog applies when nothing is edited; null if it says that it cannot edit the filter. */
const applied = (filter: object) => {
  const model = toModel(FIELDS, filter)
  return model && toFilter(FIELDS, model)
}

t.test('a filter of conditions and groups is applied as it was opened', async (t) => {
  for (const filter of [A, { all: [A, N] }, { any: [A, { all: [B, N] }] }, { all: [A, { any: [B, N] }] }]) {
    t.strictSame(applied(filter), filter)
  }
  t.strictSame(applied(AB), { all: [A, B] })
  t.strictSame(applied({ any: [AB, N] }), { any: [{ all: [A, B] }, N] })
  t.strictSame(applied({ where: { a: { eq: 'x' } }, any: [B, N] }), { all: [A, { any: [B, N] }] })
  t.strictSame(applied({ all: [{ all: [AB, N] }, B] }), { all: [{ all: [A, B, N] }, B] })
})

t.test('a filter that the dialog would change is not opened', async (t) => {
  const filters = [
    { all: [{ any: [AB, N] }] },
    { where: { n: { gt: 3 } }, any: [AB, A] },
    { none: [A] },
    { any: [A, {}] },
    { any: [] },
    { all: [{ any: [{ all: [A, B] }, N] }] },
    { where: { missing: { eq: 1 } } },
    { where: { a: { eq: null } } },
    { where: { n: { contains: '3' } } },
    { where: { n: { in: [] } } }
  ]
  for (const filter of filters) t.equal(applied(filter), null, JSON.stringify(filter))
})

t.test('values of lists keep their commas, quotes and spaces', async (t) => {
  const lists = [['Doe, J.', 'Roe'], [' x '], [''], ['a', ''], ['say "hi"', '"', '\\'], [',', ', ']]
  for (const list of lists) {
    const filter = { where: { a: { in: list } } }
    t.strictSame(applied(filter), filter)
  }
  t.strictSame(applied({ where: { n: { notIn: [1, 2] } } }), { where: { n: { notIn: [1, 2] } } })
})

t.test('a list is read as it is typed', async (t) => {
  const typed = (text: string) =>
    toFilter(FIELDS, { match: 'all', items: [{ id: 1, field: 'a', operator: 'in', text }] })
  const where = (...list: readonly string[]) => ({ where: { a: { in: list } } })
  t.strictSame(typed('x,y , z'), where('x', 'y', 'z'))
  t.strictSame(typed('"Doe, J.", Roe'), where('Doe, J.', 'Roe'))
  t.strictSame(typed('"A" brand, 5"'), where('"A" brand', '5"'))
})

t.test('a range has two values', async (t) => {
  const typed = (text: string) => ({
    match: 'all',
    items: [{ id: 1, field: 'n', operator: 'between', text }]
  })
  t.strictSame(toFilter(FIELDS, typed('1, 5')), { where: { n: { between: [1, 5] } } })
  t.strictSame(applied({ where: { n: { between: [1, 5] } } }), { where: { n: { between: [1, 5] } } })
  t.equal(applied({ where: { n: { between: [1] } } }), null)
  for (const text of ['1', '1, 2, 3']) t.match(findInvalid(FIELDS, typed(text)).get(1), /two values/, text)
  t.equal(toSentence(FIELDS, { where: { n: { between: [1, 5] } } }), 'n is between 1 and 5')
  t.equal(toSentence(FIELDS, { where: { n: { between: 1 } } }), 'n is between 1')
})

t.test('numbers and text of a column without a type stay apart', async (t) => {
  for (const value of [5, '5', -1.5, 'five']) {
    const filter = { where: { untyped: { eq: value } } }
    t.strictSame(applied(filter), filter)
  }
  t.strictSame(applied({ where: { untyped: { in: [1, 2] } } }), { where: { untyped: { in: [1, 2] } } })
  t.strictSame(applied({ where: { untyped: { in: ['1', '2'] } } }), { where: { untyped: { in: ['1', '2'] } } })
  t.equal(applied({ where: { untyped: { in: [1, '1'] } } }), null)
})

t.test('a sentence shows which conditions belong together', async (t) => {
  t.equal(toSentence(FIELDS, { any: [A, N] }), 'a is “x” or n is greater than 3')
  t.equal(toSentence(FIELDS, { where: { a: { eq: 'x or y' } }, all: [B] }), 'a is “x or y” and b is “y”')
  t.equal(
    toSentence(FIELDS, { where: N.where, any: [AB, A] }),
    'n is greater than 3 and ((a is “x” and b is “y”) or a is “x”)'
  )
})

t.test('a value of a rule can be a claim, and that of a filter cannot', async (t) => {
  const claim = { $claim: 'mine' }
  const rules = [
    { where: { n: { eq: claim } } },
    { where: { a: { in: claim } } },
    { any: [{ where: { a: { contains: claim } } }, { where: { untyped: { between: claim } } }] }
  ]
  for (const rule of rules) {
    const model = toRuleModel(FIELDS, rule)
    t.strictSame(model && toFilter(FIELDS, model), rule)
    t.equal(toModel(FIELDS, rule), null)
  }
  t.equal(toSentence(FIELDS, { where: { a: { in: claim } } }), 'a is one of the claim mine')
  t.match(
    findInvalid(FIELDS, { match: 'all', items: [{ id: 1, field: 'n', operator: 'eq', text: ' ', isClaim: true }] }).get(
      1
    ),
    /claim/
  )
})

t.test('a rule that conditions would change is not opened', async (t) => {
  const claim = { $claim: 'mine' }
  const rules = [
    { where: { n: { in: [1, claim] } } },
    { where: { a: { eq: { other: 1 } } } },
    { where: { a: { isNull: claim } } },
    { via: { n: { where: { x: { eq: 1 } } } } },
    { all: [A, { via: { n: A } }] }
  ]
  for (const rule of rules) t.equal(toRuleModel(FIELDS, rule), null, JSON.stringify(rule))
  t.equal(
    toSentence(FIELDS, { where: { n: { gt: 3 } }, via: { b: { any: [A, B] } } }),
    'n is greater than 3 and b refers to a record with (a is “x” or b is “y”)'
  )
})

t.test('a condition on a field that is missing, or has another type, is invalid', async (t) => {
  const invalid = (field: string, operator: string) =>
    findInvalid(FIELDS, { match: 'all', items: [{ id: 1, field, operator, text: '1' }] }).get(1)
  t.match(invalid('gone', 'eq'), /no field gone/)
  t.match(invalid('n', 'contains'), /operator/)
  t.equal(invalid('n', 'eq'), undefined)
})
