import type { Database } from '../../engine/database.ts'
import { scansOf } from '../../engine/scans.ts'
import type { Caller } from '../../model/caller.ts'
import { hasCode } from '../../model/errors.ts'
import type { Registration } from '../../model/table.ts'
import { countRows } from '../../sql/selections.ts'

/** Creates the function that counts the rows of a stored table. */
export const createRowCounts = (db: Database) => {
  /** Returns null for a table that cannot be counted: another program may have dropped or changed it. */
  const countStored = async (caller: Caller, table: Registration): Promise<number | null> => {
    if (table.structure === null || table.isOutdated) return null
    try {
      const [row] = await scansOf(db, table).scan(
        countRows({ table, dialect: db.dialect, rows: null, filter: null, joins: [] }),
        caller
      )
      return Number(row?.total)
    } catch (error) {
      if (hasCode(error, 'AUTHENTICATION_REQUIRED')) throw error
      return null
    }
  }

  return countStored
}

export type CountRows = ReturnType<typeof createRowCounts>
