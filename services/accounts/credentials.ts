import { networkOf } from './client-network.ts'
import { createHashingQueue } from './hashing-queue.ts'
import { type Attempt, createLoginThrottle } from './login-throttle.ts'
import type { Passwords } from './passwords.ts'

export interface Credentials {
  /** @throws OVERLOADED if too many passwords are queued */
  hash(password: string, address: string): Promise<string>
  /**
   * Returns the hash to store, or null if the password is wrong. It is the given hash, or a stronger one if the cost
   * has been raised since. Without a stored hash (the name does not exist) it takes the same time and returns null.
   * @throws TOO_MANY_ATTEMPTS, OVERLOADED
   */
  verify(attempt: Attempt, password: string, stored: string | undefined): Promise<string | null>
}

/**
 * The only way from a request to argon2: throttled, and queued by address. `onFailure` is called with the network of each
 * client whose password was wrong.
 */
export const createCredentials = (
  passwords: Passwords,
  onFailure: (network: string) => void = () => {}
): Credentials => {
  const queue = createHashingQueue()
  const throttle = createLoginThrottle()

  const verifyAndRehash = async (password: string, stored: string | undefined) => {
    const isMatch = await passwords.verify(stored ?? passwords.dummyHash, password)
    if (!isMatch || stored === undefined) return null
    return passwords.isOutdated(stored) ? passwords.hash(password) : stored
  }

  const verifyThrottled = async (attempt: Attempt, password: string, stored: string | undefined) => {
    await throttle.assertAllowed(attempt)
    const hash = await verifyAndRehash(password, stored)
    await (hash === null ? throttle.recordFailure(attempt) : throttle.recordSuccess(attempt))
    if (hash === null) onFailure(attempt.address)
    return hash
  }

  return {
    hash: (password, address) => queue.run(networkOf(address), () => passwords.hash(password)),
    verify: async ({ name, address }, password, stored) => {
      const attempt = { name, address: networkOf(address) }
      // Checked before the queue, to keep it short, and again afterwards: queued attempts may have reached the limit.
      await throttle.assertAllowed(attempt)
      return queue.run(attempt.address, () => verifyThrottled(attempt, password, stored))
    }
  }
}
