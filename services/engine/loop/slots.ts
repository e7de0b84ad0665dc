import { overloaded } from '../../model/errors.ts'
import type { ScanCaller } from '../database.ts'
import { createFairQueue } from './fair-queue.ts'

const MAX_QUEUED_SCANS = 256
export const RETRY_AFTER_SECONDS = 5

/** A scan that waits for a free slot. */
interface QueuedScan {
  start(): void
  refuse(): void
}

/** Limits how many scans run concurrently. The callers that wait are served in rotation. */
export const createSlots = (count: number) => {
  let free = count
  const queue = createFairQueue<QueuedScan>(MAX_QUEUED_SCANS)

  const startNext = () => {
    const next = queue.take()
    if (next) next.start()
    else free += 1
  }

  const wait = ({ kind, id }: ScanCaller) =>
    new Promise<void>((start, reject) => {
      const refuse = () => reject(overloaded('Too many searches are queued. Try again.', RETRY_AFTER_SECONDS))
      queue.add(`${kind} ${id}`, { start, refuse })?.refuse()
    })

  return {
    /** Resolves when the caller has a slot, which it must release. @throws OVERLOADED */
    take: async (caller: ScanCaller): Promise<void> => {
      if (free > 0) free -= 1
      else await wait(caller)
    },
    /** The next scan starts in a later tick, so that the event loop is not blocked by many results in sequence. */
    release: () => {
      setImmediate(startNext)
    }
  }
}
