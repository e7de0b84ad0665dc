import type { AuditAction, AuditCallerKind, AuditPage, AuditQuery, AuditRow } from '../../schemas/audit.ts'
import type { Database } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import type { Row } from '../model/sql-value.ts'
import { selectAudit } from './audit-statements.ts'

interface AuditServiceOptions {
  readonly db: Database
}

const DEFAULT_SIZE = 50

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

/** Reads the audit. `auditRow` writes it. */
export const createAuditService = ({ db }: AuditServiceOptions) => {
  /** Returns a page of the rows, the latest first. @throws SCAN_TIMEOUT */
  const list = async (caller: Caller, { size = DEFAULT_SIZE, ...range }: AuditQuery): Promise<AuditPage> => {
    // One row more than the page shows whether there is a next one.
    const found = await db.scan(selectAudit({ ...range, size: size + 1 }, db.dialect), caller)
    const rows = found.slice(0, size).map(toAuditRow)
    return { rows, next: found.length > size ? Number(rows.at(-1)?.id) : null }
  }

  return { list }
}

export type AuditService = ReturnType<typeof createAuditService>
