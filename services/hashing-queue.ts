import { overloaded } from './errors.ts'

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
 * would stall them. Addresses are served in turn, and where there is no more room those with fewer jobs go before those
 * with more, so that one with many attempts neither holds up nor shuts out another with one.
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
    for (let job = take(); job; job = take()) await job.start()
    isRunning = false
  }

  /** Refuses the last job of the address that has the most, where it has more than the newcomer then will. */
  const makeRoomFor = (address: string) => {
    const [longest, jobs] = [...waiting].reduce((most, one) => (one[1].length > most[1].length ? one : most))
    if (jobs.length <= (waiting.get(address) ?? []).length + 1) return false
    const last = jobs[jobs.length - 1] as Job
    last.refuse()
    waiting.set(longest, jobs.slice(0, -1))
    length -= 1
    return true
  }

  /** @throws OVERLOADED when too many wait already. */
  const run = <T>(address: string, work: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      const refuse = () => reject(overloaded(TOO_MANY, RETRY_AFTER_SECONDS))
      if (length >= capacity && !makeRoomFor(address)) return refuse()
      const job = { start: () => work().then(resolve, reject), refuse }
      waiting.set(address, [...(waiting.get(address) ?? []), job])
      length += 1
      drain()
    })

  return { run }
}
