import type { Statement, Unit } from '../../sql/statement.ts'
import { UnexpectedChanges, type WriteResult } from '../database.ts'
import type { Connection } from '../shared/connection.ts'
import { type PlainError, toPlainError } from '../shared/plain-error.ts'
import { sizeOf } from '../shared/size.ts'

/** One result for each statement of the unit. */
export type Outcome = readonly WriteResult[] | { readonly error: PlainError }

export interface BatchResult {
  /** One for each unit that was committed together, in their order. */
  readonly outcomes: readonly Outcome[]
  /** Another program has committed since this connection last looked. */
  readonly foreign: boolean
}

type OutcomeOf = (unit: Unit) => Outcome

/** Characters of results after which a batch ends: the event loop takes them, and makes answers of them, in one go. */
const LARGEST_RESULTS = 2 ** 20

const sizeOfOutcome = (outcome: Outcome) => {
  if ('error' in outcome) return 0
  let size = 0
  for (const { rows } of outcome) for (const row of rows) size += sizeOf(Object.values(row))
  return size
}

/**
 * Commits a batch of units, which are independent, with one fsync (one for each MiB of results). It runs without
 * savepoints first; where a unit fails, again with one for each, so that one that fails leaves its neighbours alone.
 * What ends the whole transaction (SQLITE_FULL, ON CONFLICT ROLLBACK, RAISE(ROLLBACK)) sends every unit through a
 * transaction of its own; so does every batch where the file has deferred foreign keys.
 */
export const createBatchRunner = (connection: Connection) => {
  const { raw, run } = connection
  const dataVersion = () => connection.value('PRAGMA data_version')
  let version = dataVersion()
  let isForeign = false

  /** A failure to look says nothing: the version stays, and the next look finds what there was. */
  const sawExternalCommit = () => {
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
  const checkForExternalCommits = () => {
    if (sawExternalCommit()) isForeign = true
    if (keysVersion === version) return
    hasDeferredKeys = findDeferredKeys()
    keysVersion = version
  }

  const executeStatement = ({ sql, params, expect }: Statement, position: number) => {
    try {
      const result = run(sql, params)
      if (expect === undefined || result.changes === expect) return result
    } catch (error) {
      throw Object.assign(new Error(), toPlainError(error), { statement: position })
    }
    throw new UnexpectedChanges(position)
  }

  const execute = (unit: Unit) => unit.map(executeStatement)

  const rollBack = () => {
    if (raw.inTransaction) run('ROLLBACK', [])
  }

  const inSavepoint = (unit: Unit): Outcome => {
    run('SAVEPOINT unit', [])
    try {
      const results = execute(unit)
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
  const inTurn = (batch: readonly Unit[], outcomeOf: OutcomeOf) => {
    const outcomes: Outcome[] = []
    let size = 0
    for (const unit of batch) {
      const outcome = outcomeOf(unit)
      outcomes.push(outcome)
      size += sizeOfOutcome(outcome)
      if (size >= LARGEST_RESULTS) return outcomes
    }
    return outcomes
  }

  const alone = (unit: Unit): Outcome => {
    try {
      checkForExternalCommits()
      const results = execute(unit)
      run('COMMIT', [])
      return results
    } catch (error) {
      rollBack()
      return { error: toPlainError(error) }
    }
  }

  /** Each unit in a transaction of its own. Where one cannot begin, the rest do not wait for the same lock in vain. */
  const oneByOne = (batch: readonly Unit[]) => {
    let refusal: Outcome | undefined
    return inTurn(batch, (unit) => {
      if (refusal) return refusal
      try {
        run('BEGIN IMMEDIATE', [])
      } catch (error) {
        refusal = { error: toPlainError(error) }
        return refusal
      }
      return alone(unit)
    })
  }

  /** The outcomes once they are durable, or null when nothing of the batch remains. @throws where none can begin */
  const together = (batch: readonly Unit[], outcomeOf: OutcomeOf): readonly Outcome[] | null => {
    run('BEGIN IMMEDIATE', [])
    try {
      checkForExternalCommits()
      const outcomes = hasDeferredKeys ? null : inTurn(batch, outcomeOf)
      if (outcomes) run('COMMIT', [])
      else rollBack()
      return outcomes
    } catch {
      rollBack()
      return null
    }
  }

  const commit = (batch: readonly Unit[]) => {
    try {
      if (hasDeferredKeys) return oneByOne(batch)
      return together(batch, execute) ?? together(batch, inSavepoint) ?? oneByOne(batch)
    } catch (error) {
      return inTurn(batch, () => ({ error: toPlainError(error) }))
    }
  }

  /** Gives the results of what is durable while the rest of the batch is not. */
  function* runBatch(batch: readonly Unit[]): Generator<BatchResult> {
    for (let rest = batch; rest.length > 0; ) {
      isForeign = false
      const outcomes = commit(rest)
      yield { outcomes, foreign: isForeign }
      rest = rest.slice(outcomes.length)
    }
  }

  return { runBatch, sawExternalCommit }
}
