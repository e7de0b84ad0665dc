import { parentPort, workerData } from 'node:worker_threads'
import { type BatchResult, createBatchRunner, type PackedBatch } from './batch.ts'
import { openWriter } from './boot.ts'
import type { ConnectionOptions } from './connection.ts'
import { type PlainError, toPlainError } from './sqlite-errors.ts'

/** What the writer thread says. */
export type WriterMessage =
  | { readonly ready: true }
  | { readonly refused: PlainError }
  | { readonly batch: BatchResult }
  | { readonly foreign: true }

/** What it is told: a batch, or to close. */
export type WriterRequest = PackedBatch | 'close'

const IDLE_CHECK_MS = 1000

const port = parentPort as NonNullable<typeof parentPort>
const say = (message: WriterMessage) => port.postMessage(message)

const serve = () => {
  const connection = openWriter(workerData as ConnectionOptions)
  const { runBatch, sawForeignCommit } = createBatchRunner(connection)

  // Batches look for commits of other programs themselves; this is for the time between them.
  const idleCheck = setInterval(() => {
    if (sawForeignCommit()) say({ foreign: true })
  }, IDLE_CHECK_MS)

  port.on('message', (request: WriterRequest) => {
    if (request !== 'close') return say({ batch: runBatch(request) })
    clearInterval(idleCheck)
    connection.close()
    port.close()
  })
  say({ ready: true })
}

try {
  serve()
} catch (error) {
  say({ refused: toPlainError(error) })
  port.close()
}
