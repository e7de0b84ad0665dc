import { overloaded } from './errors.ts'

/** With some 20 ms a hash, the last in the queue waits little more than a second. */
const CAPACITY = 64
const RETRY_AFTER_SECONDS = 2
const TOO_MANY = 'More passwords are waiting to be checked than can be taken. Try again.'

type Job = () => Promise<void>

/**
 * Runs one job at a time: hashing shares its threads with every file operation of the process, and a burst of logins
 * would stall them. Addresses are served in turn, so that one with many attempts does not hold up another with one.
 */
export const createHashingQueue = ({ capacity = CAPACITY } = {}) => {
  const waiting = new Map<string, readonly Job[]>()
  let length = 0
  let isRunning = false

  const take = (): Job | undefined => {
    const first = waiting.entries().next()
    if (first.done) return undefined
    const [address, [job, ...rest]] = first.value
    waiting.delete(address)
    if (rest.length > 0) waiting.set(address, rest)
    length -= 1
    return job
  }

  const drain = async () => {
    if (isRunning) return
    isRunning = true
    for (let job = take(); job; job = take()) await job()
    isRunning = false
  }

  /** @throws OVERLOADED when too many wait already. */
  const run = <T>(address: string, work: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      if (length >= capacity) return reject(overloaded(TOO_MANY, RETRY_AFTER_SECONDS))
      const job = () => work().then(resolve, reject)
      waiting.set(address, [...(waiting.get(address) ?? []), job])
      length += 1
      drain()
    })

  return { run }
}
export type HashingQueue = ReturnType<typeof createHashingQueue>
