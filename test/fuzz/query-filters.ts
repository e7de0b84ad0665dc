import { type Operator, operators } from '../../schemas/query.ts'
import type { ModelFilter } from './query-model.ts'
import type { QueryColumn, QueryTable } from './query-tables.ts'
import type { Random } from './random.ts'

/** A filter of a request, and the same one with stored values. */
type FilterPair = readonly [sent: { [name: string]: unknown }, model: ModelFilter]

const OPERATORS = Object.keys(operators) as readonly Operator[]

const operatorsOf = ({ isText }: QueryColumn) =>
  OPERATORS.filter((name) => isText || operators[name].operand !== 'text')

const TEXT_PARTS = [
  'a',
  'A',
  'b',
  ' ',
  '5',
  '.',
  'ä',
  'Ä',
  'ß',
  'Σ',
  'ς',
  'м',
  'М',
  '\u{1F600}',
  '0',
  '-01',
  '%',
  "'",
  'ab  '
]

const randomOperand = (column: QueryColumn, operator: Operator, random: Random): readonly [unknown, unknown] => {
  const { operand } = operators[operator]
  if (operand === 'boolean') {
    const expected = random.chance(0.5)
    return [expected, expected]
  }
  if (operand === 'text') {
    const part = random.pick(TEXT_PARTS)
    return [part, part]
  }
  if (operand === 'value') return random.pick(column.operands)
  const length = operand === 'range' ? 2 : random.below(4)
  const list = Array.from({ length }, () => random.pick(column.operands))
  return [list.map(([json]) => json), list.map(([, stored]) => stored)]
}

const randomCondition = ({ columns }: QueryTable, random: Random, names?: readonly Operator[]): FilterPair => {
  const column = random.pick([...columns.values()])
  const operator = random.pick(names ?? operatorsOf(column))
  const [sent, model] = randomOperand(column, operator, random)
  return [{ where: { [column.name]: { [operator]: sent } } }, { where: { [column.name]: { [operator]: model } } }]
}

const INDEXABLE: readonly Operator[] = ['eq', 'gt', 'gte', 'lt', 'lte', 'between', 'isNull']

/** Returns a filter of up to three levels, with operands that the values of the columns may equal. */
export const randomFilter = (table: QueryTable, random: Random, depth = 0): FilterPair => {
  if (depth === 0 && random.chance(0.3)) return randomCondition(table, random, INDEXABLE)
  if (depth === 3 || random.chance(0.4)) return randomCondition(table, random)
  const list = Array.from({ length: random.below(4) }, () => randomFilter(table, random, depth + 1))
  const name = random.pick(['all', 'any', 'none'])
  const [sent, model] = random.chance(0.5) ? randomCondition(table, random) : [{}, {}]
  return [
    { ...sent, [name]: list.map(([part]) => part) },
    { ...model, [name]: list.map(([, part]) => part) }
  ]
}
