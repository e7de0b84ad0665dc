import { identityOf } from '../model/caller.ts'
import type { Row } from '../model/sql-value.ts'
import { MAX_BYTES_ON_LOOP } from './bounded-text.ts'
import type { Statement, Unit } from './statement.ts'
import { DELETE_RESULTS, RESULTS_TEXT } from './unit-results.ts'

/** Milliseconds for which a key and its results are stored. */
const LIFETIME = 24 * 60 * 60 * 1000
/** Maximum number of keys of a caller. The oldest are deleted first. */
const MAX_KEYS = 100_000
/** A key is deleted when the newer ones of its caller have this number of bytes. */
const MAX_BYTES = 64 * 2 ** 20
/** Bytes of a row and its indexes, besides the key and the results. */
const ROW_BYTES = 200
/** Expired keys of all callers that are deleted with each new key. */
const MAX_EXPIRED = 10

interface KeyOfCaller {
  readonly caller: string
  readonly key: string
  /** Epoch milliseconds. */
  readonly now: number
}

interface NewRetry extends KeyOfCaller {
  readonly digest: string
  /** The number of operations, whose results the unit has stored. */
  readonly operations: number
  /** The ids of the tables whose records the results may contain. */
  readonly tables: readonly number[]
}

export interface RetryLimits {
  readonly maxKeys?: number
  readonly maxBytes?: number
}

/** The latest time at which an expired key was stored. */
const expiry = (now: number) => BigInt(now - LIFETIME)

const selectStored =
  (results: string) =>
  ({ caller, key, now }: KeyOfCaller): Statement => ({
    sql: `SELECT digest, ${results} AS results FROM _rowhouse_retries WHERE caller = ? AND key = ? AND created_at > ?`,
    params: [caller, key, expiry(now)]
  })

/** Selects the results of a key. They are null if they are too large for the event loop. */
export const selectRetry = selectStored(`iif(octet_length(results) <= ${MAX_BYTES_ON_LOOP}, results, NULL)`)

export const selectLargeRetry = selectStored('results')

/** What a stored key is compared with, and its results as JSON text. */
export interface StoredRetry {
  readonly digest: string
  readonly results: string
}

/** The boundary where a row gets its type. */
export const toStoredRetry = ({ digest, results }: Row): StoredRetry => ({
  digest: String(digest),
  results: String(results)
})

/** Deletes the key if it has expired, and some others. */
const deleteExpired = ({ caller, key, now }: KeyOfCaller): Statement => ({
  sql: `DELETE FROM _rowhouse_retries WHERE id IN (
    SELECT id FROM _rowhouse_retries WHERE caller = ? AND key = ? AND created_at <= ?
    UNION ALL
    SELECT id FROM (SELECT id FROM _rowhouse_retries WHERE created_at <= ? ORDER BY created_at, id LIMIT ${MAX_EXPIRED}))`,
  params: [caller, key, expiry(now), expiry(now)]
})

const insertRetry = ({ caller, key, digest, operations, tables, now }: NewRetry) => ({
  sql: `INSERT INTO _rowhouse_retries (caller, number, key, digest, results, total_bytes, created_at, tables)
    SELECT added.caller, coalesce(last.number, 0) + 1, added.key, added.digest, added.results,
      coalesce(last.total_bytes, 0) + octet_length(added.results) + 2 * octet_length(added.key) + ${ROW_BYTES},
      added.created_at, added.tables
    FROM (SELECT ? AS caller, ? AS key, ? AS digest, ${RESULTS_TEXT} AS results, ? AS created_at, ? AS tables) AS added
    LEFT JOIN _rowhouse_retries AS last ON last.caller = added.caller
      AND last.number = (SELECT max(number) FROM _rowhouse_retries AS own WHERE own.caller = added.caller)`,
  params: [caller, key, digest, JSON.stringify([...Array(operations).keys()]), BigInt(now), ` ${tables.join(' ')} `]
})

/** Reads only the rows to delete, and one more: `number` and `total_bytes` grow with each row of a caller. */
const deleteOldest = ({ caller }: KeyOfCaller, { maxKeys = MAX_KEYS, maxBytes = MAX_BYTES }: RetryLimits) => ({
  sql: `DELETE FROM _rowhouse_retries WHERE caller = ? AND number < (
    SELECT kept.number FROM _rowhouse_retries AS kept WHERE kept.caller = ?
      AND kept.number > (SELECT max(number) FROM _rowhouse_retries WHERE caller = ?) - ?
      AND kept.total_bytes >
        (SELECT total_bytes FROM _rowhouse_retries WHERE caller = ? ORDER BY number DESC LIMIT 1) - ?
    ORDER BY kept.number LIMIT 1)`,
  params: [caller, caller, caller, BigInt(maxKeys), caller, BigInt(maxBytes)]
})

/** Expects that the key is not stored. */
export const expectNewKey = ({ caller, key, now }: KeyOfCaller): Statement => ({
  sql: 'SELECT 1 FROM _rowhouse_retries WHERE caller = ? AND key = ? AND created_at > ?',
  params: [caller, key, expiry(now)],
  expect: 0
})

/** Stores a key with the results that the unit has stored. */
export const storeRetry = (retry: NewRetry, limits: RetryLimits): Unit => [
  deleteExpired(retry),
  insertRetry(retry),
  DELETE_RESULTS,
  deleteOldest(retry, limits)
]

/** Keys that one unit deletes: each may have megabytes of results. */
const MAX_PURGED = 100

/** Deletes some expired keys. */
export const purgeRetries = (now: number): Statement => ({
  sql: `DELETE FROM _rowhouse_retries WHERE id IN (
    SELECT id FROM _rowhouse_retries WHERE created_at <= ? ORDER BY created_at, id LIMIT ${MAX_PURGED})`,
  params: [expiry(now)]
})

/** Deletes the keys of a caller that is deleted. */
export const deleteRetriesOfCaller = (caller: Parameters<typeof identityOf>[0]): Statement => ({
  sql: 'DELETE FROM _rowhouse_retries WHERE caller = ?',
  params: [identityOf(caller)]
})

/** Deletes the keys with results of a table that is dropped. Reads the index of `tables`, not the results. */
export const deleteRetriesOfTable = (id: number): Statement => ({
  sql: `DELETE FROM _rowhouse_retries WHERE id IN (
    SELECT id FROM _rowhouse_retries INDEXED BY _rowhouse_retries_tables WHERE instr(tables, ?))`,
  params: [` ${id} `]
})
