import { Worker } from 'node:worker_threads'
import { DomainError } from '../../model/errors.ts'
import type { Unit, UnitOptions } from '../../sql/statement.ts'
import type { WriteBatch, WriteCounts } from '../counts.ts'
import type { WriteResults } from '../database.ts'
import {
  type Attachment,
  type Outcome,
  type PackedBatch,
  packUnits,
  type UnitWithOptions,
  unpackOutcomes,
  type WriterMessage,
  type WriterRequest
} from '../shared/message.ts'
import { engineStopped, type PlainError } from '../shared/plain-error.ts'
import type { UnreadText } from '../shared/unread-text.ts'
import { writerFile } from '../thread-files.ts'
import { UpgradeState, type WriterOptions, type WriterThreadData } from '../writer/open-writer.ts'
import { hasTooMuchPending, outcomeUnknown, sizeOfUnit, tooManyWrites } from './pending-units.ts'
import { toDomainError } from './sqlite-errors.ts'
import { createTaskSequence } from './task-sequence.ts'

/**
 * Units per message. If one tick has more, the writer starts with the first message while the loop still handles the
 * other requests: at 32 connections a third more creates per second than with one message per tick.
 */
const MAX_UNITS_PER_MESSAGE = 16
interface PendingUnit extends UnitWithOptions {
  readonly size: number
  /** When the unit arrived, by `performance.now()`. */
  readonly arrivedAt: number
  readonly resolve: (results: WriteResults) => void
  readonly reject: (error: Error) => void
}

