import type { SqlValue } from '../model/sql-value.ts'
import { isNullable, type RegisteredTable } from '../model/table.ts'
import { allOf, type Comparison, type Condition, compare, isNull } from './conditions.ts'
import type { RecordText } from './record-text.ts'
import {
  fromOf,
  guardedCondition,
  type OrderItem,
  orderClause,
  type Selection,
  STABLE_PARAM,
  selectedParams,
  tableOfItem
} from './selections.ts'

/** The values of the columns of an order in one row, in the sequence of the order. */
export type Position = readonly SqlValue[]

/** Where a page begins: after a row, or after a number of rows. */
export interface PageStart {
  readonly position: Position | null
  readonly offset: number
}

/** A page to select. */
export interface PageSelection {
  readonly selection: Selection
  readonly record: RecordText
  readonly start: PageStart
  readonly limit: number
  /** Whether the position of the last record is needed, and whether another page follows. */
  readonly needsNext: boolean
}

export interface Window {
  readonly limit: number
  readonly offset: number
}

/** The rowid of a table without an integer key is no column, and never NULL. A joined record may be missing. */
const mayBeNull = ({ structure }: RegisteredTable, { name, alias }: OrderItem) =>
  alias !== undefined || structure.columns.some((column) => column.name === name && isNullable(structure, column))

/** Returns the conditions for the rows after a value in ascending or descending order. NULL is before all values. */
const after = (table: RegisteredTable, item: OrderItem, value: SqlValue): readonly Condition[] => {
  const compared = tableOfItem(table, item)
  if (value === null) return item.descending ? [] : [isNull(compared, item, false)]
  if (!item.descending) return [compare(compared, item, 'gt', value)]
  const less = compare(compared, item, 'lt', value)
  return mayBeNull(table, item) ? [less, isNull(compared, item, true)] : [less]
}

const equals = (table: RegisteredTable, item: OrderItem, value: SqlValue) =>
  value === null ? isNull(tableOfItem(table, item), item, true) : compare(tableOfItem(table, item), item, 'eq', value)

/**
 * Returns the rows after a position as ranges, in the order of the rows. Those of the first range have the same values in
 * all columns but the last, and come after the position in the last one. The next range drops one column, and so on. An
 * index of the order serves each range.
 */
const rangesAfter = ({ table, order }: Selection, position: Position): readonly Condition[] =>
  order
    .map((item, index) => {
      const same = order.slice(0, index).map((before, at) => equals(table, before, position[at] as SqlValue))
      return after(table, item, position[index] as SqlValue).map((range) => allOf([...same, range]))
    })
    .reverse()
    .flat()

/** A range of rows, in the order of the page. */
export interface Range {
  /** The comparisons that an index must serve so that SQLite reads no other rows. null: an index cannot serve them. */
  readonly comparisons: readonly Comparison[] | null
  /** The WHERE clause. Empty for all rows. */
  readonly clause: string
  /** Those of `fromOf` and of the clause. */
  readonly params: readonly SqlValue[]
}

/** Returns the conditions of the ranges of rows to read, each with the filter. null: all rows. */
const conditionsOf = ({ selection, start }: PageSelection): readonly (Condition | null)[] => {
  const { filter } = selection
  if (!start.position) return [filter]
  return rangesAfter(selection, start.position).map((range) => (filter ? allOf([range, filter]) : range))
}

/** Returns the ranges of rows to read. Only for selections without joins: the planner scans the others. */
export const rangesOf = (page: PageSelection): readonly Range[] =>
  conditionsOf(page).map((condition) => ({
    comparisons: condition && !condition.isIndexable ? null : (condition?.comparisons ?? []),
    clause: condition ? `WHERE ${condition.sql}` : '',
    params: condition?.params ?? []
  }))

/** Returns the ranges of rows to read with the guard of reader threads. */
export const guardedRangesOf = (page: PageSelection): readonly Range[] =>
  conditionsOf(page).map((filter) => {
    const read = { ...page.selection, filter }
    return { comparisons: null, clause: `WHERE ${guardedCondition(read)}`, params: selectedParams(read) }
  })

export const paramsOfWindow = ({ limit, offset }: Window): readonly SqlValue[] => [BigInt(limit), BigInt(offset)]

export const LIMIT_AND_OFFSET = `LIMIT ${STABLE_PARAM} OFFSET ?`

/** Selects columns of the rows of one range after the other. */
export const selectRows = (selection: Selection, ranges: readonly Range[], columns: string) => {
  const from = `SELECT ${columns} ${fromOf(selection)}`
  const order = orderClause(selection)
  if (ranges.length === 1) return `${from} ${ranges[0]?.clause} ${order} ${LIMIT_AND_OFFSET}`
  const each = ranges.map(({ clause }) => `SELECT * FROM (${from} ${clause} ${order} LIMIT ${STABLE_PARAM})`)
  return `${each.join(' UNION ALL ')} ${LIMIT_AND_OFFSET}`
}

/** Returns the parameters of `selectRows`. `first`: those of the columns. */
export const paramsOfRows = (
  ranges: readonly Range[],
  first: readonly SqlValue[],
  window: Window
): readonly SqlValue[] => {
  const [range] = ranges
  if (range && ranges.length === 1) return [...first, ...range.params, ...paramsOfWindow(window)]
  const limit = BigInt(window.offset + window.limit)
  return [...ranges.flatMap(({ params }) => [...first, ...params, limit]), ...paramsOfWindow(window)]
}
