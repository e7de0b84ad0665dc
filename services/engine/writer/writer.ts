import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { identifier, textLiteral } from '../../sql/identifiers.ts'
import type { Connection } from '../shared/connection.ts'
import {
  type Attachment,
  packOutcomes,
  unpackUnits,
  type WriterMessage,
  type WriterRequest
} from '../shared/message.ts'
import { type PlainError, toPlainError } from '../shared/plain-error.ts'
import { type BatchResult, createBatchRunner } from './batch.ts'
import { createLock } from './lock.ts'
import { openWriter, type WriterOptions } from './open-writer.ts'

const IDLE_CHECK_MS = 1000
/** MiB of database pages. Staged records are read once, in their order. */
const ATTACHED_CACHE_SIZE = 1

const port = parentPort as NonNullable<typeof parentPort>
const post = (message: WriterMessage) => port.postMessage(message)

/** Returns the requests that have already arrived, without another tick of this thread's event loop. */
const receiveWaiting = () => {
  const requests: WriterRequest[] = []
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) requests.push(next.message)
  return requests
}

/** Opens the file, and locks out every other Rowhouse before the first write. A refused file gets no lock file. */
const openLocked = (options: WriterOptions) => {
  const lock = createLock(options.file)
  try {
    if (lock.exists()) lock.take()
    return { connection: openWriter(options, lock.take), release: lock.release }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Not possible inside a transaction, so it is no unit. Returns the error, or null. */
const attach = ({ raw }: Connection, { schema, file }: Attachment): PlainError | null => {
  try {
    if (file === null) raw.exec(`DETACH ${identifier(schema)}`)
    else
      raw.exec(`ATTACH ${textLiteral(file)} AS ${identifier(schema)};
        PRAGMA ${identifier(schema)}.cache_size = ${-1024 * ATTACHED_CACHE_SIZE}`)
    return null
  } catch (error) {
    return toPlainError(error)
  }
}

const serve = () => {
  const { connection, release } = openLocked(workerData as WriterOptions)
  const { runBatch, sawExternalCommit } = createBatchRunner(connection)

  const postResult = (result: BatchResult) => post({ batch: { ...result, outcomes: packOutcomes(result.outcomes) } })

  // Each batch checks for external commits. This check is for the time between batches.
  const idleCheck = setInterval(() => {
    if (sawExternalCommit()) postResult({ outcomes: [], sawExternalCommit: true })
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
    for (const request of requests)
      if (typeof request === 'object' && 'attachment' in request)
        post({ attached: attach(connection, request.attachment) })
    const messages = requests.filter((request) => typeof request === 'object' && 'items' in request)
    for (const result of runBatch(messages.flatMap(unpackUnits))) postResult(result)
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