interface PendingAttachment {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

interface WriterEvents {
  /** The writer is about to migrate tables of this version. If this rejects, the start fails with its error. */
  readonly onUpgrade: (version: number) => Promise<void>
  /** Units were committed, or have failed. */
  readonly onBatch: (batch: WriteBatch) => void
  /** Another program has committed. */
  readonly onExternalCommit: () => void
  /** The thread ended unexpectedly. Later writes fail; the outcome of units in flight is unknown. */
  readonly onDeath: (cause: Error) => void
}

const settle = ({ resolve, reject }: PendingUnit, outcome: Outcome) =>
  'error' in outcome ? reject(toDomainError(outcome.error)) : resolve(outcome)

const stopped = () => toDomainError(engineStopped)

const RESTORE_RETRY_S = 5

const restoreRunning = () =>
  new DomainError('RESTORE_RUNNING', 'A backup is being restored. Nothing can be changed until this is done.', {
    retryAfter: RESTORE_RETRY_S
  })

interface WriterClientOptions extends WriterOptions {
  readonly unread: UnreadText
}

/** Starts the writer thread. Resolves when the checks of the file have passed; rejects with the reason otherwise. */
export const startWriter = async (
  { unread, ...options }: WriterClientOptions,
  { onUpgrade, onBatch, onExternalCommit, onDeath }: WriterEvents
) => {
  const upgrade = new SharedArrayBuffer(4)
  const workerData: WriterThreadData = { ...options, unread: unread.memory, upgrade }
  const worker = new Worker(writerFile, { workerData })
  const post = (request: WriterRequest) => worker.postMessage(request)
  /** Units of this tick that have not been posted. */
  let queued: PendingUnit[] = []
  /** Posted units. Their outcomes arrive in this order. */
  let inFlight: PendingUnit[] = []
  let attachments: PendingAttachment[] = []
  /** The size of the units in `queued` and `inFlight`. */
  let pendingSize = 0
  let accepted = 0
  let refused = 0
  let isClosed = false
  let isPaused = false
  let fault: unknown
  const runInSequence = createTaskSequence()
  /** The error of `onUpgrade`: the start fails with it. */
  let refusal: unknown

  const settleUpgrade = async (version: number) => {
    const state = new Int32Array(upgrade)
    try {
      await onUpgrade(version)
      Atomics.store(state, 0, UpgradeState.allowed)
    } catch (error) {
      // The thread releases its lock, and then reports a failure.
      refusal = error
      Atomics.store(state, 0, UpgradeState.refused)
    }
    Atomics.notify(state, 0)
  }

  const settleAttachment = (error: PlainError | null) => {
    const { resolve, reject } = attachments.shift() as PendingAttachment
    if (error) reject(toDomainError(error))
    else resolve()
  }

  const postQueued = () => {
    if (queued.length === 0) return
    post(packUnits(queued))
    inFlight = inFlight.concat(queued)
    queued = []
  }

  const reportBatch = (units: readonly PendingUnit[], commitMs: number) => {
    const [first] = units
    // The idle check of the writer sends a batch without units.
    if (first) onBatch({ units: units.length, waitMs: performance.now() - first.arrivedAt - commitMs, commitMs })
  }

  const receive = (batch: PackedBatch) => {
    if (batch.sawExternalCommit) onExternalCommit()
    const outcomes = unpackOutcomes(batch.outcomes)
    // The responses count their own texts from now on.
    unread.add(-batch.largeSize)
    const units = inFlight
    inFlight = units.slice(outcomes.length)
    reportBatch(units.slice(0, outcomes.length), batch.commitMs)
    for (const [index, outcome] of outcomes.entries()) {
      const pending = units[index] as PendingUnit
      pendingSize -= pending.size
      settle(pending, outcome)
    }
  }

  const rejectAll = () => {
    for (const { reject } of inFlight) reject(outcomeUnknown())
    for (const { reject } of [...queued, ...attachments]) reject(stopped())
    inFlight = []
    queued = []
    attachments = []
  }

  await new Promise<void>((resolve, reject) => {
    worker.on('message', (message: WriterMessage) => {
      if ('ready' in message) return resolve()
      if ('upgradeFrom' in message) return settleUpgrade(message.upgradeFrom)
      if ('failure' in message)
        return reject(refusal ?? Object.assign(new Error(message.failure.message), { code: message.failure.code }))
      if ('attached' in message) return settleAttachment(message.attached)
      return runInSequence(() => receive(message.batch))
    })
    worker.on('error', (error) => {
      fault = error
      reject(error)
    })
  })

  const ended = new Promise<void>((resolve) => {
    const end = () => {
      const isUnexpected = !isClosed
      isClosed = true
      rejectAll()
      resolve()
      if (isUnexpected) onDeath(new Error('The writer thread has ended.', { cause: fault }))
    }
    worker.once('exit', () => runInSequence(end))
  })

  /** The number of units that are not settled. */
  const countPending = () => inFlight.length + queued.length

  const write = (unit: Unit, options?: UnitOptions) =>
    new Promise<WriteResults>((resolve, reject) => {
      if (isClosed) return reject(stopped())
      if (isPaused) return reject(restoreRunning())
      if (hasTooMuchPending(countPending(), pendingSize)) {
        refused += 1
        return reject(tooManyWrites())
      }
      const size = sizeOfUnit(unit)
      accepted += 1
      pendingSize += size
      const length = queued.push({ unit, options, size, arrivedAt: performance.now(), resolve, reject })
      if (length === 1) setImmediate(postQueued)
      if (length === MAX_UNITS_PER_MESSAGE) postQueued()
    })

  /** Attaches a file as a schema that units can read, or detaches it. */
  const attach = (attachment: Attachment) =>
    new Promise<void>((resolve, reject) => {
      if (isClosed) return reject(stopped())
      attachments.push({ resolve, reject })
      post({ attachment })
    })

  /** Resolves with the outcome of an empty unit behind all pending ones. The limits do not apply to it. */
  const allSettled = () =>
    new Promise<void>((resolve) => {
      queued.push({
        unit: [],
        options: undefined,
        size: 0,
        arrivedAt: performance.now(),
        resolve: () => resolve(),
        reject: () => resolve()
      })
      setImmediate(postQueued)
    })

  /** Refuses new units until the returned function is called. Resolves when the pending ones are settled. */
  const pause = async () => {
    isPaused = true
    await allSettled()
    return () => {
      isPaused = false
    }
  }

  /** Refuses new units, waits for the pending ones, and ends the thread. */
  const close = async () => {
    if (!isClosed) {
      isClosed = true
      await allSettled()
      post('close')
    }
    await ended
  }

  const counts = (): WriteCounts => ({ accepted, pending: countPending(), pendingSize, refused })

  return { write, counts, attach, pause, close }
}
