import { RateLimiterMemory } from 'rate-limiter-flexible'
import { DomainError } from '../model/errors.ts'
import { foldName } from '../model/names.ts'

const WINDOW_SECONDS = 15 * 60
const FAILURES_PER_NAME = 10
const FAILURES_PER_ADDRESS = 200

/** Whose password is being tried, and from where. */
export interface Attempt {
  readonly name: string
  readonly address: string
}

const tooManyAttempts = (milliseconds: number) => {
  const seconds = Math.ceil(milliseconds / 1000)
  return new DomainError('TOO_MANY_ATTEMPTS', `Too many failed logins. Try again in ${seconds} s.`, {
    retryAfter: seconds
  })
}

const assertBelow = async (limiter: RateLimiterMemory, key: string) => {
  const used = await limiter.get(key)
  if (used && used.msBeforeNext > 0 && used.consumedPoints >= limiter.points) throw tooManyAttempts(used.msBeforeNext)
}

/**
 * Counts failed logins: 10 in 15 minutes for a name from an address, 200 for an address. Counting by name alone would
 * let a stranger lock out its owner. Names fold as those of accounts do.
 */
export const createLoginThrottle = () => {
  const byName = new RateLimiterMemory({ points: FAILURES_PER_NAME, duration: WINDOW_SECONDS })
  const byAddress = new RateLimiterMemory({ points: FAILURES_PER_ADDRESS, duration: WINDOW_SECONDS })
  const keyOf = ({ name, address }: Attempt) => `${address} ${foldName(name)}`

  return {
    /** @throws TOO_MANY_ATTEMPTS */
    assertAllowed: async (attempt: Attempt) => {
      await assertBelow(byName, keyOf(attempt))
      await assertBelow(byAddress, attempt.address)
    },
    recordFailure: async (attempt: Attempt) => {
      await byName.penalty(keyOf(attempt))
      await byAddress.penalty(attempt.address)
    },
    /** Forgets the failures of the name, not those of the address: an account of one's own must not buy guesses. */
    recordSuccess: async (attempt: Attempt) => {
      await byName.delete(keyOf(attempt))
    }
  }
}
export type LoginThrottle = ReturnType<typeof createLoginThrottle>
