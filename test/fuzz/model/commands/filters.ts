import fc from 'fast-check'
import type { PlainField as Field } from '../../../../services/model/table.ts'
import { pick } from '../harness.ts'
import { COMPARISONS, LIST_OPERATORS, RANGE_OPERATORS, TEXT_OPERATORS } from '../queries.ts'
import { toJson, toStored } from '../values.ts'
import { rarely, selector, value } from './arbitraries.ts'
import { ANY_VALUE } from './records.ts'
import type { TargetTable } from './targets.ts'

const MAX_DEPTH = 2

interface ConditionInput {
  readonly at: number
  readonly operator: number
  readonly row: number
  readonly values: readonly unknown[]
  readonly isUnchecked: boolean
}

export interface FilterInput {
  readonly conditions: readonly ConditionInput[]
  readonly list: { readonly name: 'all' | 'any' | 'none'; readonly filters: readonly FilterInput[] } | null
}

const condition = fc.record<ConditionInput>({
  at: selector,
  operator: selector,
  row: selector,
  values: fc.array(value, { maxLength: 3 }),
  isUnchecked: rarely
})

const filterAt = (depth: number): fc.Arbitrary<FilterInput> =>
  fc.record<FilterInput>({
    conditions: fc.array(condition, { maxLength: 2 }),
    list:
      depth === MAX_DEPTH
        ? fc.constant(null)
        : fc.option(
            fc.record({
              name: fc.constantFrom('all', 'any', 'none'),
              filters: fc.array(filterAt(depth + 1), { maxLength: 2 })
            }),
            { freq: 2 }
          )
  })

/** Filters with up to two levels of lists. */
export const filterInput = filterAt(0)

const operatorsFor = ({ jsonType }: Field) => [
  ...COMPARISONS,
  ...RANGE_OPERATORS,
  ...LIST_OPERATORS,
  'isNull',
  ...(jsonType === 'string' ? TEXT_OPERATORS : [])
]
const ANY_OPERATOR = [...COMPARISONS, ...RANGE_OPERATORS, ...LIST_OPERATORS, 'isNull', ...TEXT_OPERATORS, 'like']

/** Returns values of the field in some records, those of the input that have its type, and one that always has. */
const operandsFor = ({ stored }: TargetTable, { name, jsonType }: Field, { row, values }: ConditionInput) => {
  const rows = stored?.rows ?? []
  const found = [pick(rows, row), pick(rows, row >> 3)].flatMap((known) => known?.get(name) ?? [])
  const fitting = values.filter((candidate) => toStored(jsonType, candidate) !== undefined)
  return [...found.map((one) => toJson(jsonType, one)), ...fitting, pick(ANY_VALUE[jsonType], row)]
}

/** Returns one to four characters of a text. An index of texts finds three or more. */
export const partOf = (text: string, n: number) => {
  const characters = [...text]
  const start = n % Math.max(characters.length, 1)
  return characters.slice(start, start + 1 + ((n >> 3) % 4)).join('')
}

const operandFor = (operator: string, operands: readonly unknown[], n: number): unknown => {
  if (operator === 'isNull') return n % 2 === 0
  if (LIST_OPERATORS.includes(operator)) return operands
  if (RANGE_OPERATORS.includes(operator)) return [pick(operands, n), pick(operands, n >> 3)]
  const operand = pick(operands, n)
  if (!TEXT_OPERATORS.includes(operator) || typeof operand !== 'string') return operand
  return partOf(operand, n) || 'a'
}

const conditionFor = (targetTable: TargetTable, input: ConditionInput) => {
  const { at, operator, row, values, isUnchecked } = input
  if (isUnchecked) {
    const name = pick([...targetTable.table.fields, { name: 'nothing' }], at)?.name ?? ''
    return { name, operator: pick(ANY_OPERATOR, operator) ?? '', operand: values.length > 2 ? values : values[0] }
  }
  const field = pick(targetTable.fields, at)
  if (!field) return undefined
  const name = pick(operatorsFor(field), operator) ?? ''
  return { name: field.name, operator: name, operand: operandFor(name, operandsFor(targetTable, field, input), row) }
}

/** Returns a filter in the form of a request. */
export const toFilter = (targetTable: TargetTable, { conditions, list }: FilterInput): object => {
  const where: Record<string, Record<string, unknown>> = {}
  for (const input of conditions) {
    const chosen = conditionFor(targetTable, input)
    if (chosen?.operand === undefined) continue
    where[chosen.name] = { ...where[chosen.name], [chosen.operator]: chosen.operand }
  }
  return {
    ...(conditions.length > 0 && { where }),
    ...(list && { [list.name]: list.filters.map((part) => toFilter(targetTable, part)) })
  }
}
