import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { createGarbageCount } from '../shared/garbage.ts'
import {
  type Attachment,
  type PackedList,
  packOutcomes,
  unpackUnits,
  type WriterMessage,
  type WriterRequest
} from '../shared/message.ts'
import { toPlainError } from '../shared/plain-error.ts'
import { createUnreadText } from '../shared/unread-text.ts'
import { createAttachments } from './attachments.ts'
import { type BatchResult, createBatchRunner } from './batch.ts'
import { createLock } from './lock.ts'
import { openWriter, UpgradeState, type WriterOptions, type WriterThreadData } from './open-writer.ts'
import { createServedFileCheck } from './served-file.ts'

const IDLE_CHECK_MS = 1000

const port = parentPort as NonNullable<typeof parentPort>
const post = (message: WriterMessage) => port.postMessage(message)

/** Returns the requests that have already arrived, without another tick of this thread's event loop. */
const receiveWaiting = () => {
  const requests: WriterRequest[] = []
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) requests.push(next.message)
  return requests
}

const isAttachment = (request: WriterRequest): request is { readonly attachment: Attachment } =>
  typeof request === 'object' && 'attachment' in request

const isPacked = (request: WriterRequest): request is PackedList => request !== 'close' && !isAttachment(request)

/** Blocks the thread until the event loop has made a backup. @throws if it could not */
const waitForBackup = (upgrade: SharedArrayBuffer) => (version: number) => {
  const state = new Int32Array(upgrade)
  post({ upgradeFrom: version })
  Atomics.wait(state, 0, UpgradeState.waiting)
  if (Atomics.load(state, 0) === UpgradeState.refused) throw new Error('The backup before the upgrade has failed.')
}

/** Opens the file, and locks out every other Rowhouse before the first write. A refused file gets no lock file. */
const openLocked = (options: WriterOptions, beforeUpgrade: (version: number) => void) => {
  const lock = createLock(options.file)
  try {
    if (lock.exists()) lock.take()
    return { connection: openWriter(options, { beforeWrite: lock.take, beforeUpgrade }), release: lock.release }
  } catch (error) {
    lock.release()
    throw error
  }
}

const serve = () => {
  const { unread, upgrade, ...options } = workerData as WriterThreadData
  const { connection, release } = openLocked(options, waitForBackup(upgrade))
  const attach = createAttachments(connection, options.cacheSize)
  const { runBatch, sawExternalCommit } = createBatchRunner(connection, createUnreadText(unread))
  const assertServed = createServedFileCheck(connection)

  const countGarbage = createGarbageCount()

  const postResult = (result: BatchResult) => {
    post({ batch: { ...result, outcomes: packOutcomes(result.outcomes) } })
    countGarbage(result.largeSize)
  }

  // Each batch has these checks, too.
  const idleCheck = setInterval(() => {
    assertServed()
    if (sawExternalCommit()) postResult({ outcomes: [], largeSize: 0, commitMs: 0, sawExternalCommit: true })
  }, IDLE_CHECK_MS)

  const close = () => {
    clearInterval(idleCheck)
    connection.close()
    release()
    port.close()
  }

  // The units that arrived during the last commit are the next batch.
  port.on('message', (first: WriterRequest) => {
    const requests = [first, ...receiveWaiting()]
    for (const request of requests) if (isAttachment(request)) post({ attached: attach(request.attachment) })
    const messages = requests.filter(isPacked)
    for (const result of runBatch(messages.flatMap(unpackUnits))) {
      // An error ends the thread, and the units of this batch get OUTCOME_UNKNOWN.
      assertServed()
      postResult(result)
    }
    if (requests.includes('close')) close()
  })
  post({ ready: true })
}

try {
  serve()
} catch (error) {
  post({ failure: toPlainError(error) })
  port.close()
}
