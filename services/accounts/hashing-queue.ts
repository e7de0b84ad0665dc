import { createFairQueue } from '../engine/loop/fair-queue.ts'
import { overloaded } from '../model/errors.ts'

/** With some 20 ms a hash, the last in the queue waits little more than a second. */
const CAPACITY = 64
const RETRY_AFTER_SECONDS = 2
const TOO_MANY = 'More passwords are waiting to be checked than can be taken. Try again.'

interface Job {
  start(): Promise<void>
  refuse(): void
}

/**
 * Runs one job at a time: hashing shares its threads with every file operation of the process, and a burst of logins
 * would stall them. Addresses are served in turn, so that one with many attempts does not hold up another with one.
 */
export const createHashingQueue = ({ capacity = CAPACITY } = {}) => {
  const waiting = createFairQueue<Job>(capacity)
  let isRunning = false

  const drain = async () => {
    if (isRunning) return
    isRunning = true
    for (let job = waiting.take(); job; job = waiting.take()) await job.start()
    isRunning = false
  }

  /** @throws OVERLOADED when too many wait already. */
  const run = <T>(address: string, work: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      const refuse = () => reject(overloaded(TOO_MANY, RETRY_AFTER_SECONDS))
      waiting.add(address, { start: () => work().then(resolve, reject), refuse })?.refuse()
      drain()
    })

  return { run }
}
