import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import { invalid } from '../../model/errors.ts'
import type { Row, SqlValue } from '../../model/sql-value.ts'
import { countRows, orderBy, type Selection } from '../../sql/lists.ts'
import { type PageSelection, type PageStart, type Position, pageByReading } from '../../sql/queries.ts'
import { tableKeepsChanging } from '../../tables/failures.ts'
import type { Access, Projection } from '../access/access.ts'
import type { ReadableBy } from '../access/readable.ts'
import { type Cursors, digestOf, encodeValue, tooLongForCursor } from './cursors.ts'
import { textOf } from './page-text.ts'
import type { Planner } from './planner.ts'
import type { Scan } from './scans.ts'
import { type ListRequest, projectionOf, selectionOf, windowOf } from './selection.ts'
import type { Totals } from './totals.ts'

interface QueryServiceOptions {
  readonly db: Database
  readonly planner: Planner
  readonly totals: Totals
  readonly scan: Scan
  readonly cursors: Cursors
  readonly readableBy: ReadableBy
  readonly maxPageSize: number
}

/** `rows`: the elements of a JSON array as text, without its brackets. `next`: null on the last page. */
interface PageWithNext {
  readonly rows: string
  readonly next: string | null
  readonly selection: Selection
  readonly limit: number
}

const notUtf8 = (name: string) =>
  invalid(
    [{ path: '/order', code: 'format', message: `'${name}' has a text that is not UTF-8.` }],
    'Sort by other fields, or read pages by `page` and `size`.'
  )

/** JavaScript replaces bytes that are not UTF-8 by U+FFFD, which changes the length of the text. `bytes`: the stored ones. */
const isReplaced = (text: string, bytes: unknown) => text.includes('\uFFFD') && Buffer.byteLength(text) !== bytes

/** @throws VALIDATION_FAILED for a text that is too long or not UTF-8 */
const positionOf = ({ order }: Selection, row: Row): Position =>
  order.map(({ name }, index) => {
    const value = row[`v${index}`] as SqlValue
    if (value === null && row[`l${index}`] !== null) throw tooLongForCursor()
    if (typeof value === 'string' && isReplaced(value, row[`l${index}`])) throw notUtf8(name)
    return row[`i${index}`] === 1 ? BigInt(String(value)) : value
  })

/** Returns a digest of all that a cursor depends on. */
const digestOfQuery = (selection: Selection) => {
  const { table, filter } = selection
  return digestOf(JSON.stringify([table.id, orderBy(selection), filter?.sql, filter?.params.map(encodeValue)]))
}

const cursorAndPage = () =>
  invalid([{ path: '/cursor', code: 'conflict', message: "Send either 'cursor' or 'page', not both." }])

/** Whether no two records have the same position. Those of a view without a key may be equal. */
const hasPositions = ({ table }: Selection) => table.structure.key.length > 0

/** Creates the functions that read records by filters and cursors. */
export const createQueries = (options: QueryServiceOptions) => {
  const { db, planner, totals, scan, cursors, readableBy, maxPageSize } = options

  /** Returns a row with the `text` of the page, and a second one if another page follows. */
  const readRows = async (caller: Caller, access: Access, page: PageSelection): Promise<readonly Row[]> => {
    const byIndex = await planner.planQuery(access, page)
    const rows = byIndex ? await db.read(byIndex) : []
    // Without a text, a row is too wide for the event loop.
    if (typeof rows[0]?.text === 'string') return rows
    return scan(caller, page.selection, (selection) => pageByReading({ ...page, selection }))
  }

  const count = async (caller: Caller, selection: Selection): Promise<number> => {
    const { filter, table } = selection
    if (!filter && !table.structure.isView) return totals.get(caller, table)
    const [row] = await scan(caller, selection, countRows)
    return Number(row?.total)
  }

  /** The cursor of a view without a key has the number of records before the page. */
  const startOf = (selection: Selection, digest: Buffer, cursor: string): PageStart => {
    const position = cursors.read(digest, cursor)
    return hasPositions(selection) ? { position, offset: 0 } : { position: null, offset: Number(position[0]) }
  }

  const positionAfter = ({ selection, start, limit }: PageSelection, row: Row): Position =>
    hasPositions(selection) ? positionOf(selection, row) : [BigInt(start.offset + limit)]

  /** Also confirms that the caller may still read the records that the request adds. @throws TABLE_CHANGED */
  const confirmExpansions = (caller: Caller, access: Access, request: ListRequest, before: Projection): Caller => {
    if (request.expand === undefined) return caller
    const confirm = async () => {
      await caller.confirm()
      // If the cache has evicted the projection, `projectionOf` composes an equal one.
      if (projectionOf(access, request, readableBy(caller)).json.text !== before.json.text) throw tableKeepsChanging()
    }
    return { ...caller, confirm }
  }

  /** The page has `next` if the request has a cursor, which may be empty. */
  const readPage = async (caller: Caller, access: Access, request: ListRequest): Promise<PageWithNext> => {
    const { cursor } = request
    const selection = selectionOf(access, request)
    const projection = projectionOf(access, request, readableBy(caller))
    const { limit, offset } = windowOf(request, maxPageSize)
    const digest = cursor === undefined ? null : digestOfQuery(selection)
    const start = digest && cursor ? startOf(selection, digest, cursor) : { position: null, offset }
    const page = { selection, record: projection.json, limit, start, needsNext: digest !== null }
    const [row, following] = await readRows(confirmExpansions(caller, access, request, projection), access, page)
    const text = textOf(row)
    const next = digest && row && following ? cursors.write(digest, positionAfter(page, row)) : null
    return { rows: text, next, selection, limit }
  }

  /**
   * Returns a page of a query as JSON text: `{ rows, next, size, total? }`.
   * @throws VALIDATION_FAILED, INVALID_CURSOR, CURSOR_OF_OTHER_QUERY, RESPONSE_TOO_LARGE, SCAN_TIMEOUT
   */
  const query = async (caller: Caller, access: Access, request: ListRequest): Promise<string> => {
    const { cursor = '', total = false } = request
    const { rows, next, selection, limit } = await readPage(caller, access, { ...request, cursor })
    const counted = total ? `,"total":${await count(caller, selection)}` : ''
    return `{"rows":[${rows}],"next":${JSON.stringify(next)},"size":${limit}${counted}}`
  }

  /** Returns a page of a list as JSON text: `{ rows, total, page, size, next? }`. `total` is -1 without a count. */
  const list = async (caller: Caller, access: Access, request: ListRequest): Promise<string> => {
    const { cursor, page = 1, total = true } = request
    if (cursor !== undefined && request.page !== undefined) throw cursorAndPage()
    const { rows, next, selection, limit } = await readPage(caller, access, request)
    const counted = total ? await count(caller, selection) : -1
    const last = cursor === undefined ? '' : `,"next":${JSON.stringify(next)}`
    return `{"rows":[${rows}],"total":${counted},"page":${page},"size":${limit}${last}}`
  }

  return { query, list }
}
