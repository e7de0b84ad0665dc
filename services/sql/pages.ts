import type { SqlValue } from '../model/sql-value.ts'
import { boundedText, LIST, narrowParams, narrowText } from './bounded-text.ts'
import type { Comparison } from './conditions.ts'
import { columnRef, identifier } from './identifiers.ts'
import { joinParams } from './joins.ts'
import {
  guardedRangesOf,
  LIMIT_AND_OFFSET,
  type PageSelection,
  paramsOfRows,
  paramsOfWindow,
  type Range,
  rangesOf,
  selectRows,
  type Window
} from './page-ranges.ts'
import {
  countRows,
  fromOf,
  orderBy,
  orderClause,
  type Selection,
  STABLE_PARAM,
  selectedParams,
  selectedRows,
  tableOfItem
} from './selections.ts'
import type { Statement } from './statement.ts'
import { createTextCache } from './text-cache.ts'

/** Maximum bytes of a page: it is held in memory until it is sent. */
export const MAX_PAGE_BYTES = 8 * 1024 * 1024

/** A page statement, and what an index must serve so that SQLite reads no other rows than those of the page. */
export interface PageStatement extends Statement {
  /** The comparisons of each range that is read. null: an index cannot serve the condition of the range. */
  readonly ranges: readonly (readonly Comparison[] | null)[]
}

/** Maximum bytes of a value of a position. It becomes a part of a cursor, which a URL may contain. */
const MAX_POSITION_BYTES = 32 * 1024

/** JavaScript shows it in the place of bytes that are not UTF-8. */
export const REPLACEMENT = '\uFFFD'

/**
 * Returns the values, `v0`, …, their storage classes, `t0`, …, their bytes, `l0`, …, and the number of U+FFFD in them,
 * `r0`, …. A JavaScript number would round an integer, and rqlite returns a BLOB as text and no infinite number: these are
 * text, a BLOB in hexadecimal. The value of a longer text or BLOB is null. A view without a key may have no order.
 */
const positionColumns = ({ table, order }: Selection) => {
  const columns = order.flatMap((item, index) => {
    const value = columnRef(tableOfItem(table, item).name, item.name)
    const length = `octet_length(${value})`
    const shown = `CASE WHEN typeof(${value}) = 'integer' OR ${value} IN (9e999, -9e999) THEN CAST(${value} AS TEXT)
      WHEN ${length} <= ${MAX_POSITION_BYTES} THEN iif(typeof(${value}) = 'blob', hex(${value}), ${value}) END`
    const others = `octet_length(replace(${value}, '${REPLACEMENT}', ''))`
    return [
      `${shown} AS v${index}`,
      `typeof(${value}) AS t${index}`,
      `${length} AS l${index}`,
      `(${length} - ${others}) / ${Buffer.byteLength(REPLACEMENT)} AS r${index}`
    ]
  })
  return ['1 AS found', ...columns].join(', ')
}

/** The last record of a full page, and the one after it, which shows that another page follows. */
const lastWindow = ({ limit, start }: PageSelection): Window => ({ limit: 2, offset: start.offset + limit - 1 })

/** Names in a page statement. Their prefix is reserved, so they hide no served table. */
export const LAST = '_rowhouse_last'
const KEY_RANGE = '_rowhouse_range'
const PAGE_KEYS = '_rowhouse_page'
const FOUND = '_rowhouse_found'
const COUNTED = '_rowhouse_counted'

const withLast = (text: string, last: string) =>
  `SELECT (${text}) AS text, ${LAST}.* FROM (SELECT 1) LEFT JOIN (${last}) AS ${LAST}`

const composeByIndex = ({ selection, record, needsNext }: PageSelection, ranges: readonly Range[]) => {
  const text = narrowText((value) => selectRows(selection, ranges, `${value} AS value`), record, LIST)
  return needsNext ? withLast(text, selectRows(selection, ranges, positionColumns(selection))) : text
}

const cachedText = createTextCache()

/**
 * Selects a page for the event loop: its records as `text`, or null if a record is wider than `maxRowBytes`. If it
 * `needsNext`, with the position of its last record. Two rows mean that another page follows; the second repeats the text.
 */
