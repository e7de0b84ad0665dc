import type { ChildProcess } from 'node:child_process'
import type { ScanOutcome, ScanRequest } from '../reader/scan.ts'
import type { TrialOutcome, TrialRequest } from '../reader/trial.ts'
import type { PlainError } from '../shared/plain-error.ts'
import { viewProcessFile } from '../thread-files.ts'
import { startChildProcess } from './child-process.ts'

export interface ViewProcessOptions {
  readonly file: string
  /** MiB of database pages. */
  readonly cacheSize: number
  /** Milliseconds after which a statement is stopped. */
  readonly limit: number
  /** Milliseconds until an idle process is stopped. */
  readonly idle: number
}

const processEnded: PlainError = {
  code: 'PROCESS_ENDED',
  message: 'The process that computes views has ended. Try again.'
}

const START_LIMIT_MS = 30_000

const timeout: PlainError = {
  code: 'SCAN_TIMEOUT',
  message: 'The view took longer than 30 s and was stopped. Correct it, or add indexes that its SELECT can use.'
}

/** SQLite resolves the names of nested views again for each use. A reload of the registry waits for it. */
const DESCRIPTION_LIMIT_MS = 5000

const descriptionTimeout: PlainError = {
  code: 'SCAN_TIMEOUT',
  message: 'SQLite took longer than 5 s to prepare the view, which was stopped. Use fewer nested views.'
}

const nextMessage = (child: ChildProcess) => new Promise<unknown>((resolve) => child.once('message', resolve))

/** Starts a process that runs statements on SQL views, one at a time: docs/decisions/0028-views.md. */
export const startViewProcess = ({ file, cacheSize, limit, idle }: ViewProcessOptions) => {
  const child = startChildProcess(viewProcessFile, [file, String(cacheSize)])
  let cause = processEnded
  let idleTimer: NodeJS.Timeout | undefined

  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    // A process that cannot start has no exit.
    child.on('error', () => resolve())
  })
  const failed = ended.then(() => ({ error: cause }))
  const startTimer = setTimeout(() => kill(timeout), START_LIMIT_MS).unref()
  const ready = Promise.race([nextMessage(child), ended]).finally(() => clearTimeout(startTimer))

  /** Ends the process at once. Its statement fails with the error. */
  const kill = (error: PlainError): Promise<void> => {
    cause = error
    child.ref()
    child.kill('SIGKILL')
    return ended
  }

  const send = async <T>(request: ScanRequest | TrialRequest): Promise<T | { readonly error: PlainError }> => {
    const isDescription = 'view' in request && request.view !== undefined
    clearTimeout(idleTimer)
    child.ref()
    child.channel?.ref()
    await ready
    const timer = isDescription
      ? setTimeout(() => kill(descriptionTimeout), Math.min(limit, DESCRIPTION_LIMIT_MS))
      : setTimeout(() => kill(timeout), limit)
    const response = nextMessage(child) as Promise<T>
    child.send(request, () => {})
    const outcome = await Promise.race([response, failed])
    clearTimeout(timer)
    child.unref()
    child.channel?.unref()
    return outcome
  }

  /** Ends the process if no statement is sent to it before the timer fires. */
  const startIdleTimer = () => {
    idleTimer = setTimeout(() => child.disconnect(), idle).unref()
  }

  ended.then(() => clearTimeout(idleTimer))
  return {
    run: (request: ScanRequest): Promise<ScanOutcome> => send<ScanOutcome>(request),
    tryChange: (request: TrialRequest): Promise<TrialOutcome> => send<TrialOutcome>(request),
    startIdleTimer,
    kill,
    ended,
    isConnected: () => child.connected
  }
}

export type ViewProcess = ReturnType<typeof startViewProcess>
