import type { Row } from '../../model/sql-value.ts'
import type { Statement } from '../../sql/statement.ts'

/**
 * The tables by which several services share a cluster. `_rowhouse_state` has the epoch, a number that moves with each
 * change of what services have in memory. `_rowhouse_services` has a row for each service with the number of its last batch.
 */
export const STATE_TABLES = [
  'CREATE TABLE IF NOT EXISTS _rowhouse_state (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID',
  'CREATE TABLE IF NOT EXISTS _rowhouse_services (id TEXT PRIMARY KEY, batch INTEGER NOT NULL) STRICT, WITHOUT ROWID'
]

/** `mark`: a random text that no record contains. It marks BLOBs in JSON text: see `dialect.ts`. */
export const initialState = (mark: string): readonly Statement[] => [
  { sql: "INSERT OR IGNORE INTO _rowhouse_state VALUES ('epoch', 1), ('blob_mark', ?)", params: [mark] }
]

export const insertService = (id: string): Statement => ({
  sql: 'INSERT OR IGNORE INTO _rowhouse_services VALUES (?, 0)',
  params: [id]
})

/** Deletes the row of a service. The row of the id '' adds up the batches of these: their number must not fall. */
export const deleteService = (id: string): readonly Statement[] => [
  {
    sql: `INSERT INTO _rowhouse_services SELECT '', batch FROM _rowhouse_services WHERE id = ?
      ON CONFLICT (id) DO UPDATE SET batch = batch + excluded.batch`,
    params: [id]
  },
  { sql: 'DELETE FROM _rowhouse_services WHERE id = ?', params: [id] }
]

export const selectMark: Statement = { sql: "SELECT value FROM _rowhouse_state WHERE name = 'blob_mark'", params: [] }

export const EPOCH = "(SELECT value FROM _rowhouse_state WHERE name = 'epoch')"

export const MOVE_EPOCH: Statement = {
  sql: "UPDATE _rowhouse_state SET value = value + 1 WHERE name = 'epoch'",
  params: []
}

/** What a read batch reads first. */
export interface ClusterState {
  readonly epoch: number
  /** The number of batches of all other services, also of those that have ended. */
  readonly otherBatches: number
}

export const selectState = (id: string): Statement => ({
  sql: `SELECT ${EPOCH} AS epoch, (SELECT ifnull(sum(batch), 0) FROM _rowhouse_services WHERE id <> ?) AS other_batches`,
  params: [id]
})

/** The boundary where a row gets its type. */
export const toState = (row: Row | undefined): ClusterState => ({
  epoch: Number(row?.epoch),
  otherBatches: Number(row?.other_batches)
})

/** Selects the number of the last stored batch of a service. */
export const selectBatch = (id: string): Statement => ({
  sql: 'SELECT batch FROM _rowhouse_services WHERE id = ?',
  params: [id]
})

/**
 * Stores the number of a batch if the stored one is lower: a batch that is sent twice is stored once. A node that could not
 * store the batch before it, because its disk was full, stores this one.
 */
export const storeBatchNumber = (id: string, number: number): Statement => ({
  sql: 'UPDATE _rowhouse_services SET batch = ? WHERE id = ? AND batch < ?',
  params: [BigInt(number), id, BigInt(number)]
})

/** Stores a number if the last one is still the known one. */
export const fenceBatch = (id: string, last: number, next: number): Statement => ({
  sql: 'UPDATE _rowhouse_services SET batch = ? WHERE id = ? AND batch = ?',
  params: [BigInt(next), id, BigInt(last)]
})

const FAILURE = "json('!')"

/** Returns a text that fails the transaction if the condition is true. */
export const failIf = (condition: string) => `SELECT CASE WHEN ${condition} THEN ${FAILURE} END`

/** Returns the text of `failIf` with another expression that fails: `failure`. */
export const withFailure = (sql: string, failure: string) => sql.replace(`THEN ${FAILURE} END`, `THEN ${failure} END`)

/** Fails the transaction if the statement before it did not change this number of rows. */
export const expectChanges = (count: number): Statement => ({
  sql: failIf('changes() <> ?'),
  params: [BigInt(count)]
})

/** Fails the transaction if the epoch has moved. */
export const expectEpoch = (epoch: number): Statement => ({
  sql: failIf(`${EPOCH} <> ?`),
  params: [BigInt(epoch)]
})

/** SQLite's message for the failure of `failIf`. */
export const IS_FAILED_CHECK = /^malformed JSON/

/** Statements on what services have in memory: tables, tokens, roles, admin keys, settings, and all declarations. */
const CHANGES_MEMORY =
  /^\s*(?:CREATE|ALTER|DROP)\b|^\s*(?:INSERT|UPDATE|DELETE|REPLACE)\b[\s\S]*?\b_rowhouse_(?:tables|tokens|roles|admin_keys|settings)\b/i

export const changesMemory = ({ sql }: Statement) => CHANGES_MEMORY.test(sql)
