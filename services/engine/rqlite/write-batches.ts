import { randomUUID } from 'node:crypto'
import type { Statement, Unit, UnitOptions } from '../../sql/statement.ts'
import type { WriteBatch, WriteCounts } from '../counts.ts'
import { StaleMemory, type WriteResult } from '../database.ts'
import { hasTooMuchPending, outcomeUnknown, sizeOfUnit, tooManyWrites } from '../loop/pending-units.ts'
import { toDomainError } from '../loop/sqlite-errors.ts'
import { engineStopped } from '../shared/plain-error.ts'
import type { BatchSender, Sent } from './batch-sender.ts'
import type { Epoch } from './epoch.ts'
import { toChangeError } from './errors.ts'
import { expectMemory } from './memory-changes.ts'
import { expectState, type KnownState } from './state.ts'
import { type Composed, composeUnit, createChangeEncoder, errorOf, resultsOf, resultsWithoutRows } from './units.ts'

/** Units of a batch. */
const MAX_UNITS = 256
/** Characters and bytes of their parameters. */
const MAX_SIZE = 4 * 2 ** 20
/** After this many reloads, changes of memory are sent without the check, and this service reloads its own change. */
const MAX_CHECKED_RELOADS = 3

interface PendingUnit {
  readonly unit: Unit
  readonly options: UnitOptions | undefined
  readonly size: number
  /** The state of memory when the unit arrived. */
  readonly known: KnownState
  /** When the unit arrived, by `performance.now()`. */
  readonly arrivedAt: number
  readonly resolve: (results: readonly WriteResult[]) => void
  readonly reject: (error: Error) => void
  isSettled: boolean
}

/** Why a batch was not stored. `failed`: the unit that is the cause, if it is known. */
interface Failure {
  readonly failed: PendingUnit | null
  readonly error: Error
}

interface WriteBatchesOptions {
  readonly sender: BatchSender
  readonly readState: () => Promise<KnownState>
  readonly epoch: () => Epoch
  /** Whether a foreign key is checked at COMMIT: one unit could then mask a violation of another one. */
  readonly hasDeferredKeys: () => boolean
  readonly onBatch: (batch: WriteBatch) => void
  /** Called if records may have changed without a result. */
  readonly onExternalCommit: () => void
}

/** Returns the check of the memory that units use. They are in the order of their arrival. */
const checkMemory = (units: readonly PendingUnit[]): readonly Statement[] => {
  const users = units.flatMap(({ known, options }) =>
    options?.usesMemory ? [{ known, used: options.usesMemory }] : []
  )
  const [first] = users
  if (!first) return []
  const distinct = new Map(users.flatMap(({ used }) => used).map((each) => [String(each), each]))
  return [expectMemory(first.known, [...distinct.values()])]
}

const isAlone = ({ options }: PendingUnit) => options?.foreignKeys === false || options?.keepsBroken === true

