import { randomInt } from 'node:crypto'
import type { Dialect } from '../../sql/dialect.ts'

const isPrime = (number: number) => {
  for (let divisor = 2; divisor ** 2 <= number; divisor += 1) if (number % divisor === 0) return false
  return true
}

const divisors = Array.from({ length: 3072 }, (_, index) => 1024 + index).filter(isPrime)
const divisor = divisors[randomInt(divisors.length)] as number
const remainder = randomInt(divisor)

/**
 * `alive()` throws when the service stops or the scan has run for 30 s. It is called for one row in 1,024 to 4,096
 * (40 ms against 27 over a million rows without it, and 77 for every row), or for every row without a rowid. The
 * divisor is a prime, so that keys in steps meet it, too. Each process draws divisor and remainder at random, so that
 * nobody can choose keys that avoid them. Negative keys have negative remainders.
 */
const scanGuard = (rowid: string | null) => {
  if (rowid === null) return 'alive()'
  const left = `${rowid} % ${divisor}`
  return `(${left} <> ${remainder} AND ${left} <> ${remainder - divisor} OR alive())`
}

/** SQL for the functions that this engine adds to SQLite. */
export const sqliteDialect: Dialect = { base64: (value) => `base64(${value})`, scanGuard }
