import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import { invalid } from '../../model/errors.ts'
import type { Row, SqlValue } from '../../model/sql-value.ts'
import { MAX_BYTES_ON_LOOP } from '../../sql/bounded-text.ts'
import { joinParams } from '../../sql/joins.ts'
import type { PageSelection, PageStart, Position } from '../../sql/page-ranges.ts'
import { pageByReading, pageWithTotal, REPLACEMENT } from '../../sql/pages.ts'
import { countRows, fromOf, orderBy, type Selection } from '../../sql/selections.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Access } from '../access/access.ts'
import type { ReadableBy } from '../access/readable.ts'
import { confirmUnchanged } from './confirming.ts'
import { type Cursors, digestOf, encodeValue, tooLongForCursor } from './cursors.ts'
import { textOf } from './page-text.ts'
import type { CountedRange, Planner } from './planner.ts'
import type { Scan } from './scans.ts'
import { type ListRequest, projectionOf, type QueryRequest, selectionOf, windowOf } from './selection.ts'
import type { Totals } from './totals.ts'

interface ListOptions {
  readonly db: Database
  readonly planner: Planner
  readonly totals: Totals
  readonly scan: Scan
  readonly cursors: Cursors
  readonly readableBy: ReadableBy
  readonly maxPageSize: () => number
}

/** A page that has been read. */
interface Page {
  /** The elements of a JSON array as text, without its brackets. */
  readonly rows: string
  /** The cursor of the next page. null on the last page, and if the request has no cursor. */
  readonly next: string | null
  /** null: the request needs no total. */
  readonly total: number | null
  readonly limit: number
}

/** A page to read. */
interface PageRequest {
  readonly caller: Caller
  readonly access: Access
  readonly page: PageSelection
  /** Counts the rows that an index finds, once. */
  readonly range: () => Promise<CountedRange | null>
}

/** How a selection is read. */
interface Reading {
  /** Minimum estimated cost of the text, in bytes. */
  readonly minCost: number
  /** Returns the statement for the selection. `maxBytes`: of its text. */
  readonly compose: (selection: Selection, maxBytes?: number) => Statement
}

const notUtf8 = (name: string) =>
  invalid(
    [{ path: '/order', code: 'format', message: `'${name}' has a text that is not UTF-8.` }],
    'Sort by other fields, or read pages by `page` and `size`.'
  )

/** Whether JavaScript has replaced bytes that are not UTF-8. `stored`: the number of U+FFFD in the stored text. */
const isReplaced = (text: string, stored: unknown) => text.split(REPLACEMENT).length - 1 !== stored

const INFINITE: Readonly<Record<string, number>> = { Inf: Number.POSITIVE_INFINITY, '-Inf': Number.NEGATIVE_INFINITY }

/** Returns a value of `positionColumns` in its storage class. */
const toStored = (value: SqlValue, storageClass: unknown): SqlValue => {
  if (typeof value !== 'string') return value
  if (storageClass === 'integer') return BigInt(value)
  if (storageClass === 'blob') return Buffer.from(value, 'hex')
  return storageClass === 'real' ? Number(INFINITE[value]) : value
}

/** @throws VALIDATION_FAILED for a text that is too long or not UTF-8 */
const positionOf = ({ order }: Selection, row: Row): Position =>
  order.map(({ name }, index) => {
    const value = toStored(row[`v${index}`] as SqlValue, row[`t${index}`])
    if (value === null && row[`l${index}`] !== null) throw tooLongForCursor()
    if (typeof value === 'string' && isReplaced(value, row[`r${index}`])) throw notUtf8(name)
    return value
  })

/** Returns a digest of all that a cursor depends on. */
const digestOfQuery = (selection: Selection) => {
  const { table, filter, joins } = selection
  const joined = joins.length > 0 ? [fromOf(selection), joinParams(joins).map(encodeValue)] : []
  return digestOf(
    JSON.stringify([table.id, orderBy(selection), filter?.sql, filter?.params.map(encodeValue), ...joined])
  )
}

const cursorAndPage = () =>
  invalid([{ path: '/cursor', code: 'conflict', message: "Send either 'cursor' or 'page', not both." }])

/** Whether no two records have the same position. Those of a view without a key may be equal. */
const hasPositions = ({ table }: Selection) => table.structure.key.length > 0

