import { generatePrimeSync, randomInt } from 'node:crypto'
import type { Dialect } from '../../sql/dialect.ts'

/** A prime of 12 bits lies between 3072 and 4095. */
const DIVISOR_BITS = 12

/**
 * The dialect of SQLite with two functions written in JavaScript: `base64()` (`shared/connection.ts`) and `alive()`
 * (`reader/scan.ts`), which throws to end a scan.
 *
 * A call of `alive()` for each row doubles the time of a count, so the guard calls it for about one row in 3,500. The
 * divisor is a prime, because keys that advance in steps then meet every remainder. Divisor and remainder are random
 * per process, so that nobody can choose keys that avoid the guard. `abs`: negative keys have negative remainders.
 */
export const createSqliteDialect = (): Dialect => {
  const divisor = Number(generatePrimeSync(DIVISOR_BITS, { bigint: true }))
  const remainder = randomInt(divisor)
  return {
    base64: (value) => `base64(${value})`,
    scanGuard: (rowid) => (rowid === null ? 'alive()' : `(abs(${rowid} % ${divisor}) <> ${remainder} OR alive())`)
  }
}
