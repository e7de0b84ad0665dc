import { MEMORY_TABLES } from '../../model/memory.ts'
import type { Row } from '../../model/sql-value.ts'
import type { Statement } from '../../sql/statement.ts'

/**
 * The tables by which several services share a cluster. `_rowhouse_services` has a row for each service with the number of its
 * last batch. The rows of `_rowhouse_state`:
 * - `epoch`: a number that moves with each change of what services have in memory.
 * - `change`: the random id of the last change.
 * - `recorded`: how many of these changes are in the table of changes. An older version of Rowhouse moves only the epoch.
 * - `structure`: the random id of the last change of the structure.
 * - `blob_mark`: a random text that no record contains. It marks BLOBs in JSON text: see `dialect.ts`.
 */
export const STATE_TABLES = [
  'CREATE TABLE IF NOT EXISTS _rowhouse_state (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID',
  'CREATE TABLE IF NOT EXISTS _rowhouse_services (id TEXT PRIMARY KEY, batch INTEGER NOT NULL) STRICT, WITHOUT ROWID'
]

/** `id`: a random text. */
export const initialState = (mark: string, id: string): Statement => ({
  sql: `INSERT OR IGNORE INTO _rowhouse_state
    VALUES ('epoch', 1), ('change', ?), ('recorded', 0), ('structure', ?), ('blob_mark', ?)`,
  params: [id, id, mark]
})

export const insertService = (id: string): Statement => ({
  sql: 'INSERT OR IGNORE INTO _rowhouse_services VALUES (?, 0)',
  params: [id]
})

/**
 * Deletes the row of a service. The row of the id '' adds up the batches of these: their number must not fall. `batch`: if the row
 * has another one, it stays. null: any batch.
 */
export const deleteService = (id: string, batch: number | null): readonly Statement[] => {
  const isThis = 'id = ? AND batch = ifnull(?, batch)'
  const params = [id, batch === null ? null : BigInt(batch)]
  return [
    {
      sql: `INSERT INTO _rowhouse_services SELECT '', batch FROM _rowhouse_services WHERE ${isThis}
        ON CONFLICT (id) DO UPDATE SET batch = batch + excluded.batch`,
      params
    },
    { sql: `DELETE FROM _rowhouse_services WHERE ${isThis}`, params }
  ]
}

/** Selects the rows of all other services. */
export const selectServices = (id: string): Statement => ({
  sql: "SELECT id, batch FROM _rowhouse_services WHERE id NOT IN (?, '')",
  params: [id]
})

const stateValue = (name: string) => `(SELECT value FROM _rowhouse_state WHERE name = '${name}')`

export const selectMark: Statement = { sql: `SELECT ${stateValue('blob_mark')} AS value`, params: [] }

export const EPOCH = stateValue('epoch')
export const CHANGE = stateValue('change')
export const UNRECORDED = `(${EPOCH} - ${stateValue('recorded')})`
/** Differs after each change of the structure, and after each change that is not recorded. */
export const STRUCTURE = `${stateValue('structure')} || ' ' || ${UNRECORDED}`

/** The state of the cluster that a service has loaded. */
export interface KnownState {
  readonly epoch: number
  readonly change: string
  /** The number of changes that are not in the table of changes. */
  readonly unrecorded: number
}

/** What a read batch reads first. */
export interface ClusterState extends KnownState {
  /** The number of batches of all other services, also of those that have ended. */
  readonly otherBatches: number
}

export const selectState = (id: string): Statement => ({
  sql: `SELECT ${EPOCH} AS epoch, ${CHANGE} AS change, ${UNRECORDED} AS unrecorded,
    (SELECT ifnull(sum(batch), 0) FROM _rowhouse_services WHERE id <> ?) AS other_batches`,
  params: [id]
})

/** The boundary where a row gets its type. */
export const toState = (row: Row | undefined): ClusterState => ({
  epoch: Number(row?.epoch),
  change: String(row?.change),
  unrecorded: Number(row?.unrecorded),
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

/** Fails the transaction if another service has changed memory since the known state. */
export const expectState = ({ epoch, change }: KnownState): Statement => ({
  sql: failIf(`(${EPOCH}, ${CHANGE}) <> (?, ?)`),
  params: [BigInt(epoch), change]
})

/** SQLite's message for the failure of `failIf`. */
export const IS_FAILED_CHECK = /^malformed JSON/

const CHANGES_STRUCTURE = /^\s*(?:CREATE|ALTER|DROP)\b/i

export const changesStructure = ({ sql }: Statement) => CHANGES_STRUCTURE.test(sql)

const CHANGES_ROWS = new RegExp(
  `^\\s*(?:INSERT|UPDATE|DELETE|REPLACE)\\b[\\s\\S]*?\\b_rowhouse_(?:${MEMORY_TABLES.join('|')})\\b`,
  'i'
)

/** Whether a statement may change what services have in memory: tables, tokens, roles, admin keys, settings, declarations. */
export const changesMemory = (statement: Statement) => changesStructure(statement) || CHANGES_ROWS.test(statement.sql)