export const pageByIndex = (page: PageSelection, maxRowBytes: number): PageStatement => {
  const { selection, record, limit, start, needsNext } = page
  const ranges = rangesOf(page)
  const key = JSON.stringify([needsNext, orderBy(selection), ...ranges.map(({ clause }) => clause)])
  const sql = cachedText(record.form, key, () => composeByIndex(page, ranges))
  const params = paramsOfRows(ranges, narrowParams(record, maxRowBytes), { limit, offset: start.offset })
  const comparisons = ranges.map((range) => range.comparisons)
  if (!needsNext) return { sql, params, ranges: comparisons }
  return {
    sql,
    params: [...params, ...paramsOfRows(ranges, [], lastWindow(page))],
    ranges: [...comparisons, ...comparisons]
  }
}

const composeSeek = ({ selection, record }: PageSelection) => {
  const { table, order } = selection
  const name = identifier(table.name)
  const key = columnRef(table.name, table.structure.key[0] as string)
  const from = order[0]?.descending ? `${key} <= ${KEY_RANGE}.last - ?` : `${key} >= ${KEY_RANGE}.first + ?`
  const select = (expression: string) =>
    `SELECT ${expression} AS value FROM ${name} WHERE ${from} ${orderClause(selection)} LIMIT ${STABLE_PARAM}`
  return `SELECT CASE WHEN last - first + 1 = ? THEN (${narrowText(select, record, LIST)}) END AS text
    FROM (SELECT (SELECT min(${key}) FROM ${name}) AS first, (SELECT max(${key}) FROM ${name}) AS last) AS ${KEY_RANGE}`
}

/**
 * Selects a page by its position in an integer key without gaps: 4.9 times as fast as an OFFSET in the middle of
 * 100,000 rows. Null if a row is too wide, or if the `total` of the table differs from the range of the key.
 */
export const pageBySeeking = (page: PageSelection, maxRowBytes: number, total: number): Statement => {
  const { selection, record, limit, start } = page
  return {
    sql: cachedText(record.form, `seek ${orderBy(selection)}`, () => composeSeek(page)),
    params: [BigInt(total), ...narrowParams(record, maxRowBytes), BigInt(start.offset), BigInt(limit)]
  }
}

/** Selects rows of the page. `keys`: selects their keys, which are collected first. */
interface PageRows {
  readonly keys: Statement | null
  select(columns: string): string
  /** Returns the parameters of `select`. `first`: those of the columns. */
  params(window: Window, first?: readonly SqlValue[]): readonly SqlValue[]
}

const pageRows = (page: PageSelection): PageRows => {
  const { selection, limit, start, needsNext } = page
  const { table } = selection
  const ranges = guardedRangesOf(page)
  const { rowid } = table.structure
  if (rowid === null) {
    return {
      keys: null,
      select: (columns) => selectRows(selection, ranges, columns),
      params: (window, first = []) => paramsOfRows(ranges, first, window)
    }
  }
  const key = columnRef(table.name, rowid)
  const rows = `${fromOf(selection)} WHERE ${key} IN ${PAGE_KEYS} ORDER BY ${orderBy(selection)} ${LIMIT_AND_OFFSET}`
  return {
    keys: {
      sql: selectRows(selection, ranges, `${key} AS key`),
      params: paramsOfRows(ranges, [], { limit: needsNext ? limit + 1 : limit, offset: start.offset })
    },
    select: (columns) => `SELECT ${columns} ${rows}`,
    params: ({ limit, offset }, first = []) => [
      ...first,
      ...joinParams(selection.joins),
      ...paramsOfWindow({ limit, offset: offset - start.offset })
    ]
  }
}

/** How a page is joined, and its maximum number of bytes. */
interface PageText {
  readonly join?: string
  readonly maxBytes?: number | undefined
}

/**
 * Selects the same as `pageByIndex`, for any filter and order: keys first, then the rows of these keys. Without a rowid the
 * scan runs twice. Runs in a reader thread, or on the event loop for few rows. `text` is null if the page is too large.
 */
