import { parentPort, workerData } from 'node:worker_threads'
import { toPlainError } from '../shared/plain-error.ts'
import { lowerThreadPriority } from '../shared/thread-priority.ts'
import { checkUpload } from './check-upload.ts'
import { copyDatabase } from './copy.ts'
import type { BackupMessage, BackupThreadData } from './protocol.ts'

const port = parentPort as NonNullable<typeof parentPort>
const { task, stop } = workerData as BackupThreadData

const send = (message: BackupMessage) => port.postMessage(message)

lowerThreadPriority()
try {
  if ('uploaded' in task) checkUpload(task.uploaded)
  else await copyDatabase({ ...task, stop, onProgress: (progress) => send({ progress }) })
  send({ isDone: true })
} catch (error) {
  send({ error: toPlainError(error) })
}
