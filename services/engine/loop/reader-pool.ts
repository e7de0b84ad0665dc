import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import type { Row } from '../../model/sql-value.ts'
import type { Statement } from '../../sql/statement.ts'
import type { HeldReader, OnTime, ScanCaller } from '../database.ts'
import type { ReaderOptions, ScanOutcome, ScanRequest } from '../reader/scan.ts'
import { engineStopped, toPlainError } from '../shared/plain-error.ts'
import { readerFile } from '../thread-files.ts'
import { withAbortFlag } from './abort-flag.ts'
import { createChunkScan } from './chunk-scan.ts'
import { collectedKeys, collectKeys } from './collected-keys.ts'
import { createHolders } from './holders.ts'
import { createSlots } from './slots.ts'
import { toReadError } from './sqlite-errors.ts'

/** One caller can use all but one, so that the scans of others never wait for those of one caller alone. */
export const READER_THREADS = Math.max(2, availableParallelism()) + 1
/** MiB. The texts of a statement are garbage soon after, and would fill a larger young generation. */
const YOUNG_GENERATION_SIZE = 3

const filename = fileURLToPath(readerFile)

/** Reader threads isolate unbounded work from the event loop. They start with the first scan. */
export const createReaderPool = (options: Omit<ReaderOptions, 'stop'>) => {
  const stop = new Int32Array(new SharedArrayBuffer(4))
  const holders = createHolders()
  const held = new Set<Promise<Piscina>>()
  let shared: Promise<Piscina> | undefined

  const slots = createSlots(READER_THREADS, READER_THREADS - 1)

  const startPool = async (maxThreads: number) => {
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

  /** Piscina fails pending tasks with an error of its own when it closes. */
  const explain = (error: unknown) => (isStopped() ? engineStopped : toPlainError(error))

  const scanIn = async (starting: Promise<Piscina>, request: ScanRequest): Promise<readonly Row[]> => {
    const pool = await starting
    // A closed pool would start another thread.
    if (isStopped()) throw toReadError(engineStopped)
    const outcome: ScanOutcome = await pool.run(request).catch((error) => ({ error: explain(error) }))
    if ('error' in outcome) throw toReadError(outcome.error)
    return outcome.rows
  }

  /**
   * Piscina gets no more scans than there are threads, and each thread gets its next scan in a later tick. Piscina takes
   * results and passes on queued tasks in one tick as long as there are any: 64 pages of 5 MB blocked the event loop
   * for 2 s, and block it for 0.1 s this way.
   */
  const scan = (request: ScanRequest, caller: ScanCaller, onTime?: OnTime): Promise<readonly Row[]> => {
    const run = () => {
      shared ??= startPool(READER_THREADS)
      const pool = shared
      return withAbortFlag(caller, (abortFlag) => scanIn(pool, { ...request, abortFlag }))
    }
    return slots.run(caller, run, onTime)
  }

  const chunkScan = (caller: ScanCaller) => createChunkScan((request) => scan(request, caller))

  const end = async (starting: Promise<Piscina>) => {
    const pool = await starting
    await pool.close({ force: true })
  }

  const hold = (caller: ScanCaller): HeldReader => {
    const free = holders.hold(caller)
    const pool = startPool(1)
    held.add(pool)
    const scanHeld = (request: ScanRequest) =>
      withAbortFlag(caller, (abortFlag) => scanIn(pool, { ...request, abortFlag }))
    return {
      scan: scanHeld,
      scanChunk: createChunkScan(scanHeld),
      collect: (keys: Statement, keyCount: number) => collectKeys(scanHeld, keys, keyCount),
      collected: collectedKeys,
      release: async () => {
        free()
        held.delete(pool)
        await end(pool)
      }
    }
  }

  /** Stops running scans first: the end of a thread waits for its statement. */
  const close = async () => {
    Atomics.store(stop, 0, 1)
    await Promise.all([...(shared ? [shared] : []), ...held].map(end))
  }

  return { scan, chunkScan, hold, close, counts: slots.counts, countHeld: holders.count }
}
