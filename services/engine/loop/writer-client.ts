import { Worker } from 'node:worker_threads'
import { DomainError, overloaded } from '../../model/errors.ts'
import type { Unit } from '../../sql/statement.ts'
import type { WriteResult } from '../database.ts'
import { packUnits, unpackOutcomes } from '../shared/message.ts'
import { engineStopped } from '../shared/plain-error.ts'
import { sizeOf } from '../shared/size.ts'
import { writerFile } from '../thread-files.ts'
import type { Outcome } from '../writer/batch.ts'
import type { WriterOptions } from '../writer/boot.ts'
import type { PackedBatch, WriterMessage, WriterRequest } from '../writer/writer.ts'
import { toDomainError } from './sqlite-errors.ts'

/**
 * Units that travel together at most: where more come in one turn, the writer begins with the first while the loop
 * still reads the others. Measured at 32 connections: a third more creates a second than with one parcel a turn.
 */
const LARGEST_PARCEL = 16
/** Units that may wait for the writer before further ones are refused: some 100 ms of work. */
const LONGEST_QUEUE = 4096
/** Characters and bytes of their parameters from which no further unit is taken. */
const LARGEST_QUEUE = 64 * 2 ** 20

interface Pending {
  readonly unit: Unit
  readonly size: number
  readonly resolve: (results: readonly WriteResult[]) => void
  readonly reject: (error: Error) => void
}

interface WriterEvents {
  /** Another program has committed. */
  readonly onExternalCommit: () => void
  /** The thread ended unasked: nothing more can be written, and what was under way is of unknown outcome. */
  readonly onDeath: (cause: Error) => void
}

const sizeOfUnit = (unit: Unit) => {
  let size = 0
  for (const { params } of unit) size += sizeOf(params)
  return size
}

const settle = ({ resolve, reject }: Pending, outcome: Outcome) =>
  'error' in outcome ? reject(toDomainError(outcome.error)) : resolve(outcome)

/** Runs tasks in the order in which they come, each in a turn of its own: other work comes between large results. */
const createTurns = () => {
  const waiting: (() => void)[] = []
  let isTaken = false
  const next = () => {
    isTaken = false
    const task = waiting.shift()
    if (task) take(task)
  }
  const take = (task: () => void) => {
    if (isTaken) return waiting.push(task)
    isTaken = true
    setImmediate(next)
    return task()
  }
  return take
}

const stopped = () => toDomainError(engineStopped)

/** The thread had the unit when it ended: it may have committed, and to try again may be to do it twice. */
const outcomeUnknown = () =>
  new DomainError('OUTCOME_UNKNOWN', 'The database engine ended while it had this change.', {
    hint: 'Read what is stored before you send it again: it may have been carried out.'
  })

/** Starts the writer thread; resolves when the file has passed its checks, rejects with the reason when it has not. */
export const startWriter = async (options: WriterOptions, { onExternalCommit, onDeath }: WriterEvents) => {
  const worker = new Worker(writerFile, { workerData: options })
  const tell = (request: WriterRequest) => worker.postMessage(request)
  /** Units of this turn of the event loop that have not been told. */
  let gathering: Pending[] = []
  /** Units that the thread has, in the order in which it answers. */
  let told: Pending[] = []
  /** Of both. */
  let waitingSize = 0
  let isClosed = false
  let fault: unknown
  const inTurn = createTurns()

  const post = () => {
    if (gathering.length === 0) return
    tell(packUnits(gathering.map(({ unit }) => unit)))
    told = told.concat(gathering)
    gathering = []
  }

  const receive = ({ outcomes, foreign }: PackedBatch) => {
    if (foreign) onExternalCommit()
    const settled = unpackOutcomes(outcomes)
    const answered = told
    told = answered.slice(settled.length)
    for (const [index, outcome] of settled.entries()) {
      const pending = answered[index] as Pending
      waitingSize -= pending.size
      settle(pending, outcome)
    }
  }

  const failAll = () => {
    for (const { reject } of told) reject(outcomeUnknown())
    for (const { reject } of gathering) reject(stopped())
    told = []
    gathering = []
  }

  await new Promise<void>((resolve, reject) => {
    worker.on('message', (message: WriterMessage) => {
      if ('ready' in message) return resolve()
      if ('refused' in message) return reject(new Error(message.refused.message))
      return inTurn(() => receive(message.batch))
    })
    worker.on('error', (error) => {
      fault = error
      reject(error)
    })
  })

  const ended = new Promise<void>((resolve) => {
    const end = () => {
      const isUnasked = !isClosed
      isClosed = true
      failAll()
      resolve()
      if (isUnasked) onDeath(new Error('The writer thread has ended.', { cause: fault }))
    }
    worker.once('exit', () => inTurn(end))
  })

  const write = (unit: Unit) =>
    new Promise<readonly WriteResult[]>((resolve, reject) => {
      if (isClosed) return reject(stopped())
      if (told.length + gathering.length >= LONGEST_QUEUE || waitingSize >= LARGEST_QUEUE) {
        return reject(overloaded('More writes are waiting than can be taken. Try again.', 1))
      }
      const size = sizeOfUnit(unit)
      waitingSize += size
      const waiting = gathering.push({ unit, size, resolve, reject })
      if (waiting === 1) setImmediate(post)
      if (waiting === LARGEST_PARCEL) post()
    })

  /** Settles with the last unit that was taken; there may be more of them than the queue takes. */
  const drained = () =>
    new Promise<void>((resolve) => {
      gathering.push({ unit: [], size: 0, resolve: () => resolve(), reject: () => resolve() })
      setImmediate(post)
    })

  /** Refuses further units, lets those under way finish, and ends the thread. */
  const close = async () => {
    if (!isClosed) {
      isClosed = true
      await drained()
      tell('close')
    }
    await ended
  }

  return { write, close }
}
