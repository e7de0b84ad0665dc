import type { Connection } from './connection.ts'
import { type Row, type SqlValue, UnexpectedChanges } from './database.ts'
import { type PlainError, toPlainError } from './plain-error.ts'
import { sizeOf } from './size.ts'

/** A unit as it crosses to the writer thread: each SQL text travels once a parcel, statements point to it. */
export type PackedUnit = readonly (readonly [sql: number, params: readonly SqlValue[], expect: number | undefined])[]

/** Units of one turn of the event loop. */
export interface Parcel {
  readonly texts: readonly string[]
  readonly units: readonly PackedUnit[]
}

/** A result as it crosses back: to name its parts would take as long again as all else that crosses. */
export type PackedResult = readonly [changes: number, ...rows: Row[]]

/** One result for each statement of the unit. */
export type Outcome = readonly PackedResult[] | { readonly error: PlainError }

export interface BatchResult {
  /** One for each unit that was committed together, in the order of parcels and units. */
  readonly outcomes: readonly Outcome[]
  /** Another program has committed since this connection last looked. */
  readonly foreign: boolean
}

type OutcomeOf = (texts: readonly string[], unit: PackedUnit) => Outcome

/** Characters of results after which a batch ends: the event loop takes them, and makes answers of them, in one go. */
const LARGEST_RESULTS = 2 ** 20

const sizeOfOutcome = (outcome: Outcome) => {
  if ('error' in outcome) return 0
  let size = 0
  for (const [, ...rows] of outcome) for (const row of rows) size += sizeOf(Object.values(row))
  return size
}

const without = (batch: readonly Parcel[], count: number): readonly Parcel[] => {
  let gone = count
  return batch.flatMap(({ texts, units }) => {
    const left = units.slice(gone)
    gone = Math.max(0, gone - units.length)
    return left.length > 0 ? [{ texts, units: left }] : []
  })
}

/**
 * Commits a batch of parcels, all of whose units are independent, with one fsync (one for each MiB of results). It runs
 * without savepoints first; where a unit fails, again with one for each, so that one that fails leaves its neighbours
 * alone. What ends the whole transaction (SQLITE_FULL, ON CONFLICT ROLLBACK, RAISE(ROLLBACK)) sends every unit through
 * a transaction of its own; so does every batch where the file has deferred foreign keys.
 */
export const createBatchRunner = (connection: Connection) => {
  const { raw, run } = connection
  const dataVersion = () => connection.value('PRAGMA data_version')
  let version = dataVersion()
  let isForeign = false

  /** A failure to look says nothing: the version stays, and the next look finds what there was. */
  const sawForeignCommit = () => {
    const before = version
    try {
      version = dataVersion()
    } catch {
      return false
    }
    return version !== before
  }

  /**
   * Keys that are checked at COMMIT are checked for the batch as a whole: one unit could make up for another's fault.
   */
  const findDeferredKeys = () =>
    connection.value("SELECT 1 FROM sqlite_schema WHERE sql LIKE '%INITIALLY%DEFERRED%' LIMIT 1") !== undefined
  let hasDeferredKeys = findDeferredKeys()
  /** The `version` whose keys these are. */
  let keysVersion = version

  /** Within a transaction, so that nothing foreign comes after it. Only other programs make tables with such keys. */
  const lookForForeignCommits = () => {
    if (sawForeignCommit()) isForeign = true
    if (keysVersion === version) return
    hasDeferredKeys = findDeferredKeys()
    keysVersion = version
  }

  const execute = (texts: readonly string[], unit: PackedUnit) =>
    unit.map(([text, params, expect], position): PackedResult => {
      const { changes, rows } = run(texts[text] as string, params)
      if (expect !== undefined && changes !== expect) throw new UnexpectedChanges(position)
      return [changes, ...rows]
    })

  const rollBack = () => {
    if (raw.inTransaction) run('ROLLBACK', [])
  }

  const inSavepoint = (texts: readonly string[], unit: PackedUnit): Outcome => {
    run('SAVEPOINT unit', [])
    try {
      const results = execute(texts, unit)
      run('RELEASE unit', [])
      return results
    } catch (error) {
      if (!raw.inTransaction) throw error
      run('ROLLBACK TO unit', [])
      run('RELEASE unit', [])
      return { error: toPlainError(error) }
    }
  }

  /** The outcomes of units, one after the other, until their results are large. */
  const inTurn = (batch: readonly Parcel[], outcomeOf: OutcomeOf) => {
    const outcomes: Outcome[] = []
    let size = 0
    for (const { texts, units } of batch) {
      for (const unit of units) {
        const outcome = outcomeOf(texts, unit)
        outcomes.push(outcome)
        size += sizeOfOutcome(outcome)
        if (size >= LARGEST_RESULTS) return outcomes
      }
    }
    return outcomes
  }

  const alone = (texts: readonly string[], unit: PackedUnit): Outcome => {
    try {
      lookForForeignCommits()
      const results = execute(texts, unit)
      run('COMMIT', [])
      return results
    } catch (error) {
      rollBack()
      return { error: toPlainError(error) }
    }
  }

  /** Each unit in a transaction of its own. Where one cannot begin, the rest do not wait for the same lock in vain. */
  const oneByOne = (batch: readonly Parcel[]) => {
    let refusal: Outcome | undefined
    return inTurn(batch, (texts, unit) => {
      if (refusal) return refusal
      try {
        run('BEGIN IMMEDIATE', [])
      } catch (error) {
        refusal = { error: toPlainError(error) }
        return refusal
      }
      return alone(texts, unit)
    })
  }

  /** The outcomes once they are durable, or null when nothing of the batch remains. @throws where none can begin */
  const together = (batch: readonly Parcel[], outcomeOf: OutcomeOf): readonly Outcome[] | null => {
    run('BEGIN IMMEDIATE', [])
    try {
      lookForForeignCommits()
      const outcomes = hasDeferredKeys ? null : inTurn(batch, outcomeOf)
      if (outcomes) run('COMMIT', [])
      else rollBack()
      return outcomes
    } catch {
      rollBack()
      return null
    }
  }

  const commit = (batch: readonly Parcel[]) => {
    try {
      if (hasDeferredKeys) return oneByOne(batch)
      return together(batch, execute) ?? together(batch, inSavepoint) ?? oneByOne(batch)
    } catch (error) {
      return inTurn(batch, () => ({ error: toPlainError(error) }))
    }
  }

  /** Gives the results of what is durable while the rest of the batch is not. */
  function* runBatch(batch: readonly Parcel[]): Generator<BatchResult> {
    for (let rest = batch; rest.length > 0; ) {
      isForeign = false
      const outcomes = commit(rest)
      yield { outcomes, foreign: isForeign }
      rest = without(rest, outcomes.length)
    }
  }

  return { runBatch, sawForeignCommit }
}
