import type { SqlValue } from '../model/sql-value.ts'
import type { RegisteredTable } from '../model/table.ts'
import { allOf, type Comparison, type Condition, compare, isNull } from './conditions.ts'
import { columnRef, identifier } from './identifiers.ts'
import {
  MAX_PAGE_BYTES,
  type OrderItem,
  orderBy,
  orderClause,
  PAGE_KEYS,
  type Selection,
  STABLE_PARAM,
  selectionWhere
} from './lists.ts'
import type { RecordText } from './record-text.ts'
import type { Statement } from './statement.ts'
import { joinTerms } from './terms.ts'

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
  /** One more than the records to return: the last one only shows that another page follows. */
  readonly limit: number
}

/** A page statement, and what an index must serve so that SQLite reads no other rows than those of the page. */
export interface PageStatement extends Statement {
  /** The comparisons of each range of rows. null: an index cannot serve the condition of the range. */
  readonly ranges: readonly (readonly Comparison[] | null)[]
}

const isNotNull = ({ structure }: RegisteredTable, name: string) => {
  const column = structure.columns.find((other) => other.name === name)
  return column === undefined || column.isNotNull || (column.isPrimary && structure.isRowidKey)
}

/** Returns the rows after a value in ascending or descending order. NULL is before all values. */
const after = (table: RegisteredTable, { name, descending }: OrderItem, value: SqlValue): readonly Condition[] => {
  if (value === null) return descending ? [] : [isNull(table, { name }, false)]
  if (!descending) return [compare(table, { name }, 'gt', value)]
  const less = compare(table, { name }, 'lt', value)
  return isNotNull(table, name) ? [less] : [less, isNull(table, { name }, true)]
}

const equals = (table: RegisteredTable, { name }: OrderItem, value: SqlValue) =>
  value === null ? isNull(table, { name }, true) : compare(table, { name }, 'eq', value)

/**
 * Returns the rows after a position as ranges. The ranges follow each other in the order: first the rows with the same
 * values in all columns but the last, and a greater value in the last one, and so on. An index of the order serves each.
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
}

/** Returns the ranges of rows to read, each with the filter. `isScan`: with the guard of reader threads. */
const rangesOf = ({ selection, start }: PageSelection, isScan: boolean): readonly Range[] => {
  const { filter } = selection
  const ranges = start.position ? rangesAfter(selection, start.position) : [allOf([])]
  return ranges.map((range) => {
    const condition = allOf([range, ...(filter ? [filter] : [])])
    return { condition, where: isScan ? selectionWhere({ ...selection, filter: condition }) : `WHERE ${condition.sql}` }
  })
}

interface Rows {
  readonly sql: string
  readonly params: readonly SqlValue[]
}

/** Selects columns of the rows of the ranges, up to the limit. `first`: parameters of the columns. */
const selectRows = (
  page: PageSelection,
  ranges: readonly Range[],
  columns: string,
  first: readonly SqlValue[]
): Rows => {
  const { selection, start, limit } = page
  const from = `SELECT ${columns} FROM ${identifier(selection.table.name)}`
  const order = `${orderClause(selection)} LIMIT ${STABLE_PARAM}`
  const each = ranges.map(({ where }) => `SELECT * FROM (${from} ${where} ${order} OFFSET ?)`)
  const last = [BigInt(limit), BigInt(start.offset)]
  return {
    sql: `${each.join(' UNION ALL ')} LIMIT ${STABLE_PARAM}`,
    params: [...ranges.flatMap(({ condition }) => [...first, ...condition.params, ...last]), BigInt(limit)]
  }
}

/**
 * Returns the values, `v0`, …, whether they are integers, and their bytes. Integers are text: a JavaScript number would
 * round them. `fits`: a condition for values that are not integers.
 */
const positionColumns = ({ table, order }: Selection, fits: (value: string) => string) =>
  order.flatMap(({ name }, index) => {
    const value = columnRef(table.name, name)
    const isInteger = `typeof(${value}) = 'integer'`
    const shown = `CASE WHEN ${isInteger} THEN CAST(${value} AS TEXT) WHEN ${fits(value)} THEN ${value} END`
    return [`${shown} AS v${index}`, `${isInteger} AS i${index}`, `octet_length(${value}) AS l${index}`]
  })

/** Maximum bytes of a value of a position on the event loop. */
const MAX_POSITION_BYTES = 1024
const isShort = (value: string) => `ifnull(octet_length(${value}), 0) <= ${MAX_POSITION_BYTES}`

/** A position has values that the record may not show, so they add to its width. */
const widthWithPosition = ({ selection: { table, order }, record }: PageSelection) => {
  const lengths = order.map(({ name }) => `ifnull(octet_length(${columnRef(table.name, name)}), 0)`)
  return joinTerms([record.width, ...lengths], '+')
}

/**
 * Selects a page for the event loop: a row for each record, with its text as `value` and its position. `value` is null
 * for a record that is wider than `maxRowBytes`, or whose position is wide.
 */
export const pageByIndex = (page: PageSelection, maxRowBytes: number): PageStatement => {
  const { selection, record } = page
  const { table, order } = selection
  const ranges = rangesOf(page, false)
  const fits = [`${record.width} <= ?`, ...order.map(({ name }) => isShort(columnRef(table.name, name)))].join(' AND ')
  const columns = [`CASE WHEN ${fits} THEN ${record.text} END AS value`, ...positionColumns(selection, isShort)]
  return {
    ...selectRows(page, ranges, columns.join(', '), [BigInt(maxRowBytes)]),
    ranges: ranges.map(({ condition }) => condition.comparisons)
  }
}

const PAGE_SIZE = '_rowhouse_size'

/** Selects expressions for the rows of the page, whose keys are collected first if the table has a rowid. */
const pageRows = (page: PageSelection, ranges: readonly Range[]) => {
  const { table } = page.selection
  const { rowid } = table.structure
  if (rowid === null) {
    return { keys: null, select: (columns: string) => selectRows(page, ranges, columns, []) }
  }
  const key = columnRef(table.name, rowid)
  const keys = selectRows(page, ranges, `${key} AS key`, [])
  const from = `FROM ${identifier(table.name)} WHERE ${key} IN ${PAGE_KEYS} ORDER BY ${orderBy(page.selection)}`
  return { keys, select: (columns: string): Rows => ({ sql: `SELECT ${columns} ${from}`, params: [] }) }
}

/**
 * Selects a page for a reader thread, with the same columns as `pageByIndex`. The last row of the page only shows that
 * another page follows. `value` is null in each row if the others are too large together, which is computed before the
 * texts are made. A single record has no limit.
 */
export const pageByReading = (page: PageSelection): Statement => {
  const { selection, record, limit } = page
  const { keys, select } = pageRows(page, rangesOf(page, true))
  const fits = `(SELECT fits FROM ${PAGE_SIZE})`
  const columns = [`CASE WHEN ${fits} THEN ${record.text} END AS value`, ...positionColumns(selection, () => fits)]
  const widths = select(`${widthWithPosition(page)} AS width`)
  const rows = select(columns.join(', '))
  const withKeys = keys ? `${PAGE_KEYS} AS MATERIALIZED (${keys.sql}), ` : ''
  return {
    sql: `WITH ${withKeys}${PAGE_SIZE} AS MATERIALIZED (
        SELECT count(*) < 2 OR sum(width) <= ${MAX_PAGE_BYTES} AS fits
        FROM (SELECT width FROM (${widths.sql}) LIMIT ${STABLE_PARAM}))
      ${rows.sql}`,
    params: [...(keys?.params ?? []), ...widths.params, BigInt(limit - 1), ...rows.params]
  }
}
