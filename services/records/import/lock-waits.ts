import { setTimeout as delay } from 'node:timers/promises'
import { hasCode } from '../../model/errors.ts'

/** Milliseconds. A client that waits for a single change gets 503 earlier. */
const MAX_WAIT = 30_000
const PAUSE = 100

/** Runs a unit again while another program has locked the database. For imports, which take long anyway. */
export const whenUnlocked = async <T>(run: () => Promise<T>, maxWait = MAX_WAIT): Promise<T> => {
  const end = performance.now() + maxWait
  for (;;) {
    try {
      return await run()
    } catch (error) {
      if (!hasCode(error, 'DATABASE_BUSY') || performance.now() >= end) throw error
    }
    await delay(PAUSE)
  }
}
