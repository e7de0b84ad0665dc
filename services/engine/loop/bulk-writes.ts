import { setTimeout as delay } from 'node:timers/promises'
import { overloaded } from '../../model/errors.ts'
import type { Unit, UnitOptions } from '../../sql/statement.ts'
import type { BulkCounts, WriteCounts } from '../counts.ts'
import type { Database } from '../database.ts'

interface BulkWritesOptions {
  readonly write: Database['write']
  /** Returns how many units are not settled, of all kinds. */
  readonly counts: () => Pick<WriteCounts, 'pending'>
}

/** After a unit that took longer, the next one waits several times as long: 99 % of the other writes then wait less. */
const LONG_MS = 50
const LONG_PAUSE = 4

/** Each waiting unit may use BATCH_LIMIT bytes of memory. */
const MAX_WAITING = 32

/**
 * Creates functions that write large units, one at a time, and count them. While other units are pending, the next large one waits as
 * long as the last one took, or four times as long: large units then get at most half of the writer thread's time. 1,000 creates in one unit take
 * 6 ms, in which single creates wait.
 */
export const createBulkWrites = ({ write, counts: countUnits }: BulkWritesOptions) => {
  /** Resolves when the next unit may begin. */
  let ready = Promise.resolve()
  let waiting = 0
  let refused = 0

  /** Resolves when the next unit may begin after one that began at `start`. */
  const pauseAfter = async (start: number) => {
    const took = performance.now() - start
    if (countUnits().pending > 0) await delay(took > LONG_MS ? LONG_PAUSE * took : took)
  }

  /** Returns the results of the unit, and when the next one may begin. */
  const writeWhen = (begin: Promise<void>, unit: Unit, options?: UnitOptions) => {
    let start = 0
    const written = begin.then(() => {
      waiting -= 1
      start = performance.now()
      return write(unit, options)
    })
    const next = () => pauseAfter(start)
    return { written, ready: written.then(next, next) }
  }

  /** @throws OVERLOADED if too many units wait, and what `write` throws */
  const writeBulk = async (unit: Unit, options?: UnitOptions) => {
    if (waiting >= MAX_WAITING) {
      refused += 1
      throw overloaded('Too many large changes are waiting. Retry the request.', 1)
    }
    waiting += 1
    const next = writeWhen(ready, unit, options)
    ready = next.ready
    return next.written
  }

  return { writeBulk, counts: (): BulkCounts => ({ waiting, refused }) }
}
