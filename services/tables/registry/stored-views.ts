import type { Database, ScanCaller } from '../../engine/database.ts'
import { DomainError, hasCode } from '../../model/errors.ts'
import type { Structure } from '../../model/table.ts'
import { toViewStructure } from '../../sql/introspection.ts'

/** Whether the view causes the error: it is broken, or takes too long to prepare. */
const isCausedByView = (error: unknown): error is DomainError =>
  hasCode(error, 'STRUCTURE_CHANGED') || hasCode(error, 'SCAN_TIMEOUT')

/** Returns the structure of an SQL view, or the reason why SQLite cannot prepare it. */
export const readView = async (db: Database, caller: ScanCaller, name: string): Promise<Structure | string> => {
  try {
    return toViewStructure(await db.viewScans.describe(name, caller))
  } catch (error) {
    if (!isCausedByView(error)) throw error
    return error.reported ?? error.message
  }
}

/**
 * Returns the structure of a registered view. null: it cannot be used, and a refresh shows the reason. undefined: it could
 * not be read now, which must not end the start of the service.
 */
export const readRegisteredView = async (
  db: Database,
  caller: ScanCaller,
  name: string
): Promise<Structure | null | undefined> => {
  try {
    const read = await readView(db, caller, name)
    return typeof read === 'string' ? null : read
  } catch (error) {
    if (error instanceof DomainError) return undefined
    throw error
  }
}
