import {
  type AggregateFunction,
  MAX_AGGREGATE_ROWS,
  MAX_FUNCTIONS,
  type Period,
  type RecordAggregate
} from '../../../schemas/aggregate.ts'
import type { Caller } from '../../model/caller.ts'
import { DomainError, excerpt, invalid, pointer } from '../../model/errors.ts'
import { canBeAdded, canBeDates } from '../../model/kinds/aggregates.ts'
import {
  type Aggregation,
  aggregateRows,
  type Computed,
  countOfRecords,
  type FunctionName,
  fieldGroup,
  functionOf,
  GROUPS,
  type Group,
  type Output,
  outputColumn,
  periodGroup
} from '../../sql/aggregates.ts'
import type { OrderItem, RowSelection } from '../../sql/selections.ts'
import type { Access } from '../access/access.ts'
import type { ReadableBy, ReadableTables } from '../access/readable.ts'
import { columnOf } from './columns.ts'
import { confirmJoins } from './confirming.ts'
import { readHaving } from './filter.ts'
import { notAField, parseItem, splitOrder } from './order.ts'
import { textOf } from './page-text.ts'
import type { Scan } from './scans.ts'
import { rowSelectionOf } from './selection.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** The message continues a sentence that begins with the path. */
const fail = (path: string, code: string, message: string) =>
  invalid([{ path, code, message: `'${path.slice(1)}' ${message}.` }])

const shapeOf = ({ table, dialect, integers }: Access) => ({
  tableName: table.name,
  isStrict: table.structure.isStrict,
  dialect,
  integers
})

const readPeriod = (access: Access, { field, unit }: Period): Group => {
  const column = columnOf(access, '/by/field', field)
  if (canBeDates(column)) return periodGroup(shapeOf(access), column, unit)
  throw fail('/by/field', 'type', 'must be a field with dates as text, or with epoch milliseconds as integers')
}

/** Returns the groups: those of the fields, then the period. @throws VALIDATION_FAILED */
const readGroups = (access: Access, { groupBy = [], by }: RecordAggregate): readonly Group[] => {
  const shape = shapeOf(access)
  const pathOf = (index: number) => `/groupBy/${index}`
  const fields = groupBy.map((name, index) => fieldGroup(shape, columnOf(access, pathOf(index), name)))
  const repeated = groupBy.findIndex((name, index) => groupBy.indexOf(name) !== index)
  if (repeated !== -1) throw fail(pathOf(repeated), 'duplicate', 'repeats a field of groupBy')
  if (!by) return fields
  if (groupBy.includes(by.field)) throw fail('/by/field', 'duplicate', 'repeats a field of groupBy')
  return [...fields, readPeriod(access, by)]
}

const readCount = (name: string, path: string, count: unknown): Computed => {
  if (count === true) return countOfRecords(name)
  throw fail(path, 'type', 'must be true')
}

/** Returns one computed value. @throws VALIDATION_FAILED */
const readFunction = (access: Access, name: string, path: string, call: AggregateFunction): Computed => {
  const [entry, ...others] = Object.entries(call)
  if (!entry || others.length > 0) throw fail(path, 'length', 'must have exactly one function')
  const [key, value] = entry
  const callPath = `${path}/${key}`
  if (key === 'count') return readCount(name, callPath, value)
  const column = columnOf(access, callPath, String(value))
  if ((key === 'sum' || key === 'avg') && !canBeAdded(access.table.structure, column)) {
    throw fail(callPath, 'type', 'must be a numeric field')
  }
  // The schema of the body has no other functions.
  return functionOf(shapeOf(access), name, key as FunctionName, column)
}

/** Returns the computed values. @throws VALIDATION_FAILED */
const readComputed = (access: Access, { compute }: RecordAggregate, groups: readonly Group[]): readonly Computed[] => {
  const entries = Object.entries(compute)
  if (entries.length === 0 || entries.length > MAX_FUNCTIONS) {
    throw fail('/compute', 'length', `must have 1 to ${MAX_FUNCTIONS} values to compute`)
  }
  return entries.map(([name, call]) => {
    const path = `/compute${pointer(excerpt(name))}`
    if (!NAME.test(name)) {
      throw fail(
        path,
        'format',
        "must have a name of at most 64 ASCII letters, digits and '_', which begins with no digit"
      )
    }
    if (groups.some((group) => group.name === name)) throw fail(path, 'duplicate', 'has the name of a group')
    return readFunction(access, name, path, call)
  })
}

/** Returns the order of the rows. @throws VALIDATION_FAILED */
const readOrder = (outputs: readonly Output[], order = ''): readonly OrderItem[] => {
  const names = new Set(outputs.map(({ name }) => name))
  return splitOrder(order, names).map((item) => {
    const parsed = parseItem(item, names)
    if (parsed) return parsed
    throw notAField(item, names, 'a name of `compute`, `groupBy` or `by`')
  })
}

/** Returns the condition of the groups. null: all groups. @throws VALIDATION_FAILED */
const havingOf = ({ integers }: Access, having: unknown, groups: readonly Group[], computed: readonly Computed[]) => {
  if (having === undefined) return null
  const columns = computed.map(
    ({ name, type }, index) => [name, { ...type, name: outputColumn(groups.length + index) }] as const
  )
  return readHaving({ table: { name: GROUPS }, integers, columns: new Map(columns) }, having)
}

const aggregationOf = (access: Access, request: RecordAggregate, readable: ReadableTables): Aggregation => {
  // `order` names values of the result, not fields of records.
  const { order, size = MAX_AGGREGATE_ROWS, ...selected } = request
  const groups = readGroups(access, request)
  const computed = readComputed(access, request, groups)
  return {
    selection: rowSelectionOf(access, selected, readable),
    groups,
    computed,
    having: havingOf(access, request.having, groups, computed),
    order: readOrder([...groups, ...computed], order),
    limit: size
  }
}

const overflow = () =>
  new DomainError('AGGREGATE_OVERFLOW', 'A sum of integers exceeds 64 bits.', {
    hint: 'Send a filter that matches fewer records, or compute `avg` instead of `sum`.'
  })

/** SQLite's message. A generated column can fail with it, too. */
const INTEGER_OVERFLOW = 'integer overflow'

const isOverflow = (error: unknown, { compute }: RecordAggregate) =>
  error instanceof DomainError &&
  error.reported === INTEGER_OVERFLOW &&
  Object.values(compute).some(({ sum }) => sum !== undefined)

/** Creates the function that computes values of groups of records. */
export const createAggregates = ({ scan, readableBy }: { readonly scan: Scan; readonly readableBy: ReadableBy }) => {
  /**
   * Returns the rows as JSON text: `{ rows }`.
   * @throws VALIDATION_FAILED, AGGREGATE_OVERFLOW, RESPONSE_TOO_LARGE, SCAN_TIMEOUT
   */
  const aggregate = async (caller: Caller, access: Access, request: RecordAggregate): Promise<string> => {
    const read = () => aggregationOf(access, request, readableBy(caller))
    const aggregation = read()
    const compose = (selection: RowSelection) => aggregateRows({ ...aggregation, selection })
    const confirmed = confirmJoins(caller, aggregation.selection, () => read().selection)
    const [row] = await scan(confirmed, aggregation.selection, compose).catch((error) => {
      throw isOverflow(error, request) ? overflow() : error
    })
    return `{"rows":[${textOf(row)}]}`
  }

  return { aggregate }
}
