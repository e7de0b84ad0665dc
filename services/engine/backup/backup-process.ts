import { equal } from 'node:assert/strict'
import type { BackupProgress } from '../database.ts'
import { toPlainError } from '../shared/plain-error.ts'
import { endWithService, sendToService } from '../shared/service-process.ts'
import { checkBackup } from './check-backup.ts'
import { copyDatabase } from './copy.ts'
import type { BackupMessage, BackupRequest, BackupTask } from './protocol.ts'
import { restoreBackup, stageBackup } from './restore.ts'

const servicePid = Number(process.argv[2])
const send = (message: BackupMessage) => sendToService(message)
const onProgress = (progress: BackupProgress) => send({ progress })
let isReleased = false

/** Throws if the service has ended: another one may serve the file. */
const assertServed = () => equal(process.ppid, servicePid, 'The service has ended.')

const run = async (task: BackupTask) => {
  if (task.kind === 'check') return checkBackup(task.uploaded)
  if (task.kind === 'copy') return copyDatabase(task, onProgress)
  if (task.kind === 'stage') return stageBackup(task)
  const onLocked = () => send({ isLocked: true })
  return restoreBackup(task, { assertServed, onLocked, isReleased: () => isReleased, onProgress })
}

const runAndReport = async (task: BackupTask) => {
  try {
    await run(task)
    send({ isDone: true })
  } catch (error) {
    send({ error: toPlainError(error) })
  }
}

process.on('message', (request: BackupRequest) => {
  if (request === 'release') isReleased = true
  else runAndReport(request)
})
await endWithService(servicePid)
