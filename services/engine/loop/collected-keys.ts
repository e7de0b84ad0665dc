import type { Row } from '../../model/sql-value.ts'
import type { RowSource, Statement } from '../../sql/statement.ts'

/** The table of a held reader's collected keys. Its prefix is reserved, so it hides no table of the file. */
const COLLECTED_KEYS = 'temp._rowhouse_keys'

/**
 * Rows come out of the sort without a call of the guard in their statement: 0.5 to 4 s for a million. The CHECK calls
 * `alive()` for one row in 64.
 */
const POSITION = 'position INTEGER PRIMARY KEY CHECK (position & 63 <> 0 OR alive())'

/** Fills the table with the rows of `keys`, in their order. Returns the number of rows. */
export const collectKeys = async (
  scan: (statement: Statement) => Promise<readonly Row[]>,
  keys: Statement,
  keyCount: number
) => {
  const columns = Array.from({ length: keyCount }, (_, index) => `k${index}`).join(', ')
  await scan({
    sql: `CREATE TABLE IF NOT EXISTS ${COLLECTED_KEYS} (${POSITION}, ${columns})`,
    params: []
  })
  await scan({ sql: `INSERT INTO ${COLLECTED_KEYS} (${columns}) ${keys.sql}`, params: keys.params })
  const [row] = await scan({ sql: `SELECT count(*) AS count FROM ${COLLECTED_KEYS}`, params: [] })
  return Number(row?.count)
}

/** Returns the rows of the table after a position. SQLite reads only these. */
export const collectedKeys = (after: number, rows: number): RowSource => ({
  from: `(SELECT * FROM ${COLLECTED_KEYS} WHERE position > ? AND position <= ?)`,
  params: [BigInt(after), BigInt(after + rows)]
})
