import type { Expected, Statement, Unit, UnitOptions } from '../../sql/statement.ts'
import { UnexpectedChanges, type WriteResult, type WriteResults } from '../database.ts'
import type { Connection } from '../shared/connection.ts'
import type { Outcome, UnitWithOptions } from '../shared/message.ts'
import { toPlainError } from '../shared/plain-error.ts'
import { sizeOfLarge, sizeOfOutcome } from '../shared/size.ts'
import { CHANGE_GUARD } from '../shared/sqlite-dialect.ts'
import type { UnreadText } from '../shared/unread-text.ts'
import { createCommit, FailedCommit, UnknownOutcome } from './commit.ts'
import { createResultsCheck } from './results-size.ts'

export interface BatchResult {
  /** One for each unit that was committed together, in their order. */
  readonly outcomes: readonly Outcome[]
  /** Characters of the large ones, which count as unread text. */
  readonly largeSize: number
  /** Time of the statements and of the fsync. */
  readonly commitMs: number
  /** Another program has committed since the previous check. */
  readonly sawExternalCommit: boolean
}

/** Codes of units that fail again if they run again, after as much work. */
const TOO_MUCH_WORK: ReadonlySet<string> = new Set(['UNIT_EXPIRED', 'RESULTS_TOO_LARGE', 'TOO_MUCH_UNREAD'])

/** Rows of a unit come from RETURNING: docs/decisions/0016-rows-from-returning.md */
const SELECT = /^\s*(?:SELECT|WITH)\b/i

type Run = (request: UnitWithOptions) => Outcome

/** Characters of results after which a batch ends: the event loop handles the results of a batch in one tick. */
const MAX_RESULTS_SIZE = 2 ** 20

const isExpected = (expect: Expected | undefined, { changes }: WriteResult, earlier: readonly WriteResult[]) => {
  if (typeof expect !== 'object') return expect === undefined || changes === expect
  return Number(earlier.at(-1)?.changes) + changes === expect.both
}

/** The guard returns a row for each changed one. The statement itself returns none. */
const withoutGuardRows = (sql: string, result: WriteResult): WriteResult =>
  result.rows.length > 0 && sql.endsWith(CHANGE_GUARD) ? { changes: result.changes, rows: [] } : result

/** Whether the unit runs alone, with other settings of the connection. */
const isAlone = ({ options }: UnitWithOptions) => options?.foreignKeys === false || options?.keepsBroken === true

/** Returns the units at the start of the batch that can be committed together. */
const firstTogether = (batch: readonly UnitWithOptions[]) => {
  const end = batch.findIndex(isAlone)
  return end === -1 ? batch : batch.slice(0, Math.max(end, 1))
}

/**
 * Commits a batch of independent units with one fsync (one for each MiB of results). The first attempt has no
 * savepoints. If a unit fails, the batch runs again with a savepoint for each unit, so that the other units succeed.
 * If an error ends the whole transaction (SQLITE_FULL, ON CONFLICT ROLLBACK, RAISE(ROLLBACK)), or if the file has
 * deferred foreign keys, each unit runs in a transaction of its own. So does a unit without foreign keys, and one that keeps
 * broken views. If the disk fails during COMMIT, nothing runs again: all units of the batch fail.
 */
