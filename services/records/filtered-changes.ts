import type { RecordBody } from '../../schemas/record.ts'
import { type Database, UnexpectedChanges, type WriteResult } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import type { Condition } from '../sql/conditions.ts'
import { deleteFiltered, selectFiltered, updateFiltered } from '../sql/filtered-changes.ts'
import { assertTable } from '../tables/failures.ts'
import { filterNotIndexed, tooManyAffected } from './failures.ts'
import { readFilter } from './filter.ts'
import { readAssignments } from './input.ts'
import type { Operation, OperationFailure } from './operation.ts'
import type { Planner } from './planner.ts'
import type { Totals } from './totals.ts'
import type { View } from './view.ts'
import { createViolations, type FailedWrite } from './violations.ts'

/** The records to change. */
interface FilteredRecords {
  readonly condition: Condition
  readonly maxAffected: number
}

/** The last statement changes the records. */
const changesOf = (results: readonly WriteResult[]) => Number(results.at(-1)?.changes)

/** Records of a table that may be scanned in the writer thread: about 20 ms of work. */
const MAX_SCANNED_ROWS = 100_000

interface FilteredChangesOptions {
  readonly db: Database
  readonly clock: Clock
  readonly planner: Planner
  readonly totals: Totals
}

/** Creates the functions that turn a filter into an operation. Its result is the number of changed records. */
export const createFilteredChanges = ({ db, clock, planner, totals }: FilteredChangesOptions) => {
  const explainViolation = createViolations(db)

  /** A scan in the writer thread holds up all other writes. @throws FILTER_NOT_INDEXED */
  const assertBounded = async (caller: Caller, view: View, condition: Condition) => {
    if (await planner.usesIndex(view, selectFiltered({ table: view.table, condition }))) return
    if ((await totals.get(caller, view.table)) > MAX_SCANNED_ROWS) throw filterNotIndexed(MAX_SCANNED_ROWS)
  }

  /** Returns the condition of a filter. @throws TABLE_READ_ONLY, VALIDATION_FAILED, FILTER_NOT_INDEXED */
  const readCondition = async (caller: Caller, view: View, filter: unknown) => {
    assertTable(view.table)
    const condition = readFilter(view, filter)
    await assertBounded(caller, view, condition)
    return condition
  }

  const explain =
    (write: FailedWrite, maxAffected: number) =>
    async (caller: Caller, { error }: OperationFailure) => {
      const cause =
        error instanceof UnexpectedChanges ? tooManyAffected(maxAffected) : await explainViolation(caller, error, write)
      return { mayRetry: false, error: () => cause }
    }

  /** @throws VALIDATION_FAILED */
  const updateFilteredOp = (view: View, records: FilteredRecords, body: RecordBody): Operation<number> => {
    const sent = readAssignments(view, body)
    return {
      table: view.table,
      unit: updateFiltered({ ...records, table: view.table }, sent, clock()),
      countChange: null,
      result: changesOf,
      shown: null,
      explain: explain({ view, sent }, records.maxAffected)
    }
  }

  const deleteFilteredOp = (view: View, records: FilteredRecords): Operation<number> => ({
    table: view.table,
    unit: deleteFiltered({ ...records, table: view.table }),
    countChange: (results) => -changesOf(results),
    result: changesOf,
    shown: null,
    explain: explain({ view }, records.maxAffected)
  })

  return { readCondition, updateFilteredOp, deleteFilteredOp }
}
