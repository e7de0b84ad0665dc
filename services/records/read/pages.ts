import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import { pageByScanning, pageWithTotal } from '../../sql/lists.ts'
import type { Access } from '../access/access.ts'
import type { ReadableBy } from '../access/readable.ts'
import { textOf } from './page-text.ts'
import type { PagePlan, PageRequest, Planner } from './planner.ts'
import type { Scan } from './scans.ts'
import { type ListRequest, projectionOf, selectionOf, windowOf } from './selection.ts'
import type { Totals } from './totals.ts'

interface PageOptions {
  readonly db: Database
  readonly planner: Planner
  readonly totals: Totals
  readonly scan: Scan
  readonly readableBy: ReadableBy
  readonly maxPageSize: number
}

/** `rows`: the elements of a JSON array as text, without its brackets. */
interface PageWithTotal {
  readonly rows: string
  readonly total: number
}

/** Creates the function that lists records. The planner decides how each page is read. */
export const createPages = ({ db, planner, totals, scan, readableBy, maxPageSize }: PageOptions) => {
  const runPlan = async (caller: Caller, { selection }: PageRequest, plan: PagePlan) => {
    if (plan.via === 'nothing') return ''
    if (plan.via === 'scan') return textOf((await scan(caller, selection, () => plan.statement))[0])
    return db.readText(plan.statement)
  }

  const readRows = async (caller: Caller, request: PageRequest, total: number) => {
    const rows = await runPlan(caller, request, await planner.planPage(request, total))
    if (rows !== null) return rows
    // null: a row is too wide for the event loop, or the key has gaps.
    const { record, selection, window } = request
    return textOf((await scan(caller, selection, (rows) => pageByScanning(rows, record, window)))[0])
  }

  const readUnfiltered = async (caller: Caller, request: PageRequest): Promise<PageWithTotal> => {
    const total = await totals.get(caller, request.selection.table)
    return { rows: await readRows(caller, request, total), total }
  }

  /** Also for SQL views: changes of other tables change their totals, which are therefore not cached. */
  const readWithTotal = async (caller: Caller, { record, selection, window }: PageRequest): Promise<PageWithTotal> => {
    const [row] = await scan(caller, selection, (rows) => pageWithTotal(rows, record, window))
    return { rows: textOf(row), total: Number(row?.total) }
  }

  /** Returns the page as JSON text: `{ rows, total, page, size }`. @throws VALIDATION_FAILED, RESPONSE_TOO_LARGE, SCAN_TIMEOUT */
  const list = async (caller: Caller, access: Access, request: ListRequest): Promise<string> => {
    const selection = selectionOf(access, request)
    const { json: record } = projectionOf(access, request, readableBy(caller))
    const window = windowOf(request, maxPageSize)
    const readPage = selection.filter || access.table.structure.isView ? readWithTotal : readUnfiltered
    const { rows, total } = await readPage(caller, { access, record, selection, window })
    return `{"rows":[${rows}],"total":${total},"page":${request.page ?? 1},"size":${window.limit}}`
  }

  return { list }
}