export const createBatchRunner = (connection: Connection, unread: UnreadText) => {
  const { raw, run } = connection
  const commitTransaction = createCommit(connection)
  const readDataVersion = () => connection.value('PRAGMA data_version')
  let dataVersion = readDataVersion()
  let sawCommitInBatch = false

  /** If the check fails, the stored version stays, so that the next check reports the commit. */
  const sawExternalCommit = () => {
    const before = dataVersion
    try {
      dataVersion = readDataVersion()
    } catch {
      return false
    }
    return dataVersion !== before
  }

  /**
   * Deferred foreign keys are checked at COMMIT, for the whole batch. One unit could mask a violation in another.
   */
  const findDeferredKeys = () =>
    connection.value("SELECT 1 FROM sqlite_schema WHERE sql LIKE '%INITIALLY%DEFERRED%' LIMIT 1") !== undefined
  let hasDeferredKeys = findDeferredKeys()
  /** The data version at which `hasDeferredKeys` was read. */
  let keysVersion = dataVersion

  /** Runs inside a transaction, which locks other programs out. Only they create tables with deferred keys. */
  const checkForExternalCommit = () => {
    if (sawExternalCommit()) sawCommitInBatch = true
    if (keysVersion === dataVersion) return
    hasDeferredKeys = findDeferredKeys()
    keysVersion = dataVersion
  }

  const executeStatement = (
    { sql, params, expect }: Statement,
    position: number,
    earlier: readonly WriteResult[],
    checkSize: (result: WriteResult) => void
  ) => {
    try {
      if (expect === undefined && SELECT.test(sql))
        throw new Error('A SELECT in a unit is a check, which needs `expect`.')
      const result = withoutGuardRows(sql, run(sql, params))
      checkSize(result)
      if (isExpected(expect, result, earlier)) return result
    } catch (error) {
      throw Object.assign(new Error(), toPlainError(error), { statement: position })
    }
    throw new UnexpectedChanges(position)
  }

  /** Units with too much work, and how they failed. They do not run again when their batch does. */
  const refused = new WeakMap<UnitWithOptions, Outcome>()

  /** When the running unit expires, by `performance.now()`. */
  let end = Number.POSITIVE_INFINITY

  /** Also an SQL function, which a guarded statement calls for each changed row, before the AFTER triggers of this row. */
  const assertInTime = () => {
    if (performance.now() > end) throw Object.assign(new Error('The unit took too long.'), { code: 'UNIT_EXPIRED' })
    return 1
  }
  raw.function('in_time', { deterministic: false, directOnly: true }, assertInTime)

  const executeAll = (unit: Unit): readonly WriteResult[] => {
    const results: WriteResult[] = []
    const checkSize = createResultsCheck(unread)
    for (const [position, statement] of unit.entries()) {
      assertInTime()
      results.push(executeStatement(statement, position, results, checkSize))
    }
    return results
  }

  const execute = (request: UnitWithOptions): WriteResults => {
    const { unit, options } = request
    try {
      if (options?.maxMs === undefined) {
        end = Number.POSITIVE_INFINITY
        return executeAll(unit)
      }
      const start = performance.now()
      end = start + options.maxMs
      const results = executeAll(unit)
      return Object.assign(results, { ms: performance.now() - start })
    } catch (error) {
      const plain = toPlainError(error)
      if (TOO_MUCH_WORK.has(plain.code)) refused.set(request, { error: plain })
      throw error
    }
  }

  const rollBack = () => {
    if (raw.inTransaction) run('ROLLBACK', [])
  }

  const executeInSavepoint = (request: UnitWithOptions): Outcome => {
    const failure = refused.get(request)
    if (failure) return failure
    run('SAVEPOINT unit', [])
    try {
      const results = execute(request)
      run('RELEASE unit', [])
      return results
    } catch (error) {
      if (!raw.inTransaction) throw error
      run('ROLLBACK TO unit', [])
      run('RELEASE unit', [])
      return { error: toPlainError(error) }
    }
  }

  /** Runs units in their order until the size of their results reaches the limit. */
  const runUnits = (batch: readonly UnitWithOptions[], runUnit: Run) => {
    const outcomes: Outcome[] = []
    let size = 0
    for (const request of batch) {
      const outcome = runUnit(request)
      outcomes.push(outcome)
      size += sizeOfOutcome(outcome)
      if (size >= MAX_RESULTS_SIZE) return outcomes
    }
    return outcomes
  }

  const executeAndCommit = (request: UnitWithOptions): Outcome => {
    try {
      checkForExternalCommit()
      const results = execute(request)
      commitTransaction()
      return results
    } catch (error) {
      if (error instanceof UnknownOutcome) throw error
      rollBack()
      return { error: toPlainError(error) }
    }
  }

  /** Commits each unit in its own transaction. If one cannot begin, the rest fail without waiting for the lock. */
  const commitOneByOne = (batch: readonly UnitWithOptions[]) => {
    let beginFailure: Outcome | undefined
    return runUnits(batch, (request) => {
      const failure = beginFailure ?? refused.get(request)
      if (failure) return failure
      try {
        run('BEGIN IMMEDIATE', [])
      } catch (error) {
        beginFailure = { error: toPlainError(error) }
        return beginFailure
      }
      return executeAndCommit(request)
    })
  }

  /** Returns the durable outcomes, or null if the whole batch was rolled back. @throws if it cannot begin */
  const commitTogether = (batch: readonly UnitWithOptions[], runUnit: Run): readonly Outcome[] | null => {
    run('BEGIN IMMEDIATE', [])
    try {
      checkForExternalCommit()
      const outcomes = hasDeferredKeys ? null : runUnits(batch, runUnit)
      if (outcomes) commitTransaction()
      else rollBack()
      return outcomes
    } catch (error) {
      if (error instanceof FailedCommit || error instanceof UnknownOutcome) throw error
      rollBack()
      return null
    }
  }

  /** The setting has no effect inside a transaction. The second one keeps the declarations of other objects. */
  const commitWithoutForeignKeys = (batch: readonly UnitWithOptions[]) => {
    raw.pragma('foreign_keys = OFF')
    raw.pragma('legacy_alter_table = ON')
    try {
      return commitOneByOne(batch)
    } finally {
      raw.pragma('legacy_alter_table = OFF')
      raw.pragma('foreign_keys = ON')
    }
  }

  /** `options`: those of the only unit of the batch. */
  const commitAlone = (batch: readonly UnitWithOptions[], { foreignKeys = true, keepsBroken = false }: UnitOptions) => {
    // SQLite ignores the pragma in safe mode.
    raw.unsafeMode(keepsBroken)
    if (keepsBroken) raw.pragma('writable_schema = ON')
    try {
      return foreignKeys ? commitOneByOne(batch) : commitWithoutForeignKeys(batch)
    } finally {
      raw.pragma('writable_schema = OFF')
      raw.unsafeMode(false)
    }
  }

  const commit = (batch: readonly UnitWithOptions[]) => {
    try {
      const alone = batch.find(isAlone)
      if (alone) return commitAlone(batch, alone.options as UnitOptions)
      if (hasDeferredKeys) return commitOneByOne(batch)
      return commitTogether(batch, execute) ?? commitTogether(batch, executeInSavepoint) ?? commitOneByOne(batch)
    } catch (error) {
      if (error instanceof UnknownOutcome) throw error
      return runUnits(batch, () => ({ error: toPlainError(error) }))
    }
  }

  /** Yields the outcomes of each commit before the next one begins. @throws UnknownOutcome */
  function* runBatch(batch: readonly UnitWithOptions[]): Generator<BatchResult> {
    for (let rest = batch; rest.length > 0; ) {
      sawCommitInBatch = false
      const start = performance.now()
      const outcomes = commit(firstTogether(rest))
      const commitMs = performance.now() - start
      const largeSize = sizeOfLarge(outcomes)
      unread.add(largeSize)
      yield { outcomes, largeSize, commitMs, sawExternalCommit: sawCommitInBatch }
      rest = rest.slice(outcomes.length)
    }
  }

  return { runBatch, sawExternalCommit }
}