/** Creates the functions that read pages of records. The planner decides how each page is read. */
export const createLists = (options: ListOptions) => {
  const { db, planner, totals, scan, cursors, readableBy, maxPageSize } = options

  /** Reads on the event loop if an index finds few rows, otherwise in a reader thread. */
  const readSelection = async ({ caller, access, page, range }: PageRequest, { minCost, compose }: Reading) => {
    const counted = minCost <= MAX_BYTES_ON_LOOP ? await range() : null
    const small = counted && (await planner.selectionOnLoop(page.selection, counted))
    const statement = small && compose(small, MAX_BYTES_ON_LOOP)
    const rows = statement && (await planner.avoidsScan(access, statement)) ? await db.read(statement) : []
    // Without a text, the page is too large for the event loop.
    return rows[0] && rows[0].text !== null ? rows : scan(caller, page.selection, compose)
  }

  /** Returns a row with the `text` of the page, and a second one if another page follows. `total`: see `planPage`. */
  const readRows = async (request: PageRequest, total: number | null): Promise<readonly Row[]> => {
    const { access, page } = request
    const plan = await planner.planPage(access, page, total)
    if (plan.via === 'nothing') return [{ text: '' }]
    const bounded = plan.via === 'bounded' ? await db.read(plan.statement) : []
    // Without a text, a row is too wide for the event loop, or the key has gaps.
    if (typeof bounded[0]?.text === 'string') return bounded
    return readSelection(request, {
      minCost: page.record.minCost * page.limit,
      compose: (selection, maxBytes) => pageByReading({ ...page, selection }, { maxBytes })
    })
  }

  /** Returns the number of rows if it is known, or if counting is little work. Other tables change that of an SQL view. */
  const findTotal = async ({ caller, page, range }: PageRequest): Promise<number | null> => {
    const { filter, table } = page.selection
    const counted = filter && (await range())
    if (filter) return counted?.isExact ? counted.rows : null
    return table.structure.isView ? null : totals.get(caller, table)
  }

  /** Returns the rows as `readRows` does, and the total. */
  const readWithTotal = async (request: PageRequest) => {
    const { page } = request
    const total = await findTotal(request)
    if (total !== null) return { rows: await readRows(request, total), total }
    if (page.needsNext) {
      const rows = await readRows(request, null)
      const [row] = await readSelection(request, { minCost: 0, compose: countRows })
      return { rows, total: Number(row?.total) }
    }
    const rows = await readSelection(request, {
      minCost: page.record.minCost * page.limit,
      compose: (selection, maxBytes) => pageWithTotal({ ...page, selection }, maxBytes)
    })
    return { rows, total: Number(rows[0]?.total) }
  }

  /** The cursor of a view without a key has the number of records before the page. */
  const startOf = (selection: Selection, digest: Buffer, cursor: string): PageStart => {
    const position = cursors.read(digest, cursor)
    return hasPositions(selection) ? { position, offset: 0 } : { position: null, offset: Number(position[0]) }
  }

  const positionAfter = ({ selection, start, limit }: PageSelection, row: Row): Position =>
    hasPositions(selection) ? positionOf(selection, row) : [BigInt(start.offset + limit)]

  /** Returns the selection of a request, and the text of its records. */
  const readRequest = (caller: Caller, access: Access, request: ListRequest) => {
    const readable = readableBy(caller)
    return { selection: selectionOf(access, request, readable), record: projectionOf(access, request, readable).record }
  }

  /** Returns the SQL that depends on other tables. If the cache no longer has the projection, an equal one is composed. */
  const otherTables = ({ selection, record }: ReturnType<typeof readRequest>) => fromOf(selection) + record.text

  /** The page has `next` if the request has a cursor, which may be empty. */
  const readPage = async (caller: Caller, access: Access, request: ListRequest, needsTotal: boolean): Promise<Page> => {
    const { cursor } = request
    const requested = readRequest(caller, access, request)
    const { selection, record } = requested
    const { limit, offset } = windowOf(request, maxPageSize())
    const digest = cursor === undefined ? null : digestOfQuery(selection)
    const start = digest && cursor ? startOf(selection, digest, cursor) : { position: null, offset }
    const page = { selection, record, limit, start, needsNext: digest !== null }
    let counted: Promise<CountedRange | null> | undefined
    const range = () => {
      counted ??= planner.countRange(access, selection)
      return counted
    }
    const readsOthers = request.expand !== undefined || selection.joins.length > 0
    const confirmed = readsOthers
      ? confirmUnchanged(caller, otherTables(requested), () => otherTables(readRequest(caller, access, request)))
      : caller
    const reading = { caller: confirmed, access, page, range }
    const { rows, total } = needsTotal
      ? await readWithTotal(reading)
      : { rows: await readRows(reading, null), total: null }
    const [row, following] = rows
    const text = textOf(row)
    const next = digest && row && following ? cursors.write(digest, positionAfter(page, row)) : null
    return { rows: text, next, total, limit }
  }

  /**
   * Returns a page of a query as JSON text: `{ rows, next, size, total? }`.
   * @throws VALIDATION_FAILED, INVALID_CURSOR, CURSOR_OF_OTHER_QUERY, RESPONSE_TOO_LARGE, SCAN_TIMEOUT
   */
  const query = async (caller: Caller, access: Access, request: QueryRequest): Promise<string> => {
    const { cursor, total: needsTotal = false } = request
    const page = { ...request, cursor: cursor ?? '' }
    const { rows, next, total, limit } = await readPage(caller, access, page, needsTotal)
    const counted = total === null ? '' : `,"total":${total}`
    return `{"rows":[${rows}],"next":${JSON.stringify(next)},"size":${limit}${counted}}`
  }

  /** Returns a page of a list as JSON text: `{ rows, total, page, size, next? }`. `total` is -1 without a count. */
  const list = async (caller: Caller, access: Access, request: ListRequest): Promise<string> => {
    const { cursor, page = 1, total: needsTotal = true } = request
    if (cursor !== undefined && request.page !== undefined) throw cursorAndPage()
    const { rows, next, total, limit } = await readPage(caller, access, request, needsTotal)
    const last = cursor === undefined ? '' : `,"next":${JSON.stringify(next)}`
    return `{"rows":[${rows}],"total":${total ?? -1},"page":${page},"size":${limit}${last}}`
  }

  return { query, list }
}
