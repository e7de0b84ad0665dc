import { LRUCache } from 'lru-cache'
import type { RateLimit } from '../../schemas/token.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError } from '../model/errors.ts'

interface Window {
  used: number
  /** Epoch milliseconds. */
  readonly startedAt: number
}

/** The remaining requests of a limit after a request. */
export interface Quota {
  readonly limit: RateLimit
  /** Requests that are left in the window. */
  readonly remaining: number
  /** Seconds until the window ends, rounded up. */
  readonly resetsIn: number
  /** Whether the window had room for the request. A refused request does not count. */
  readonly isAllowed: boolean
}

/** Beyond this number, the window that was used last the longest ago is deleted, and its client begins a new one. */
const MAX_WINDOWS = 100_000

/** `operations`: of the refused batch; 1 for any other request. */
export const tooManyRequests = ({ limit, resetsIn }: Quota, operations: number) => {
  const message =
    operations > limit.requests
      ? 'The batch has more operations than the limit of requests, so it never succeeds.'
      : `Too many requests. Retry in ${resetsIn} s.`
  const hint = `A batch counts as one request for each operation. Send at most ${limit.requests} operations in ${limit.seconds} s.`
  return new DomainError('TOO_MANY_REQUESTS', message, { retryAfter: resetsIn, ...(operations > 1 && { hint }) })
}

/** Creates fixed windows in memory, one for each name. A window begins with its first request. */
export const createRequestWindows = (clock: Clock, maxWindows = MAX_WINDOWS) => {
  // With `max`, the cache would allocate the memory of all windows at the start.
  const windows = new LRUCache<string, Window>({ maxSize: maxWindows, sizeCalculation: () => 1 })

  /** Counts requests of the name, if the window has room for all of them. */
  const count = (name: string, limit: RateLimit, requests = 1): Quota => {
    const now = clock()
    const length = limit.seconds * 1000
    const known = windows.get(name)
    // The limit may have changed since the window began.
    const window = known && now < known.startedAt + length ? known : { used: 0, startedAt: now }
    if (window !== known) windows.set(name, window)
    const isAllowed = window.used + requests <= limit.requests
    if (isAllowed) window.used += requests
    const remaining = Math.max(0, limit.requests - window.used)
    return { limit, remaining, resetsIn: Math.ceil((window.startedAt + length - now) / 1000), isAllowed }
  }

  return { count }
}

export type RequestWindows = ReturnType<typeof createRequestWindows>
