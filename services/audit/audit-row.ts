import type { AuditAction, AuditCallerKind } from '../../schemas/audit.ts'
import type { Caller } from '../model/caller.ts'
import type { Statement } from '../sql/statement.ts'

export interface AuditCaller extends Pick<Caller, 'id' | 'name' | 'address' | 'requestId'> {
  readonly kind: AuditCallerKind
}

/** What a caller did. */
export interface AuditEntry {
  readonly action: AuditAction
  /** The name of the table, token, administrator or other target, as it was before the change. */
  readonly target?: string
  /** null or absent if the change creates the target. */
  readonly targetId?: number | null
  /** What changed. Contains no secret and no value of a record. Properties that are undefined are left out. */
  readonly summary?: object
  /** Of failed logins. */
  readonly count?: number
}

/**
 * Returns the statement that adds a row to the audit. A service adds it at the end of the unit that makes the change, so
 * that the results of the other statements keep their positions. A statement that may change nothing needs `expect`: then
 * the unit fails, and stores no row. `now`: epoch milliseconds.
 */
export const auditRow = (caller: AuditCaller, now: number, entry: AuditEntry): Statement => {
  const { action, target = '', targetId = null, summary = {}, count = 1 } = entry
  return {
    sql: `INSERT INTO _rowhouse_audit (at, caller_kind, caller_id, caller_name, address, request_id, action, target,
      target_id, summary, count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    params: [
      BigInt(now),
      caller.kind,
      BigInt(caller.id),
      caller.name,
      caller.address,
      caller.requestId,
      action,
      target,
      targetId === null ? null : BigInt(targetId),
      JSON.stringify(summary),
      BigInt(count)
    ]
  }
}

/** Returns the names of the properties in a request, and the values of its flags. Other values may be secret. */
export const summaryOf = (changes: object) => ({
  changed: Object.keys(changes),
  ...Object.fromEntries(Object.entries(changes).filter(([, value]) => typeof value === 'boolean'))
})
