import { randomInt } from 'node:crypto'
import type { Structure } from '../model/table.ts'
import { identifier } from './identifiers.ts'

const isPrime = (number: number) => {
  for (let divisor = 2; divisor ** 2 <= number; divisor += 1) if (number % divisor === 0) return false
  return true
}

const divisors = Array.from({ length: 3072 }, (_, index) => 1024 + index).filter(isPrime)
const divisor = divisors[randomInt(divisors.length)] as number
const remainder = randomInt(divisor)

/**
 * A condition for statements in reader threads: `alive()` throws when the service stops or the scan has run for 30 s.
 * It is asked for one row in 1,024 to 4,096 (40 ms against 27 over a million rows, and 77 if it were for each), or for
 * each where there is no rowid. The divisor is a prime, so that keys that advance in steps meet it too; each process
 * draws it and the remainder anew, so that nobody can choose keys that do not. Negative keys have negative remainders.
 */
export const scanGuard = ({ rowid }: Structure) => {
  if (rowid === null) return 'alive()'
  const left = `${identifier(rowid)} % ${divisor}`
  return `(${left} <> ${remainder} AND ${left} <> ${remainder - divisor} OR alive())`
}
