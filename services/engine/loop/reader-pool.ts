import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import { overloaded } from '../../model/errors.ts'
import type { Row } from '../../model/sql-value.ts'
import type { ScanCaller as Caller, HeldReader, Scan } from '../database.ts'
import type { ReaderOptions, ScanOutcome } from '../reader/scan.ts'
import { createFairQueue } from '../shared/fair-queue.ts'
import { engineStopped, toPlainError } from '../shared/plain-error.ts'
import { readerFile } from '../thread-files.ts'
import { COLLECTED_KEYS, collectKeys } from './collected-keys.ts'
import { toReadError } from './sqlite-errors.ts'

const MOST_HELD = 2
/** MiB; the texts that statements make are garbage at once, and would fill what there is. */
const YOUNG_GENERATION_SIZE = 3
const LONGEST_QUEUE = 256
const RETRY_AFTER_SECONDS = 5

/** What waits for a thread to be idle. */
interface Waiter {
  start(): void
  refuse(): void
}

const filename = fileURLToPath(readerFile)

/** Reader threads: they isolate unbounded work from the event loop, and start with the first of it. */
export const createReaderPool = (options: Omit<ReaderOptions, 'stop'>) => {
  const stop = new Int32Array(new SharedArrayBuffer(4))
  const held = new Set<Promise<Piscina>>()
  let shared: Promise<Piscina> | undefined

  const threads = Math.max(2, availableParallelism())
  let idleThreads = threads
  const waiting = createFairQueue<Waiter>(LONGEST_QUEUE)

  const start = async (maxThreads: number) => {
    const { Piscina } = await import('piscina')
    return new Piscina({
      filename,
      workerData: { ...options, stop } satisfies ReaderOptions,
      minThreads: 0,
      maxThreads,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_SIZE },
      idleTimeout: Number.POSITIVE_INFINITY
    })
  }

  const isStopped = () => Atomics.load(stop, 0) === 1

  /** Ending a pool fails what it was given with an error of its own. */
  const explain = (error: unknown) => (isStopped() ? engineStopped : toPlainError(error))

  const scanIn = async (starting: Promise<Piscina>, statement: Scan): Promise<readonly Row[]> => {
    const pool = await starting
    // A pool that is closed would start another thread.
    if (isStopped()) throw toReadError(engineStopped)
    const outcome: ScanOutcome = await pool.run(statement).catch((error) => ({ error: explain(error) }))
    if ('error' in outcome) throw toReadError(outcome.error)
    return outcome.rows
  }

  const passOn = () => {
    const next = waiting.take()
    if (next) next.start()
    else idleThreads += 1
  }

  const threadFor = (caller: Caller | undefined) =>
    new Promise<void>((start, reject) => {
      const refuse = () =>
        reject(overloaded('More searches are waiting than can be taken. Try again.', RETRY_AFTER_SECONDS))
      waiting.add(`${caller?.kind} ${caller?.id}`, { start, refuse })?.refuse()
    })

  /**
   * No more than the threads have in hand goes to Piscina. It takes answers, and hands over what waits, in one go for
   * as long as there are any: 64 pages of 5 MB held up the event loop for 2 s, and do for 0.1 s with a turn after
   * each.
   */
  const scan = async (statement: Scan, caller?: Caller): Promise<readonly Row[]> => {
    if (idleThreads > 0) idleThreads -= 1
    else await threadFor(caller)
    try {
      await caller?.confirm()
      shared ??= start(threads)
      const rows = await scanIn(shared, statement)
      await caller?.confirm()
      return rows
    } finally {
      setImmediate(passOn)
    }
  }

  const end = async (starting: Promise<Piscina>) => {
    const pool = await starting
    await pool.close({ force: true })
  }

  const hold = (): HeldReader => {
    if (held.size >= MOST_HELD)
      throw overloaded('Two sorted or filtered exports are running. Try again when one has ended.', RETRY_AFTER_SECONDS)
    const pool = start(1)
    held.add(pool)
    const release = async () => {
      held.delete(pool)
      await end(pool)
    }
    const scan = (statement: Scan) => scanIn(pool, statement)
    return {
      scan,
      collect: (keys, keyCount) => collectKeys(scan, keys, keyCount),
      collected: COLLECTED_KEYS,
      release
    }
  }

  /** Stops whatever runs: ending a thread would otherwise wait for its statement. */
  const close = async () => {
    Atomics.store(stop, 0, 1)
    await Promise.all([...(shared ? [shared] : []), ...held].map(end))
  }

  return { scan, hold, close }
}
