import type { Database } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { Row } from '../../model/sql-value.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { weighTable } from '../../sql/rebuild.ts'
import { tableTooLarge } from '../failures.ts'

/** Limits of a table whose rows a change writes again. 500,000 narrow rows with one index took 0.9 s. */
const MAX_REWRITTEN_ROWS = 500_000
const MAX_REWRITTEN_BYTES = 64 * 2 ** 20
const LIMIT = `at most ${MAX_REWRITTEN_ROWS} rows and ${MAX_REWRITTEN_BYTES / 2 ** 20} MiB of values`

/** Creates the check of a table whose rows are written again. `columns`: those with the values that count. */
export const createRewriteLimit =
  (db: Database) =>
  /** @throws TABLE_TOO_LARGE */
  async (caller: Caller, { name, structure }: RegisteredTable, columns: readonly string[]) => {
    const [row] = await db.scan(weighTable(name, columns, structure.rowid, db.dialect), caller)
    const { rows, bytes } = row as Row
    if (Number(rows) <= MAX_REWRITTEN_ROWS && Number(bytes) <= MAX_REWRITTEN_BYTES) return
    throw tableTooLarge(name, Number(rows), LIMIT)
  }
