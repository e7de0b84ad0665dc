import fc from 'fast-check'
import type { AggregateFunction } from '../../../../schemas/aggregate.ts'
import { type Aggregate, aggregateRecords, type FunctionName, isInexact } from '../aggregates.ts'
import { command, pick } from '../harness.ts'
import { isNumeric } from '../values.ts'
import { rarely, selector } from './arbitraries.ts'
import { toFilter } from './filters.ts'
import { optionalFilter, search } from './queries.ts'
import { findTarget, sendAs, type TargetTable, target } from './targets.ts'

const call = fc.record({
  name: fc.constantFrom<FunctionName>('count', 'sum', 'sum', 'avg', 'min', 'max', 'countDistinct'),
  at: selector,
  isUnchecked: rarely
})
type CallInput = typeof call extends fc.Arbitrary<infer T> ? T : never

const input = fc.record({
  groupBy: fc.array(selector, { maxLength: 2 }),
  calls: fc.array(call, { minLength: 1, maxLength: 4 }),
  order: fc.array(fc.record({ at: selector, isDescending: fc.boolean() }), { maxLength: 2 }),
  size: fc.option(fc.integer({ min: 1, max: 5 }), { freq: 1, nil: undefined }),
  q: search,
  filter: optionalFilter
})
type Input = typeof input extends fc.Arbitrary<infer T> ? T : never

const toCall = ({ table, fields }: TargetTable, { name, at, isUnchecked }: CallInput): AggregateFunction => {
  const fitting = name === 'sum' || name === 'avg' ? fields.filter(isNumeric) : fields
  const field = isUnchecked ? pick([...table.fields, { name: 'nothing' }], at) : pick(fitting, at)
  return name === 'count' || !field ? { count: true } : { [name]: field.name }
}

/** Rows are not sorted by inexact values: two of them may be equal. */
const isSortable = ({ table }: TargetTable, call: AggregateFunction) => {
  const [name, fieldName] = Object.entries(call)[0] as [FunctionName, unknown]
  return !isInexact(
    name,
    table.fields.find((field) => field.name === fieldName)
  )
}

const nameAt = (names: readonly string[], at: number) => (at % 20 === 19 ? 'nothing' : String(pick(names, at)))

/** Of the table: with the hidden fields. */
const namesOf = ({ fields }: Pick<TargetTable, 'fields'>) => fields.map(({ name }) => name)

const toAggregate = (targetTable: TargetTable, { groupBy, calls, order, size, q, filter }: Input): Aggregate => {
  const groups = groupBy.map((at) => nameAt(namesOf(at % 8 === 7 ? targetTable.table : targetTable), at >> 3))
  const compute = calls.map((one, index) => [`c${index}`, toCall(targetTable, one)] as const)
  const sortable = compute.filter(([, one]) => isSortable(targetTable, one)).map(([name]) => name)
  const names = [...groups, ...sortable]
  return {
    groupBy: groups,
    compute: Object.fromEntries(compute),
    order: names.length === 0 ? [] : order.map(({ at, isDescending }) => ({ name: nameAt(names, at), isDescending })),
    ...(size && { size }),
    ...(q && { q }),
    ...(filter && { filter: toFilter(targetTable, filter) })
  }
}

const COUNT: Aggregate = { groupBy: [], compute: { n: { count: true } }, order: [] }

const aggregate = command(10, fc.record({ ...target, input }), (harness, { input, ...target }) => {
  const targetTable = findTarget(harness.model, target)
  const request = targetTable ? toAggregate(targetTable, input) : COUNT
  const { order, ...rest } = request
  const text = order.map(({ name, isDescending }) => `${isDescending ? '-' : ''}${name}`).join(',')
  const payload = { ...rest, ...(text !== '' && { order: text }) }
  return sendAs(
    harness,
    target,
    { need: 'read', method: 'POST', route: 'aggregate', payload },
    (table, viewer, returned) => aggregateRecords(harness.model, table, viewer, request, returned)
  )
})

export const aggregateCommands = { aggregateRecords: aggregate }
