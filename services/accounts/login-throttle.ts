import { RateLimiterMemory } from 'rate-limiter-flexible'
import { DomainError } from '../model/errors.ts'
import { foldName } from '../model/names.ts'

const WINDOW_SECONDS = 15 * 60
const FAILURES_PER_NAME = 10
const FAILURES_PER_ADDRESS = 200

/** A login attempt: the name of the administrator, and the client's network. */
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
 * Limits failed logins in 15 minutes: 10 for a name from one address, 200 for an address. A limit by name alone would
 * let an attacker lock out the owner of the name. Names are compared like those of accounts: ASCII case is ignored.
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
    /** Resets the count of the name, not that of the address: a login to one account must not allow more guesses. */
    recordSuccess: async (attempt: Attempt) => {
      await byName.delete(keyOf(attempt))
    }
  }
}
export type LoginThrottle = ReturnType<typeof createLoginThrottle>
