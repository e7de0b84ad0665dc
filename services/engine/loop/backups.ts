import { rm } from 'node:fs/promises'
import type { BackupMessage, BackupRequest, BackupTask } from '../backup/protocol.ts'
import type { BackupProgress, RestoreOptions } from '../database.ts'
import { engineStopped, type PlainError } from '../shared/plain-error.ts'
import { backupProcessFile } from '../thread-files.ts'
import { startChildProcess } from './child-process.ts'
import { toDomainError } from './sqlite-errors.ts'
import type { StagingFiles } from './staging-files.ts'

interface BackupsOptions {
  /** Its path. */
  readonly servedFile: string
  readonly stagingFiles: StagingFiles
  /** Pauses all writes. Returns the function that ends the pause. */
  readonly pauseWrites: () => Promise<() => void>
}

interface TaskEvents {
  readonly onProgress: (progress: BackupProgress) => void
  /** The process waits until this resolves. If it rejects, the task fails with its error. */
  readonly onLocked: () => Promise<unknown>
}

const ignore = async () => {}
const NO_EVENTS: TaskEvents = { onProgress: ignore, onLocked: ignore }

interface RunningTask {
  readonly stop: () => void
  readonly ended: Promise<unknown>
}

const processEnded: PlainError = {
  code: 'PROCESS_ENDED',
  message: 'The process of the backup has ended. Try again.'
}

/** Runs a task in a process of its own, which `stop` kills: SQLite then rolls an open transaction back. */
const runProcess = (task: BackupTask, { onProgress, onLocked }: TaskEvents) => {
  const child = startChildProcess(backupProcessFile)
  // If the process has ended, `ended` reports it.
  const send = (request: BackupRequest) => child.send(request, ignore)
  let failure: Error | null = toDomainError(processEnded)
  let locked: Promise<unknown> = Promise.resolve()

  const fail = (error: Error) => {
    failure = error
    child.kill('SIGKILL')
  }
  const receive = (message: BackupMessage) => {
    if ('progress' in message) return onProgress(message.progress)
    if ('isLocked' in message) {
      locked = onLocked().then(() => send('release'), fail)
      return
    }
    failure = 'error' in message ? toDomainError(message.error) : null
    child.disconnect()
  }

  const ended = new Promise<void>((resolve, reject) => {
    child.on('message', receive)
    // A process that cannot start has no exit.
    child.on('error', reject)
    // Not before: the process could still use the file, and `onLocked` its result.
    child.once('exit', () => locked.then(() => (failure ? reject(failure) : resolve())))
  })
  send(task)
  return { ended, stop: () => fail(toDomainError(engineStopped)) }
}

/** Makes, checks and restores backups. */
export const createBackups = ({ servedFile, stagingFiles, pauseWrites }: BackupsOptions) => {
  const running = new Set<RunningTask>()
  let isClosed = false

  const run = async (task: BackupTask, events: Partial<TaskEvents> = {}) => {
    if (isClosed) throw toDomainError(engineStopped)
    const started = runProcess(task, { ...NO_EVENTS, ...events })
    running.add(started)
    try {
      await started.ended
    } finally {
      running.delete(started)
    }
  }

  const restore = async (backup: string, options: RestoreOptions) => {
    const { includesAccess, audited, beforePause, onLocked, onProgress, onRestored } = options
    const staged = stagingFiles.newPath()
    try {
      await run({ kind: 'stage', backup, staged, served: servedFile })
      beforePause()
      const resume = await pauseWrites()
      try {
        await run({ kind: 'restore', staged, served: servedFile, includesAccess, audited }, { onLocked, onProgress })
      } finally {
        // Also after a failure: it may have come after the commit.
        await onRestored().finally(resume)
      }
    } finally {
      for (const end of ['', '-journal']) await rm(`${staged}${end}`, { force: true })
    }
  }

  return {
    copy: (target: string, onProgress: (progress: BackupProgress) => void, isUrgent = false) =>
      run({ kind: 'copy', source: servedFile, target, isUrgent }, { onProgress }),
    check: (uploaded: string) => run({ kind: 'check', uploaded }),
    restore,
    /** Stops the tasks. They fail. */
    close: async () => {
      isClosed = true
      for (const { stop } of running) stop()
      await Promise.allSettled([...running].map(({ ended }) => ended))
    }
  }
}
