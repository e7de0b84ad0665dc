import { type Database, type Staging, UnexpectedChanges, type WriteResult } from '../../engine/database.ts'
import type { StagedFile, StagedStep } from '../../engine/staging/protocol.ts'
import type { Caller } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import { DomainError, hasCode, tableChanged } from '../../model/errors.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { mustNotAbort } from '../../sql/conflicts.ts'
import { expectTable } from '../../sql/imports.ts'
import type { StagedUnit, StoredRange } from '../../sql/staged-units.ts'
import type { Statement } from '../../sql/statement.ts'
import type { ResultSql } from '../../sql/unit-results.ts'
import { assertSameRecords } from '../../tables/token-access.ts'
import type { Access } from '../access/access.ts'
import type { Commit } from '../change/commit.ts'
import { explainWithRowCheck, final, type Operation, type OperationFailure } from '../change/operation.ts'
import type { RowCosts } from '../change/row-costs.ts'
import { createViolations } from '../change/violations.ts'
import { ignoredByTrigger, valueTaken } from '../failures.ts'
import { whenUnlocked } from './lock-waits.ts'
import { changedFields, type ImportPlan, storePlanOf } from './plan.ts'
import { maxBytesOf, type StepSizes } from './step-sizes.ts'

/** Its `cause` is for the log. */
const stopped = (reason: Error, stored: number, rows: number) => {
  const { message, details } =
    reason instanceof DomainError ? reason : { message: 'The service failed.', details: undefined }
  const error = new DomainError(
    'IMPORT_STOPPED',
    `The import ended after ${stored} of ${rows} records were stored: ${message}`,
    {
      details,
      hint: `Correct the cause. Then send the same file with \`skip=${stored}\`, which goes on after these records.`
    }
  )
  return Object.assign(error, { cause: reason })
}

export interface StepsOptions {
  readonly db: Database
  readonly clock: Clock
  readonly commit: Commit
  readonly sizes: StepSizes
  readonly rowCosts: Pick<RowCosts, 'isCostly'>
  /** Returns the table as it is now. */
  readonly currentTable: (id: number) => RegisteredTable
}

/** A file without errors, in its staging file. */
export interface CheckedFile {
  readonly plan: ImportPlan
  readonly staging: Staging
  readonly file: StagedFile
  /** Whether all of its records are stored in one transaction. */
  readonly isOneStep: boolean
}

/** The row of a running import. */
export interface ImportEntry {
  /** Returns the statement that belongs to the unit with the records. `storedRows`: all that are stored with it. */
  progress(tableId: number, storedRows: number): Statement
}

export interface Stored {
  readonly created: number
  readonly updated: number
}

/** Whether the records of the file can change stored ones. */
export const hasUpdates = ({ plan, file: { fields } }: CheckedFile) =>
  plan.on !== null && changedFields(plan, fields).length > 0

/**
 * A step checks the table, may check unique keys, changes records if it `updates`, inserts records, updates the row of the
 * import, and may check what was stored. Only the first check and the update of the import return a row.
 */
export const storedBy = (results: readonly WriteResult[], updates: boolean): Stored => {
  const progress = results.findLastIndex(({ rows }) => rows.length > 0)
  return {
    created: Number(results[progress - 1]?.changes),
    updated: updates ? Number(results[progress - 2]?.changes) : 0
  }
}

/** Creates the function that explains a failed step. */
const createStepFailures = (db: Database) => {
  const explainViolation = createViolations(db)

  const reasonOf = async (caller: Caller, access: Access, { error, statement }: OperationFailure): Promise<Error> => {
    if (!(error instanceof UnexpectedChanges)) return explainViolation(caller, error, { access })
    if (statement === 0) return tableChanged(access.table.name)
    return mustNotAbort(access.table) || access.rows ? valueTaken() : ignoredByTrigger()
  }

  return (access: Access): Operation['explain'] =>
    async (caller, failure) =>
      final(await reasonOf(caller, access, failure))
}

