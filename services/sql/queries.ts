import type { SqlValue } from '../model/sql-value.ts'
import { isNullable, type RegisteredTable } from '../model/table.ts'
import { boundedText, narrowParams, narrowText } from './bounded-text.ts'
import { allOf, type Comparison, type Condition, compare, isNull } from './conditions.ts'
import { columnRef, identifier } from './identifiers.ts'
import {
  createTextCache,
  LIMIT_AND_OFFSET,
  LIST,
  MAX_PAGE_BYTES,
  type OrderItem,
  orderBy,
  orderClause,
  PAGE_KEYS,
  paramsOfWhere,
  type Selection,
  STABLE_PARAM,
  selectionWhere,
  type Window
} from './lists.ts'
import type { RecordText } from './record-text.ts'
import type { Statement } from './statement.ts'

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

/** A page statement, and what an index must serve so that SQLite reads no other rows than those of the page. */
export interface PageStatement extends Statement {
  /** The comparisons of each range that is read. null: an index cannot serve the condition of the range. */
  readonly ranges: readonly (readonly Comparison[] | null)[]
}

/** The rowid of a table without an integer key is no column, and never NULL. */
const mayBeNull = ({ structure }: RegisteredTable, name: string) =>
  structure.columns.some((column) => column.name === name && isNullable(structure, column))

/** Returns the rows after a value in ascending or descending order. NULL is before all values. */
const after = (table: RegisteredTable, item: OrderItem, value: SqlValue): readonly Condition[] => {
  const { name, descending } = item
  if (value === null) return descending ? [] : [isNull(table, item, false)]
  if (!descending) return [compare(table, item, 'gt', value)]
  const less = compare(table, item, 'lt', value)
  return mayBeNull(table, name) ? [less, isNull(table, item, true)] : [less]
}

const equals = (table: RegisteredTable, item: OrderItem, value: SqlValue) =>
  value === null ? isNull(table, item, true) : compare(table, item, 'eq', value)

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

interface Range {
  readonly condition: Condition
  readonly where: string
  readonly params: readonly SqlValue[]
}

/** Returns the ranges of rows to read, each with the filter. `isScan`: with the guard of reader threads. */
const rangesOf = ({ selection, start }: PageSelection, isScan: boolean): readonly Range[] => {
  const { filter } = selection
  const ranges = start.position ? rangesAfter(selection, start.position) : [allOf([])]
  return ranges.map((range) => {
    const condition = allOf([range, ...(filter ? [filter] : [])])
    const read = { ...selection, filter: condition }
    return isScan
      ? { condition, where: selectionWhere(read), params: paramsOfWhere(read) }
      : { condition, where: `WHERE ${condition.sql}`, params: condition.params }
  })
}

const paramsOf = ({ limit, offset }: Window): readonly SqlValue[] => [BigInt(limit), BigInt(offset)]

/** Selects columns of the rows of one range after the other. */
const selectRows = (selection: Selection, ranges: readonly Range[], columns: string) => {
  const from = `SELECT ${columns} FROM ${identifier(selection.table.name)}`
  const order = orderClause(selection)
  if (ranges.length === 1) return `${from} ${ranges[0]?.where} ${order} ${LIMIT_AND_OFFSET}`
  const each = ranges.map(({ where }) => `SELECT * FROM (${from} ${where} ${order} LIMIT ${STABLE_PARAM})`)
  return `${each.join(' UNION ALL ')} ${LIMIT_AND_OFFSET}`
}

/** Returns the parameters of `selectRows`. `first`: those of the columns. */
const paramsOfRows = (ranges: readonly Range[], first: readonly SqlValue[], window: Window): readonly SqlValue[] => {
  const [range] = ranges
  if (range && ranges.length === 1) return [...first, ...range.params, ...paramsOf(window)]
  const limit = BigInt(window.offset + window.limit)
  return [...ranges.flatMap(({ params }) => [...first, ...params, limit]), ...paramsOf(window)]
}

/** Maximum bytes of a value of a position. It becomes a part of a cursor, which a URL may contain. */
const MAX_POSITION_BYTES = 32 * 1024

/**
 * Returns the values, `v0`, …, whether they are integers, `i0`, …, and their bytes, `l0`, …. Integers are text: a
 * JavaScript number would round them. The value of a longer text or BLOB is null. A view without a key may have no order.
 */
