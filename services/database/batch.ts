import type { Connection } from './connection.ts'
import { type SqlValue, UnexpectedChanges, type WriteResult } from './database.ts'
import { type PlainError, toPlainError } from './sqlite-errors.ts'

/** A unit as it crosses to the writer thread: each SQL text travels once a batch, statements point to it. */
export type PackedUnit = readonly (readonly [sql: number, params: readonly SqlValue[], expect: number | undefined])[]

export interface PackedBatch {
  readonly texts: readonly string[]
  readonly units: readonly PackedUnit[]
}

export type Outcome = { readonly results: readonly WriteResult[] } | { readonly error: PlainError }

export interface BatchResult {
  readonly outcomes: readonly Outcome[]
  /** Another program has committed since this connection last looked. */
  readonly foreign: boolean
}

/**
 * Commits a batch of independent units with one fsync. Each unit has its own savepoint, so that one that fails leaves
 * its neighbours alone. What ends the whole transaction (SQLITE_FULL, ON CONFLICT ROLLBACK, RAISE(ROLLBACK), a
 * deferred foreign key at COMMIT) sends every unit through a transaction of its own.
 */
export const createBatchRunner = (connection: Connection) => {
  const { raw, run } = connection
  const dataVersion = () => connection.value('PRAGMA data_version')
  let version = dataVersion()

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

  const execute = (texts: readonly string[], unit: PackedUnit) =>
    unit.map(([text, params, expect], position) => {
      const result = run(texts[text] as string, params)
      if (expect !== undefined && result.changes !== expect) throw new UnexpectedChanges(position)
      return result
    })

  const rollBack = () => {
    if (raw.inTransaction) run('ROLLBACK', [])
  }

  const inSavepoint = (texts: readonly string[], unit: PackedUnit): Outcome => {
    run('SAVEPOINT unit', [])
    try {
      const results = execute(texts, unit)
      run('RELEASE unit', [])
      return { results }
    } catch (error) {
      if (raw.inTransaction) {
        run('ROLLBACK TO unit', [])
        run('RELEASE unit', [])
      }
      return { error: toPlainError(error) }
    }
  }

  const alone = (texts: readonly string[], unit: PackedUnit): Outcome => {
    try {
      run('BEGIN IMMEDIATE', [])
      const results = execute(texts, unit)
      run('COMMIT', [])
      return { results }
    } catch (error) {
      rollBack()
      return { error: toPlainError(error) }
    }
  }

  /** The outcomes, or null when the transaction ended before its COMMIT and nothing of it remains. */
  const together = ({ texts, units }: PackedBatch): readonly Outcome[] | null => {
    const outcomes: Outcome[] = []
    for (const unit of units) {
      outcomes.push(inSavepoint(texts, unit))
      if (!raw.inTransaction) return null
    }
    try {
      run('COMMIT', [])
      return outcomes
    } catch {
      rollBack()
      return null
    }
  }

  const runBatch = (batch: PackedBatch): BatchResult => {
    try {
      run('BEGIN IMMEDIATE', [])
    } catch (error) {
      return { outcomes: batch.units.map(() => ({ error: toPlainError(error) })), foreign: false }
    }
    const foreign = sawForeignCommit()
    const outcomes = together(batch) ?? batch.units.map((unit) => alone(batch.texts, unit))
    return { outcomes, foreign }
  }

  return { runBatch, sawForeignCommit }
}
