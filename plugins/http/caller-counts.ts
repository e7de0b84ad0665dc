import { type Caller, identityOf } from '../../services/model/caller.ts'

export interface CallerCounts {
  /** The count of all callers, with at most `maxOfCaller` of each. */
  total(): number
  of(caller: Caller): number
  /** Adds to the count of a caller, or subtracts a negative number. */
  add(caller: Caller, count: number): void
}

/**
 * Counts bytes in memory for each caller, so that one caller cannot use all that a limit allows. `maxOfCaller`: the maximum that the
 * total has of one caller.
 */
export const createCallerCounts = (maxOfCaller = Number.POSITIVE_INFINITY): CallerCounts => {
  const counts = new Map<string, number>()
  let total = 0
  const of = (caller: Caller) => counts.get(identityOf(caller)) ?? 0

  const add = (caller: Caller, count: number) => {
    const before = of(caller)
    const sum = before + count
    total += Math.min(sum, maxOfCaller) - Math.min(before, maxOfCaller)
    if (sum === 0) counts.delete(identityOf(caller))
    else counts.set(identityOf(caller), sum)
  }
  return { total: () => total, of, add }
}
