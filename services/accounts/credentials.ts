import { networkOf } from './client-network.ts'
import { createHashingQueue } from './hashing-queue.ts'
import { type Attempt, createLoginThrottle } from './login-throttle.ts'
import type { Passwords } from './passwords.ts'

export interface Credentials {
  /** @throws OVERLOADED when too many passwords wait. */
  hash(password: string, address: string): Promise<string>
  /**
   * The hash to keep from now on: the stored one, or a stronger one when hashing costs more today; null when the
   * password is wrong. Without a stored hash (there is no such name) it takes as long and gives null.
   * @throws TOO_MANY_ATTEMPTS, OVERLOADED
   */
  verify(attempt: Attempt, password: string, stored: string | undefined): Promise<string | null>
}

/** The only way from a request to argon2: throttled, one at a time, in turn by address. */
export const createCredentials = (passwords: Passwords): Credentials => {
  const queue = createHashingQueue()
  const throttle = createLoginThrottle()

  const compare = async (password: string, stored: string | undefined) => {
    const isRight = await passwords.verify(stored ?? passwords.decoy, password)
    if (!isRight || stored === undefined) return null
    return passwords.isOutdated(stored) ? passwords.hash(password) : stored
  }

  const judge = async (attempt: Attempt, password: string, stored: string | undefined) => {
    await throttle.assertAllowed(attempt)
    const kept = await compare(password, stored)
    await (kept === null ? throttle.recordFailure(attempt) : throttle.recordSuccess(attempt))
    return kept
  }

  return {
    hash: (password, address) => queue.run(networkOf(address), () => passwords.hash(password)),
    verify: async ({ name, address }, password, stored) => {
      const attempt = { name, address: networkOf(address) }
      // Once before queueing, to spare the queue; again in turn, since the attempts ahead may have used up the limit.
      await throttle.assertAllowed(attempt)
      return queue.run(attempt.address, () => judge(attempt, password, stored))
    }
  }
}
