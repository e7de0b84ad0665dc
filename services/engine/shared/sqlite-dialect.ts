import { generatePrimeSync, randomInt } from 'node:crypto'
import type { Dialect } from '../../sql/dialect.ts'

/** A prime of 12 bits lies between 3072 and 4095. */
const DIVISOR_BITS = 12
/** A power of two. The guard calls `alive()` for one row in this number: a sort of long texts takes up to 1 ms for one row. */
const INTERVAL = 64

/**
 * Ends a change between two rows. SQLite evaluates RETURNING for each row: after the AFTER triggers of the row before it, and
 * before its own. It evaluates a condition for all rows before the first trigger.
 */
export const CHANGE_GUARD = ' RETURNING in_time()'

/**
 * Returns the dialect of SQLite. Its expressions call four functions written in JavaScript: `base64()` and
 * `record_tag()` (`shared/connection.ts`), `alive()` (`reader/scan.ts`), which throws to end a scan, and `in_time()`
 * (`writer/batch.ts`), which throws to end a change.
 *
 * The guard calls `alive()` for about one row in 64: a count of 1 million rows in memory takes 40 ms with it, 11 without
 * it, and 230 with a call for each row. The divisor is a prime, because keys that advance in steps then have every
 * remainder, and all values of its last bits. Divisor and bits are random per process, so that nobody can choose keys that
 * avoid the guard. Simpler forms were tried: SQLite's `random()` instead of the rowid takes three times as long; with the
 * bits of the key alone, keys in regular steps avoid the guard.
 */
export const createSqliteDialect = (): Dialect => {
  const divisor = Number(generatePrimeSync(DIVISOR_BITS, { bigint: true }))
  const bits = randomInt(INTERVAL)
  return {
    base64: (value) => `base64(${value})`,
    comparedText: (json) => `record_tag(${json})`,
    computesTags: true,
    changeGuard: CHANGE_GUARD,
    tagsParam: (tags) => JSON.stringify(tags),
    schemaVersion: '(SELECT schema_version FROM temp.pragma_schema_version)',
    scanGuard: (rowid) =>
      rowid === null ? 'alive()' : `((${rowid} % ${divisor} & ${INTERVAL - 1}) <> ${bits} OR alive())`
  }
}
