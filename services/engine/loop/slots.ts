import { identityOf } from '../../model/caller.ts'
import { disconnected, overloaded } from '../../model/errors.ts'
import type { ScanCounts } from '../counts.ts'
import type { OnTime, ScanCaller } from '../database.ts'
import { createFairQueue } from './fair-queue.ts'

const MAX_QUEUED_SCANS = 256
export const RETRY_AFTER_SECONDS = 5

/** A scan that waits for a free slot. */
interface QueuedScan {
  start(): void
  refuse(): void
}

/** Limits how many scans run concurrently, in all and for each caller. The callers that wait are served in rotation. */
export const createSlots = (count: number, countPerCaller = count) => {
  let free = count
  let refused = 0
  const running = new Map<string, number>()
  const queue = createFairQueue<QueuedScan>(MAX_QUEUED_SCANS)

  const mayStart = (name: string) => free > 0 && (running.get(name) ?? 0) < countPerCaller

  const begin = (name: string) => {
    free -= 1
    running.set(name, (running.get(name) ?? 0) + 1)
  }

  const end = (name: string) => {
    free += 1
    const others = Number(running.get(name)) - 1
    if (others > 0) running.set(name, others)
    else running.delete(name)
    queue.take(mayStart)?.start()
  }

  /** Resolves in a slot. Rejects when the client disconnects. */
  const wait = (name: string, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const stopListening = () => signal?.removeEventListener('abort', leave)
      const scan: QueuedScan = {
        start: () => {
          stopListening()
          begin(name)
          resolve()
        },
        refuse: () => {
          stopListening()
          refused += 1
          reject(overloaded('Too many searches are queued. Try again.', RETRY_AFTER_SECONDS))
        }
      }
      const leave = () => {
        queue.remove(name, scan)
        reject(disconnected())
      }
      signal?.addEventListener('abort', leave)
      queue.add(name, scan)?.refuse()
    })

  /** Resolves when the caller has a slot, which it must release, and still its right. @throws OVERLOADED */
  const take = async (caller: ScanCaller): Promise<void> => {
    const name = identityOf(caller)
    if (mayStart(name)) begin(name)
    else await wait(name, caller.clientSignal?.())
    try {
      await caller.confirm()
    } catch (error) {
      release(caller)
      throw error
    }
  }

  /** The next scan starts in a later tick, so that the event loop is not blocked by many results in sequence. */
  const release = (caller: ScanCaller) => {
    setImmediate(() => end(identityOf(caller)))
  }

  /** Runs a scan in a slot, and confirms the right of the caller before and after it. */
  const run = async <T>(caller: ScanCaller, scan: () => Promise<T>, onTime: OnTime = () => {}): Promise<T> => {
    await take(caller)
    const start = performance.now()
    try {
      const rows = await scan().finally(() => onTime(performance.now() - start))
      await caller.confirm()
      return rows
    } finally {
      release(caller)
    }
  }

  const counts = (): ScanCounts => ({ running: count - free, waiting: queue.length(), refused })

  return { take, release, run, counts }
}
