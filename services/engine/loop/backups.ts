import { Worker } from 'node:worker_threads'
import type { BackupMessage, BackupProgress, BackupTask, BackupThreadData } from '../backup/protocol.ts'
import { engineStopped } from '../shared/plain-error.ts'
import { backupFile } from '../thread-files.ts'
import { toDomainError } from './sqlite-errors.ts'

/** Makes and checks backups, each in a thread of its own. `servedFile`: its path. */
export const createBackups = (servedFile: string) => {
  const stop = new Int32Array(new SharedArrayBuffer(4))
  const running = new Set<Promise<unknown>>()

  const runThread = (task: BackupTask, onProgress: (progress: BackupProgress) => void) =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(backupFile, { workerData: { task, stop } satisfies BackupThreadData })
      let failure: Error | null = toDomainError(engineStopped)
      worker.on('message', (message: BackupMessage) => {
        if ('progress' in message) onProgress(message.progress)
        else failure = 'error' in message ? toDomainError(message.error) : null
      })
      worker.on('error', reject)
      // Not before: the thread could still use the file.
      worker.on('exit', () => (failure ? reject(failure) : resolve()))
    })

  const run = async (task: BackupTask, onProgress: (progress: BackupProgress) => void) => {
    if (Atomics.load(stop, 0) !== 0) throw toDomainError(engineStopped)
    const thread = runThread(task, onProgress)
    running.add(thread)
    try {
      await thread
    } finally {
      running.delete(thread)
    }
  }

  return {
    copy: (target: string, onProgress: (progress: BackupProgress) => void) =>
      run({ source: servedFile, target }, onProgress),
    check: (uploaded: string) => run({ uploaded }, () => {}),
    /** Stops the copies. They fail. */
    close: async () => {
      Atomics.store(stop, 0, 1)
      Atomics.notify(stop, 0)
      await Promise.allSettled(running)
    }
  }
}
