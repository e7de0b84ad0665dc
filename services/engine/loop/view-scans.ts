import { disconnected, overloaded } from '../../model/errors.ts'
import type { Row } from '../../model/sql-value.ts'
import type { Statement, Unit, UnitOptions } from '../../sql/statement.ts'
import type { Database, HeldReader, OnTime, ScanCaller } from '../database.ts'
import { SCAN_LIMIT_MS, type ScanRequest } from '../reader/scan.ts'
import type { Trial, TrialSource } from '../reader/trial.ts'
import { engineStopped, scanAborted } from '../shared/plain-error.ts'
import { collectedKeys, collectKeys } from './collected-keys.ts'
import { createSlots, RETRY_AFTER_SECONDS } from './slots.ts'
import { toDomainError, toViewError } from './sqlite-errors.ts'
import { startViewProcess, type ViewProcess, type ViewProcessOptions } from './view-process.ts'

/** One export may hold a process. Two remain for all other statements. */
const MAX_PROCESSES = 3
const IDLE_MS = 60_000

type Options = Pick<ViewProcessOptions, 'file' | 'cacheSize'> &
  Partial<ViewProcessOptions> & {
    /** Reads the schema for trials and descriptions. Absent: they read that of the file. */
    readonly readSource?: () => Promise<TrialSource>
  }

/** Runs statements on SQL views in processes of their own. A process starts with the first statement. */
export const createViewScans = ({ readSource, ...options }: Options) => {
  // One process stays free for other callers, because the views of one caller may never end.
  const slots = createSlots(MAX_PROCESSES, MAX_PROCESSES - 1)
  const processes = new Set<ViewProcess>()
  const free = new Set<ViewProcess>()
  let isStopped = false
  let isHeld = false
  let describing: Promise<unknown> = Promise.resolve()

  const start = () => {
    const started = startViewProcess({ limit: SCAN_LIMIT_MS, idle: IDLE_MS, ...options })
    processes.add(started)
    started.ended.then(() => {
      processes.delete(started)
      free.delete(started)
    })
    return started
  }

  const takeProcess = () => {
    if (isStopped) throw toViewError(engineStopped)
    // An idle process may have disconnected before its end.
    const process = [...free].find(({ isConnected }) => isConnected()) ?? start()
    free.delete(process)
    return process
  }

  const runIn = async (process: ViewProcess, request: ScanRequest): Promise<readonly Row[]> => {
    const outcome = await process.run(request)
    if ('error' in outcome) throw toViewError(outcome.error)
    return outcome.rows
  }

  /** Runs a statement. Kills the process if the client disconnects: SQLite in it cannot be interrupted from outside. */
  const runFor = async ({ clientSignal }: ScanCaller, process: ViewProcess, request: ScanRequest) => {
    const signal = clientSignal?.()
    if (signal?.aborted) throw disconnected()
    const abort = () => process.kill(scanAborted)
    signal?.addEventListener('abort', abort)
    try {
      return await runIn(process, request)
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  const inFree = async <T>(run: (process: ViewProcess) => Promise<T>): Promise<T> => {
    const process = takeProcess()
    try {
      return await run(process)
    } finally {
      if (processes.has(process)) {
        free.add(process)
        process.startIdleTimer()
      }
    }
  }

  const scan = (statement: Statement, caller: ScanCaller, onTime?: OnTime): Promise<readonly Row[]> =>
    slots.run(caller, () => inFree((process) => runFor(caller, process, statement)), onTime)

  /** Runs in a process that can be killed, because a trial compiles all views of the file, which can run without an end. */
  const tryChange = (unit: Unit, caller: ScanCaller, options?: UnitOptions): Promise<Trial> =>
    slots.run(caller, async () => {
      const source = await readSource?.()
      const outcome = await inFree((process) => process.tryChange({ trial: unit, options, source }))
      if ('error' in outcome) throw toDomainError(outcome.error)
      return outcome.trial
    })

  /** Descriptions do not wait for scans, which may take long. They run one at a time, in one more process if none is free. */
  const describe = async (view: string, caller: ScanCaller): Promise<Row> => {
    await caller.confirm()
    const described = describing.then(async () => {
      const declared = (await readSource?.())?.rows
      return inFree((process) => runIn(process, { sql: '', params: [], view, declared }))
    })
    describing = described.catch(() => {})
    const [row] = await described
    await caller.confirm()
    return row as Row
  }

  const readerOf = (process: ViewProcess, caller: ScanCaller): HeldReader => {
    const scanHeld = (statement: Statement) => runFor(caller, process, statement)
    return {
      scan: scanHeld,
      scanChunk: async (statement) => (await scanHeld(statement))[0],
      collect: (keys, keyCount) => collectKeys(scanHeld, keys, keyCount),
      collected: collectedKeys,
      /** Ends the process, and its TEMP table with it. */
      release: async () => {
        isHeld = false
        await process.kill(engineStopped)
        slots.release(caller)
      }
    }
  }

  const takeHeld = (caller: ScanCaller) => {
    try {
      return takeProcess()
    } catch (error) {
      slots.release(caller)
      throw error
    }
  }

  const holdReader = async (caller: ScanCaller): Promise<HeldReader> => {
    if (isHeld) {
      throw overloaded('An export of a view is running. Try again when it has ended.', RETRY_AFTER_SECONDS)
    }
    isHeld = true
    try {
      await slots.take(caller)
      return readerOf(takeHeld(caller), caller)
    } catch (error) {
      isHeld = false
      throw error
    }
  }

  const close = async () => {
    isStopped = true
    await Promise.all([...processes].map((process) => process.kill(engineStopped)))
  }

  const counters = { counts: slots.counts, countProcesses: () => processes.size }

  return { scan, describe, holdReader, tryChange, close, ...counters } satisfies Database['viewScans'] &
    Pick<Database, 'tryChange'> & { close(): Promise<void> }
}