const positionColumns = ({ table, order }: Selection) => {
  const columns = order.flatMap(({ name }, index) => {
    const value = columnRef(table.name, name)
    const isInteger = `typeof(${value}) = 'integer'`
    const length = `octet_length(${value})`
    const shown = `CASE WHEN ${isInteger} THEN CAST(${value} AS TEXT) WHEN ${length} <= ${MAX_POSITION_BYTES} THEN ${value} END`
    return [`${shown} AS v${index}`, `${isInteger} AS i${index}`, `${length} AS l${index}`]
  })
  return ['1 AS found', ...columns].join(', ')
}

/** The last record of a full page, and the one after it, which shows that another page follows. */
const lastWindow = ({ limit, start }: PageSelection): Window => ({ limit: 2, offset: start.offset + limit - 1 })

/** A name in a page statement. Its prefix is reserved, so it hides no served table. */
export const LAST = '_rowhouse_last'

const withLast = (text: string, last: string) =>
  `SELECT (${text}) AS text, ${LAST}.* FROM (SELECT 1) LEFT JOIN (${last}) AS ${LAST}`

const composeByIndex = ({ selection, record, needsNext }: PageSelection, ranges: readonly Range[]) => {
  const text = narrowText((value) => selectRows(selection, ranges, `${value} AS value`), record, LIST)
  return needsNext ? withLast(text, selectRows(selection, ranges, positionColumns(selection))) : text
}

const textByIndex = createTextCache()

/**
 * Selects a page for the event loop: its records as `text`, or null if a record is wider than `maxRowBytes`. If it
 * `needsNext`, with the position of its last record. Two rows mean that another page follows; the second repeats the text.
 */
export const pageByIndex = (page: PageSelection, maxRowBytes: number): PageStatement => {
  const { selection, record, limit, start, needsNext } = page
  const ranges = rangesOf(page, false)
  const key = JSON.stringify([needsNext, orderBy(selection), ...ranges.map(({ where }) => where)])
  const sql = textByIndex(record, key, () => composeByIndex(page, ranges))
  const params = paramsOfRows(ranges, narrowParams(record, maxRowBytes), { limit, offset: start.offset })
  const comparisons = ranges.map(({ condition }) => (condition.isIndexable ? condition.comparisons : null))
  if (!needsNext) return { sql, params, ranges: comparisons }
  return {
    sql,
    params: [...params, ...paramsOfRows(ranges, [], lastWindow(page))],
    ranges: [...comparisons, ...comparisons]
  }
}

/** Selects rows of the page. `keys`: selects their keys, which are collected first. */
interface PageRows {
  readonly keys: Statement | null
  select(columns: string): string
  params(window: Window): readonly SqlValue[]
}

const pageRows = (page: PageSelection): PageRows => {
  const { selection, limit, start } = page
  const { table } = selection
  const ranges = rangesOf(page, true)
  const { rowid } = table.structure
  if (rowid === null) {
    return {
      keys: null,
      select: (columns) => selectRows(selection, ranges, columns),
      params: (window) => paramsOfRows(ranges, [], window)
    }
  }
  const key = columnRef(table.name, rowid)
  const from = `FROM ${identifier(table.name)} WHERE ${key} IN ${PAGE_KEYS} ORDER BY ${orderBy(selection)} ${LIMIT_AND_OFFSET}`
  return {
    keys: {
      sql: selectRows(selection, ranges, `${key} AS key`),
      params: paramsOfRows(ranges, [], { limit: limit + 1, offset: start.offset })
    },
    select: (columns) => `SELECT ${columns} ${from}`,
    params: ({ limit, offset }) => paramsOf({ limit, offset: offset - start.offset })
  }
}

/** Selects the same as `pageByIndex` for a reader thread. `text` is null if the page is too large. */
export const pageByReading = (page: PageSelection): Statement => {
  const { selection, record, limit, start, needsNext } = page
  const { keys, select, params } = pageRows(page)
  const values = {
    select: (value: string) => select(`${value} AS value`),
    params: params({ limit, offset: start.offset })
  }
  const text = boundedText(values, record, { join: LIST, maxBytes: MAX_PAGE_BYTES })
  const sql = needsNext ? withLast(text.sql, select(positionColumns(selection))) : text.sql
  const all = [...(keys?.params ?? []), ...text.params, ...(needsNext ? params(lastWindow(page)) : [])]
  return { sql: keys ? `WITH ${PAGE_KEYS} AS MATERIALIZED (${keys.sql}) ${sql}` : sql, params: all }
}
