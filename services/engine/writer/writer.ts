import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { type Parcel, packOutcomes, unpackUnits } from '../shared/message.ts'
import { type PlainError, toPlainError } from '../shared/plain-error.ts'
import { type BatchResult, createBatchRunner } from './batch.ts'
import { openWriter, type WriterOptions } from './boot.ts'

/** A `BatchResult` as it crosses. */
export interface PackedBatch {
  readonly outcomes: Parcel
  readonly foreign: boolean
}

/** What the writer thread says. */
export type WriterMessage =
  | { readonly ready: true }
  | { readonly refused: PlainError }
  | { readonly batch: PackedBatch }

/** What it is told: units to write, or to close. */
export type WriterRequest = Parcel | 'close'

const IDLE_CHECK_MS = 1000

const port = parentPort as NonNullable<typeof parentPort>
const say = (message: WriterMessage) => port.postMessage(message)

/** What has been told since, without another turn of this thread's event loop. */
const waitingRequests = () => {
  const requests: WriterRequest[] = []
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) requests.push(next.message)
  return requests
}

const serve = () => {
  const connection = openWriter(workerData as WriterOptions)
  const { runBatch, sawExternalCommit } = createBatchRunner(connection)

  const tell = ({ outcomes, foreign }: BatchResult) => say({ batch: { outcomes: packOutcomes(outcomes), foreign } })

  // Batches look for commits of other programs themselves; this is for the time between them.
  const idleCheck = setInterval(() => {
    if (sawExternalCommit()) tell({ outcomes: [], foreign: true })
  }, IDLE_CHECK_MS)

  const close = () => {
    clearInterval(idleCheck)
    connection.close()
    port.close()
  }

  // Whatever arrived during the last commit is the next batch.
  port.on('message', (first: WriterRequest) => {
    const requests = [first, ...waitingRequests()]
    const parcels = requests.filter((request) => request !== 'close')
    for (const result of runBatch(parcels.flatMap(unpackUnits))) tell(result)
    if (parcels.length < requests.length) close()
  })
  say({ ready: true })
}

try {
  serve()
} catch (error) {
  say({ refused: toPlainError(error) })
  port.close()
}
