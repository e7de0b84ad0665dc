import { setTimeout as delay } from 'node:timers/promises'
import { type Caller, identityOf } from '../../model/caller.ts'
import { overloaded } from '../../model/errors.ts'
import type { Unit, UnitOptions } from '../../sql/statement.ts'
import type { BulkCounts, WriteCounts } from '../counts.ts'
import type { Database, WriteResults } from '../database.ts'
import { createFairQueue } from './fair-queue.ts'

interface BulkWritesOptions {
  readonly write: Database['write']
  /** Counts the units of all kinds. */
  readonly counts: () => Pick<WriteCounts, 'accepted' | 'pending'>
}

interface QueuedUnit {
  readonly run: () => Promise<unknown>
  readonly refuse: () => void
}

/**
 * After a longer unit, its caller waits LONG_PAUSE times as long. Another client can send about 100 single writes in this time, so
 * at most 1 % of them wait for such a unit.
 */
const LONG_MS = 50
const LONG_PAUSE = 10
const MAX_PAUSE_MS = 10_000

interface EndedUnit {
  /** Milliseconds. */
  readonly took: number
  /** Whether other units were written, or waited. */
  readonly hadOthers: boolean
}

/** Each waiting unit may use BATCH_LIMIT bytes of memory. */
const MAX_WAITING = 32

const tooManyWaiting = () => overloaded('Too many large changes are waiting. Retry the request.', 1)

/**
 * Creates functions that write large units, one at a time, and count them. The callers are served in rotation. If other units were
 * written at the same time, the next large one waits as long as the last one took: large units then get at most half of the writer thread's time.
 * After one that took long, its caller then waits ten times as long. 1,000 creates in one unit take 6 ms, in which single creates wait.
 */
export const createBulkWrites = ({ write, counts: countUnits }: BulkWritesOptions) => {
  const queue = createFairQueue<QueuedUnit>(MAX_WAITING)
  /** The callers whose last unit took long. */
  const pausing = new Set<string>()
  let isRunning = false
  let refused = 0

  const startNext = () => {
    if (isRunning) return
    const next = queue.take((caller) => !pausing.has(caller))
    if (next) next.run()
  }

  const pauseCaller = async (caller: string, milliseconds: number) => {
    pausing.add(caller)
    await delay(milliseconds, undefined, { ref: false })
    pausing.delete(caller)
    startNext()
  }

  const pauseAfter = async (caller: string, { took, hadOthers }: EndedUnit) => {
    if (hadOthers) {
      if (took > LONG_MS) pauseCaller(caller, Math.min(LONG_PAUSE * took, MAX_PAUSE_MS))
      await delay(took)
    }
    isRunning = false
    startNext()
  }

  const run = async (caller: string, unit: Unit, options?: UnitOptions) => {
    isRunning = true
    const start = performance.now()
    const before = countUnits()
    try {
      return await write(unit, options)
    } finally {
      const { accepted, pending } = countUnits()
      // Those that arrived during the unit may have been settled with it.
      const hadOthers = pending > 0 || before.pending > 0 || accepted > before.accepted + 1
      pauseAfter(caller, { took: performance.now() - start, hadOthers })
    }
  }

  /** @throws OVERLOADED if too many units wait, and what `write` throws */
  const writeBulk = (caller: Pick<Caller, 'kind' | 'id' | 'name'>, unit: Unit, options?: UnitOptions) =>
    new Promise<WriteResults>((resolve, reject) => {
      const name = identityOf(caller)
      const queued: QueuedUnit = {
        run: () => run(name, unit, options).then(resolve, reject),
        refuse: () => {
          refused += 1
          reject(tooManyWaiting())
        }
      }
      queue.add(name, queued)?.refuse()
      startNext()
    })

  return { writeBulk, counts: (): BulkCounts => ({ waiting: queue.length(), refused }) }
}
