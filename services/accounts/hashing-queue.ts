import { createFairQueue } from '../engine/loop/fair-queue.ts'
import { overloaded } from '../model/errors.ts'

/** At about 20 ms a hash, the last job in a full queue waits little more than a second. */
const CAPACITY = 64
const RETRY_AFTER_SECONDS = 2
const TOO_MANY = 'Too many passwords are waiting to be checked. Try again later.'

interface Job {
  start(): Promise<void>
  refuse(): void
}

/**
 * Runs one job at a time. Hashing shares its threads with all file operations of the process, so a burst of logins
 * would block them. Addresses are served in rotation, so that one with many jobs does not delay the others.
 */
export const createHashingQueue = ({ capacity = CAPACITY } = {}) => {
  const queue = createFairQueue<Job>(capacity)
  let isRunning = false

  const drain = async () => {
    if (isRunning) return
    isRunning = true
    for (let job = queue.take(); job; job = queue.take()) await job.start()
    isRunning = false
  }

  /** Returns the result of `work`. @throws OVERLOADED if the queue is full */
  const run = <T>(address: string, work: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      const refuse = () => reject(overloaded(TOO_MANY, RETRY_AFTER_SECONDS))
      // The refused job may be one of another address, which has more jobs in the queue.
      queue.add(address, { start: () => work().then(resolve, reject), refuse })?.refuse()
      drain()
    })

  return { run }
}