/** Commits units in batches: each is one request, and what arrives during it is the next one. */
export const createWriteBatches = (options: WriteBatchesOptions) => {
  const { sender, readState, epoch, hasDeferredKeys, onBatch, onExternalCommit } = options
  let queue: PendingUnit[] = []
  /** Units that are not settled, and the size of their parameters. */
  let pendingUnits = 0
  let pendingSize = 0
  let accepted = 0
  let refused = 0
  let isClosed = false
  /** A batch may be stored without its result, until a later one is stored. */
  let isUncertain = false
  const encode = createChangeEncoder()
  let running: Promise<void> | undefined

  const settleStored = (pending: PendingUnit, results: readonly WriteResult[] | null) => {
    if (results) pending.resolve(results)
    else pending.reject(outcomeUnknown())
  }

  /** Reports commits whose results are not known: at once, and again when a later batch shows that no other one follows. */
  const reportUncertain = ({ kind }: Sent) => {
    const isStored = kind === 'stored' || kind === 'lost'
    if (kind === 'unknown' || kind === 'lost' || (isUncertain && isStored)) onExternalCommit()
    isUncertain = kind === 'unknown' || (isUncertain && !isStored)
  }

  /** Returns the failure of a batch that was not stored, or null if each unit has been settled. */
  const settle = (units: readonly PendingUnit[], composed: readonly Composed[], sent: Sent): Failure | null => {
    if (sent.kind === 'refused') for (const { reject } of units) reject(sent.error)
    if (sent.kind === 'unknown') for (const { reject } of units) reject(outcomeUnknown(sent.cause))
    if (sent.kind === 'lost') for (const pending of units) settleStored(pending, resultsWithoutRows(pending.unit))
    if (sent.kind === 'stored') {
      let start = 0
      for (const [index, pending] of units.entries()) {
        const own = composed[index] as Composed
        pending.resolve(resultsOf(pending.unit, own, sent.results.slice(start, start + own.steps.length)))
        start += own.steps.length
      }
    }
    if (sent.kind !== 'failed') return null
    return locate(units, composed, sent)
  }

  const locate = (
    units: readonly PendingUnit[],
    composed: readonly Composed[],
    { index, message }: Extract<Sent, { kind: 'failed' }>
  ): Failure => {
    let rest = index ?? Number.POSITIVE_INFINITY
    for (const [position, { steps }] of composed.entries()) {
      const step = steps[rest]
      if (step) return { failed: units[position] as PendingUnit, error: toDomainError(errorOf(step, message)) }
      rest -= steps.length
    }
    return { failed: null, error: toDomainError(toChangeError(message)) }
  }

  /** Reloads what has changed in memory. */
  const refresh = async () => {
    const since = epoch().known()
    await epoch().catchUp(await readState(), since)
  }

  /** Reloads memory after a unit that ran alone. Returns false if that failed. */
  const refreshAlone = async () => {
    try {
      await refresh()
      return true
    } catch {
      return false
    }
  }

  /**
   * Commits units together. If another service has changed memory that one of them was made from, all units that use memory fail
   * with `StaleMemory`, and the others are sent again.
   */
  const attempt = async (units: readonly PendingUnit[], reloads = 0): Promise<Failure | null> => {
    if (units.length === 0) return null
    const [first] = units as [PendingUnit]
    const start = performance.now()
    const change = randomUUID()
    const composed = units.map(({ unit, options }) => composeUnit(unit, options, change))
    const moves = composed.reduce((sum, own) => sum + own.moves, 0)
    // Without the check, what other services have changed before is not known, so the changes of this batch are read again, too.
    const isExpected = moves > 0 && reloads < MAX_CHECKED_RELOADS
    const checks = [...(isExpected ? [expectState(epoch().known())] : []), ...checkMemory(units)]
    const steps = composed.flatMap((own) => own.steps)
    const sent = isAlone(first)
      ? await sender.sendAlone(steps, checks, first.options as UnitOptions)
      : await sender.send(
          steps.map(({ statement }) => encode(statement)),
          checks,
          () => {
            if (isExpected) epoch().add(moves, change)
          }
        )
    reportUncertain(sent)
    if (sent.kind !== 'stale') {
      const commitMs = performance.now() - start
      onBatch({ units: units.length, waitMs: start - first.arrivedAt, commitMs })
      if (isAlone(first) && sent.kind === 'stored' && !(await refreshAlone()))
        return settle(units, composed, { kind: 'unknown' })
      return settle(units, composed, sent)
    }
    await refresh()
    for (const { options, reject } of units) if (options?.usesMemory) reject(new StaleMemory())
    return attempt(
      units.filter(({ options }) => !options?.usesMemory),
      reloads + 1
    )
  }

  const commitAlone = async (pending: PendingUnit) => {
    const failure = await attempt([pending])
    if (failure) pending.reject(failure.error)
  }

  /** Commits a batch. After a failure, its other units are sent again; after a second one, each unit alone. */
  const commit = async (units: readonly PendingUnit[]) => {
    const failure = await attempt(units)
    if (!failure) return
    const { failed, error } = failure
    const [first, ...rest] = units as readonly [PendingUnit, ...PendingUnit[]]
    if (rest.length === 0) return first.reject(error)
    const others = units.filter((pending) => pending !== failed && !pending.isSettled)
    // Units before it may be the cause, so its error counts only if they are stored.
    if (failed && !(await attempt(others))) return failed.reject(error)
    for (const pending of units) if (!pending.isSettled) await commitAlone(pending)
  }

  /** Takes the next units that can be committed together. */
  const takeBatch = () => {
    let size = 0
    const end = queue.findIndex((pending, index) => {
      if (index === 0) {
        size = pending.size
        return false
      }
      size += pending.size
      const isTogether = !isAlone(pending) && !isAlone(queue[0] as PendingUnit) && !hasDeferredKeys()
      return !isTogether || index >= MAX_UNITS || size > MAX_SIZE
    })
    const batch = end === -1 ? queue : queue.slice(0, end)
    queue = queue.slice(batch.length)
    return batch
  }

  const runQueue = async () => {
    while (queue.length > 0) {
      const batch = takeBatch()
      try {
        await commit(batch)
      } catch (error) {
        for (const { reject } of batch.filter(({ isSettled }) => !isSettled)) reject(error as Error)
      }
    }
    running = undefined
  }

  const startQueue = () => {
    if (queue.length > 0) running ??= runQueue()
  }

  const write = (unit: Unit, options?: UnitOptions) =>
    new Promise<readonly WriteResult[]>((resolve, reject) => {
      if (isClosed) return reject(toDomainError(engineStopped))
      if (hasTooMuchPending(pendingUnits, pendingSize)) {
        refused += 1
        return reject(tooManyWrites())
      }
      const size = sizeOfUnit(unit)
      accepted += 1
      pendingUnits += 1
      pendingSize += size
      const end = () => {
        pending.isSettled = true
        pendingUnits -= 1
        pendingSize -= size
      }
      const pending: PendingUnit = {
        unit,
        options,
        size,
        known: epoch().known(),
        arrivedAt: performance.now(),
        resolve: (results) => {
          end()
          resolve(results)
        },
        reject: (error) => {
          end()
          reject(error)
        },
        isSettled: false
      }
      queue.push(pending)
      if (!running) setImmediate(startQueue)
    })

  /** Refuses new units, and waits for the pending ones. */
  const close = async () => {
    isClosed = true
    startQueue()
    await running
  }

  const counts = (): WriteCounts => ({ accepted, pending: pendingUnits, pendingSize, refused })

  return { write, counts, close }
}
