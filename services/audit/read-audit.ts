import type { Database } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { type AuditEntry, auditRow } from './audit-row.ts'

/** Stores that a caller has read a lot: an export, or a backup. */
export type AuditRead = (caller: Caller, entry: AuditEntry) => void

interface ReadAuditOptions {
  readonly db: Pick<Database, 'write'>
  readonly clock: Clock
  /** Called if the row of a read could not be stored. */
  readonly onFailure: (error: unknown, entry: AuditEntry) => void
}

/**
 * Returns the function that stores the row of a read. Nobody waits for the row: a read must work while another program has
 * locked the database, and on a full disk.
 */
export const createReadAudit =
  ({ db, clock, onFailure }: ReadAuditOptions): AuditRead =>
  (caller, entry) => {
    db.write([auditRow(caller, clock(), entry)]).catch((error) => onFailure(error, entry))
  }
