import { LRUCache } from 'lru-cache'
import type { Clock } from '../model/clock.ts'
import { DomainError } from '../model/errors.ts'

export interface RateLimit {
  readonly requests: number
  readonly seconds: number
}

interface Window {
  used: number
  /** Epoch milliseconds. */
  readonly endsAt: number
}

/** Beyond this number, the window that was used last the longest ago is deleted, and its client begins a new one. */
const MAX_WINDOWS = 100_000

const tooManyRequests = (milliseconds: number) => {
  const seconds = Math.ceil(milliseconds / 1000)
  return new DomainError('TOO_MANY_REQUESTS', `Too many requests. Try again in ${seconds} s.`, { retryAfter: seconds })
}

/** Creates fixed windows in memory, one for each key. A window begins with its first request. */
export const createRequestWindows = (clock: Clock, maxWindows = MAX_WINDOWS) => {
  const windows = new LRUCache<string, Window>({ max: maxWindows })

  /** Counts a request of the key. @throws TOO_MANY_REQUESTS if the window has no request left */
  const count = (key: string, { requests, seconds }: RateLimit) => {
    const now = clock()
    const known = windows.get(key)
    const window = known && now < known.endsAt ? known : { used: 0, endsAt: now + seconds * 1000 }
    if (window !== known) windows.set(key, window)
    if (window.used >= requests) throw tooManyRequests(window.endsAt - now)
    window.used += 1
  }

  return { count }
}

export type RequestWindows = ReturnType<typeof createRequestWindows>
