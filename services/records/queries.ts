import type { Database } from '../engine/database.ts'
import { scansOf } from '../engine/scans.ts'
import type { Caller } from '../model/caller.ts'
import { invalid, responseTooLarge } from '../model/errors.ts'
import type { Row, SqlValue } from '../model/sql-value.ts'
import { countRows, orderBy, type Selection } from '../sql/lists.ts'
import { type PageSelection, type PageStart, type Position, pageByReading } from '../sql/queries.ts'
import { type Cursors, encodeValue } from './cursors.ts'
import type { Planner } from './planner.ts'
import { type ListRequest, projectionOf, selectionOf, windowOf } from './selection.ts'
import type { Totals } from './totals.ts'
import type { View } from './view.ts'

interface QueryServiceOptions {
  readonly db: Database
  readonly planner: Planner
  readonly totals: Totals
  readonly cursors: Cursors
  readonly maxPageSize: number
}

/** `rows`: the texts of the records. `next`: null on the last page, and for a view without a key. */
interface Page {
  readonly rows: readonly string[]
  readonly next: string | null
}

const FIRST: PageStart = { position: null, offset: 0 }

const notUtf8 = (name: string) =>
  invalid(
    [{ path: '/order', code: 'format', message: `'${name}' has a text that is not UTF-8.` }],
    'Sort by other fields, or read pages by `page` and `size`.'
  )

/** @throws VALIDATION_FAILED for a text that is not UTF-8 */
const positionOf = ({ order }: Selection, row: Row): Position =>
  order.map(({ name }, index) => {
    const value = row[`v${index}`] as SqlValue
    // JavaScript replaces bytes that are not UTF-8, which changes the length of the text.
    if (typeof value === 'string' && Buffer.byteLength(value) !== row[`l${index}`]) throw notUtf8(name)
    return row[`i${index}`] === 1 ? BigInt(String(value)) : value
  })

/** Returns all that the position of a cursor depends on, as text. */
const describe = (selection: Selection) => {
  const { table, filter } = selection
  return JSON.stringify([table.id, orderBy(selection), filter?.sql, filter?.params.map(encodeValue)])
}

const cursorAndPage = () =>
  invalid([{ path: '/cursor', code: 'conflict', message: "Send either 'cursor' or 'page', not both." }])

/** Whether no two records have the same position. Those of a view without a key may be equal. */
const isTotal = ({ table }: Pick<Selection, 'table'>) => table.structure.key.length > 0

/** @throws VALIDATION_FAILED for a view without a key */
const assertTotalOrder = ({ table }: View) => {
  if (isTotal({ table })) return
  const message = `The view '${table.name}' has no key, so its records have no order for a cursor.`
  throw invalid(
    [{ path: '/cursor', code: 'key', message }],
    'Read pages by `page` and `size`: GET with these parameters.'
  )
}

/** @throws RESPONSE_TOO_LARGE if SQLite returned no text because the page is too large */
const textOf = ({ value }: Row) => {
  if (typeof value !== 'string') throw responseTooLarge()
  return value
}

/** Creates the functions that read records by filters and cursors. */
export const createQueries = ({ db, planner, totals, cursors, maxPageSize }: QueryServiceOptions) => {
  const run = async (caller: Caller, view: View, page: PageSelection) => {
    const { via, statement } = await planner.planQuery(view, page)
    if (via === 'scan') return scansOf(db, view.table).scan(statement, caller)
    const rows = await db.read(statement)
    const isNarrow = rows.every(({ value }) => value !== null)
    return isNarrow ? rows : db.scan(pageByReading(page), caller)
  }

  /** Reads one record more than the page has, to know whether the page is the last one. */
  const readPage = async (caller: Caller, view: View, { limit, ...page }: PageSelection): Promise<Page> => {
    const rows = await run(caller, view, { ...page, limit: limit + 1 })
    const last = rows.length > limit && isTotal(page.selection) ? rows[limit - 1] : undefined
    const next = last ? cursors.write(describe(page.selection), positionOf(page.selection, last)) : null
    return { rows: rows.slice(0, limit).map(textOf), next }
  }

  const startOf = (selection: Selection, cursor: string): PageStart =>
    cursor === '' ? FIRST : { position: cursors.read(describe(selection), cursor), offset: 0 }

  const count = async (caller: Caller, selection: Selection): Promise<number> => {
    const { filter, table } = selection
    if (!filter && !table.structure.isView) return totals.get(caller, table)
    const [row] = await scansOf(db, table).scan(countRows(selection), caller)
    return Number(row?.total)
  }

  const readRequested = async (
    caller: Caller,
    view: View,
    request: ListRequest,
    start: (selection: Selection) => PageStart
  ) => {
    const selection = selectionOf(view, request)
    const { json: record } = projectionOf(view, request)
    const { limit } = windowOf(request, maxPageSize)
    const page = await readPage(caller, view, { selection, record, limit, start: start(selection) })
    return { ...page, selection, limit, json: `"rows":[${page.rows.join(',')}]` }
  }

  /**
   * Returns a page of a query as JSON text: `{ rows, next, size, total? }`.
   * @throws VALIDATION_FAILED, INVALID_CURSOR, CURSOR_OF_OTHER_QUERY, RESPONSE_TOO_LARGE, SCAN_TIMEOUT
   */
  const query = async (caller: Caller, view: View, request: ListRequest): Promise<string> => {
    const { cursor = '', total = false } = request
    if (cursor !== '') assertTotalOrder(view)
    const page = await readRequested(caller, view, request, (selection) => startOf(selection, cursor))
    const counted = total ? `,"total":${await count(caller, page.selection)}` : ''
    return `{${page.json},"next":${JSON.stringify(page.next)},"size":${page.limit}${counted}}`
  }

  /** Returns a page of a list as JSON text: `{ rows, total, page, size, next? }`. `total` is -1 without a count. */
  const list = async (caller: Caller, view: View, request: ListRequest): Promise<string> => {
    const { cursor, page: number = 1, total = true } = request
    if (cursor !== undefined && request.page !== undefined) throw cursorAndPage()
    if (cursor !== undefined) assertTotalOrder(view)
    const { offset } = windowOf(request, maxPageSize)
    const start = (selection: Selection) =>
      cursor === undefined ? { position: null, offset } : startOf(selection, cursor)
    const page = await readRequested(caller, view, request, start)
    const counted = total ? await count(caller, page.selection) : -1
    const next = cursor === undefined ? '' : `,"next":${JSON.stringify(page.next)}`
    return `{${page.json},"total":${counted},"page":${number},"size":${page.limit}${next}}`
  }

  return { query, list }
}
