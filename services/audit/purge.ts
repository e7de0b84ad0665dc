import type { Database } from '../engine/database.ts'
import type { Clock } from '../model/clock.ts'
import { purgeAudit } from './audit-statements.ts'

interface PurgeOptions {
  readonly db: Database
  readonly clock: Clock
  /** Returns the milliseconds for which rows are kept. */
  readonly keep: () => number
}

/** Creates the function that deletes all rows that are too old, in small units. */
export const createAuditPurge =
  ({ db, clock, keep }: PurgeOptions) =>
  async (): Promise<void> => {
    let deleted = 1
    while (deleted > 0) deleted = Number((await db.write([purgeAudit(clock() - keep())]))[0]?.changes)
  }