/** Returns the results of a unit with all records, before it runs. In the order of `storedBy`. `updates`: 1, or 0 without updates. */
const resultsOf = ({ storedKeys }: StagedUnit, rows: number, updates: bigint): readonly ResultSql[] => [
  { changes: '0', params: [] },
  { changes: `iif(?, ${storedKeys.sql}, 0)`, params: [updates, ...storedKeys.params] },
  { changes: `? - ${storedKeys.sql}`, params: [BigInt(rows), ...storedKeys.params] },
  { record: '?', params: [String(rows)] }
]

/** Creates the function that plans the operations that store the records of a file, each with a range of them. */
export const createStepPlans = ({ db, clock, rowCosts }: Pick<StepsOptions, 'db' | 'clock' | 'rowCosts'>) => {
  const explain = createStepFailures(db)

  /** Returns the function that returns an operation. */
  return async (checked: CheckedFile, access: Access) => {
    const { table } = access
    const { plan, staging, file } = checked
    const updates = hasUpdates(checked)
    const result = (results: readonly WriteResult[]) => storedBy(results, updates)
    const { id, name, hasConflictTriggers } = table
    const guard = rowCosts.isCostly(table) ? db.dialect.changeGuard : ''
    const { unitOf } = await staging.store({ ...storePlanOf(plan, file.fields), hasConflictTriggers, guard })
    const isSameTable = expectTable(id, name, plan.target.declarations[0] as string)
    return async (range: Omit<StoredRange, 'now'>, progress: Statement): Promise<Operation<Stored>> => {
      const stored = await unitOf({ ...range, now: clock() }, progress)
      const unit = [isSameTable, ...stored.unit]
      return {
        table,
        unit,
        change: { kind: 'import', count: range.rows, size: null },
        countChange: (results) => result(results).created,
        result,
        receipt: () => ({ before: resultsOf(stored, file.rows, BigInt(updates)) }),
        shown: null,
        explain: explainWithRowCheck(unit, explain(access))
      }
    }
  }
}

/** Stores staged records in steps of bounded time, so that other writes run between them. */
export const createImportSteps = ({ db, clock, commit, sizes, rowCosts, currentTable }: StepsOptions) => {
  const planSteps = createStepPlans({ db, clock, rowCosts })

  /** @throws TABLE_CHANGED; IMPORT_STOPPED if a step fails after the first one */
  return async (caller: Caller, access: Access, checked: CheckedFile, entry: ImportEntry): Promise<Stored> => {
    const { table } = access
    const { plan, staging, file, isOneStep } = checked
    const operationOf = await planSteps(checked, access)
    let [created, updated, done] = [0, 0, 0]
    const maxBytes = isOneStep ? null : maxBytesOf(plan)
    let rows = isOneStep ? file.rows : sizes.firstRows(table)
    let after: SqlValue = null

    /** Returns what was stored, and the milliseconds of the unit. */
    const write = async ({ last, rows }: StagedStep) => {
      const progress = entry.progress(table.id, file.skipped + done + rows)
      const operation = await operationOf({ after, last, rows }, progress)
      await caller.confirmRight()
      assertSameRecords(table, currentTable(table.id))
      const start = performance.now()
      const [stored] = await commit(caller, [operation])
      return { stored, took: performance.now() - start }
    }

    const storeStep = async () => {
      const step = await staging.step({ after, rows, maxBytes })
      if (step.rows === 0) throw new Error(`The staging file has fewer records than ${file.rows}.`)
      const written = await whenUnlocked(() => write(step)).catch((error) => {
        // The cost of a row was not known, or has changed. The step is divided.
        if (isOneStep || step.rows === 1 || !hasCode(error, 'TOO_MUCH_WORK')) throw error
      })
      if (!written) {
        rows = Math.min(sizes.firstRows(table), Math.floor(step.rows / 2))
        return
      }
      const { stored, took } = written
      created += stored.created
      updated += stored.updated
      done += step.rows
      after = step.last
      rows = sizes.nextRows(table, { rows: step.rows, took })
    }

    try {
      while (done < file.rows) await storeStep()
    } catch (error) {
      throw done > 0 ? stopped(error as Error, file.skipped + done, file.skipped + file.rows) : error
    }
    return { created, updated }
  }
}
