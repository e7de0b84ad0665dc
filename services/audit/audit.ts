import type { AuditAction, AuditCallerKind, AuditFilter, AuditPage, AuditQuery, AuditRow } from '../../schemas/audit.ts'
import type { Database } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import type { Row } from '../model/sql-value.ts'
import { selectAudit } from './audit-statements.ts'
import type { AuditRead } from './read-audit.ts'

interface AuditServiceOptions {
  readonly db: Database
  readonly auditRead: AuditRead
}

const DEFAULT_SIZE = 50
/** Rows that an export reads at a time. */
const STEP_ROWS = 500

/** The boundary where a row gets its type. */
const toAuditRow = (row: Row): AuditRow => ({
  id: Number(row.id),
  at: Number(row.at),
  callerKind: String(row.caller_kind) as AuditCallerKind,
  callerId: Number(row.caller_id),
  callerName: String(row.caller_name),
  address: String(row.address),
  requestId: String(row.request_id),
  action: String(row.action) as AuditAction,
  target: String(row.target),
  targetId: row.target_id === null ? null : Number(row.target_id),
  summary: JSON.parse(String(row.summary)),
  count: Number(row.count)
})

const linesOf = ({ rows }: AuditPage) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

/** Reads the audit. `auditRow` writes it. */
export const createAuditService = ({ db, auditRead }: AuditServiceOptions) => {
  /** Returns a page of the rows, the latest first. @throws SCAN_TIMEOUT */
  const list = async (caller: Caller, { size = DEFAULT_SIZE, ...range }: AuditQuery): Promise<AuditPage> => {
    // One row more than the page shows whether there is a next one.
    const found = await db.scan(selectAudit({ ...range, size: size + 1 }, db.dialect), caller)
    const rows = found.slice(0, size).map(toAuditRow)
    return { rows, next: found.length > size ? Number(rows.at(-1)?.id) : null }
  }

  /** Yields an empty text once the first rows have been read, then the rows as lines of JSON, the latest first. */
  async function* readLines(caller: Caller, filter: AuditFilter): AsyncGenerator<string> {
    const range = { ...filter, size: STEP_ROWS }
    let page = await list(caller, range)
    yield ''
    while (page.next !== null) {
      yield linesOf(page)
      page = await list(caller, { ...range, before: page.next })
    }
    yield linesOf(page)
  }

  /**
   * Returns the rows as NDJSON, in chunks. Rows that are added later are not exported. Resolves when the first rows have been
   * read, so that an error is thrown before the response begins.
   * @throws SCAN_TIMEOUT
   */
  const exportRows = async (caller: Caller, filter: AuditFilter): Promise<AsyncGenerator<string>> => {
    const lines = readLines(caller, filter)
    await lines.next()
    const summary = { format: 'ndjson', isFiltered: Object.keys(filter).length > 0 }
    auditRead(caller, { action: 'export', target: 'audit', summary })
    return lines
  }

  return { list, exportRows }
}

export type AuditService = ReturnType<typeof createAuditService>