export const pageByReading = (
  page: PageSelection,
  { join = LIST, maxBytes = MAX_PAGE_BYTES }: PageText = {}
): Statement => {
  const { selection, record, limit, start, needsNext } = page
  const { keys, select, params } = pageRows(page)
  const values = {
    select: (value: string) => select(`${value} AS value`),
    params: (first: readonly SqlValue[]) => params({ limit, offset: start.offset }, first)
  }
  const text = boundedText(values, record, { join, maxBytes })
  const sql = needsNext ? withLast(text.sql, select(positionColumns(selection))) : text.sql
  const all = [...(keys?.params ?? []), ...text.params, ...(needsNext ? params(lastWindow(page)) : [])]
  return { sql: keys ? `WITH ${PAGE_KEYS} AS MATERIALIZED (${keys.sql}) ${sql}` : sql, params: all }
}

/** Maximum number of keys that a search collects. */
const MAX_FOUND = 10_000

/**
 * Selects a filtered page and its total in one scan, which collects the keys of matching rows: in a table of 100,000 rows
 * it takes 1.3 times as long as `instr` alone, and two scans take 3.1 times as long. If too many rows match, the scan
 * ends early, a second one counts the rest, and the page is selected as without a total.
 */
const pageOfMatches = (
  { selection, record, limit, start }: PageSelection,
  rowid: string,
  maxBytes: number
): Statement => {
  const { table, dialect, joins } = selection
  const from = fromOf(selection)
  const key = columnRef(table.name, rowid)
  const rows = selectedRows(selection)
  const isAllFound = `(SELECT rows <= ${MAX_FOUND} FROM ${COUNTED})`
  const keys = (chosen: string, isChosen: string) =>
    `SELECT * FROM (SELECT ${key} ${chosen} ${orderClause(selection)} LIMIT iif(${isChosen}, ?, 0) OFFSET ?)`
  const select = (expression: string) =>
    `SELECT ${expression} AS value ${from} WHERE ${key} IN ${PAGE_KEYS} ${orderClause(selection)} LIMIT -1`
  const page = boundedText({ select, params: (first) => [...first, ...joinParams(joins)] }, record, {
    join: LIST,
    maxBytes
  })
  const count = countRows(selection)
  const params = selectedParams(selection)
  const rest = `${count.sql} AND ${key} > (SELECT last FROM ${COUNTED})`
  const position = [BigInt(limit), BigInt(start.offset)]
  return {
    sql: `WITH ${FOUND} AS MATERIALIZED (SELECT ${key} AS key ${rows} ORDER BY ${key} LIMIT ${MAX_FOUND + 1}),
      ${COUNTED} AS MATERIALIZED (SELECT count(*) AS rows, max(key) AS last FROM ${FOUND}),
      ${PAGE_KEYS} AS MATERIALIZED (
        ${keys(`${from} WHERE ${dialect.scanGuard(null)} AND ${key} IN ${FOUND}`, isAllFound)}
        UNION ALL ${keys(rows, `NOT ${isAllFound}`)})
      SELECT (${page.sql}) AS text, (SELECT rows FROM ${COUNTED}) + iif(${isAllFound}, 0, (${rest})) AS total`,
    params: [...params, ...joinParams(joins), ...position, ...params, ...position, ...page.params, ...count.params]
  }
}

/**
 * Selects a filtered page and its total from one snapshot. Without a rowid these are two scans. The page begins after a
 * number of rows, and does not need the next one. Runs in a reader thread, or on the event loop for few rows.
 */
export const pageWithTotal = (page: PageSelection, maxBytes = MAX_PAGE_BYTES): Statement => {
  const { selection } = page
  const { rowid } = selection.table.structure
  if (rowid !== null) return pageOfMatches(page, rowid, maxBytes)
  const { sql, params } = pageByReading(page, { maxBytes })
  const count = countRows(selection)
  return { sql: `SELECT (${sql}) AS text, (${count.sql}) AS total`, params: [...params, ...count.params] }
}
