import type { RecordBody } from '../../../schemas/record.ts'
import { type Database, UnexpectedChanges, type WriteResult } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import type { Condition } from '../../sql/conditions.ts'
import { deleteFiltered, updateFiltered } from '../../sql/filtered-changes.ts'
import { namesOf } from '../../sql/records.ts'
import { CHANGES, type Receipt } from '../../sql/unit-results.ts'
import { assertTable } from '../../tables/failures.ts'
import type { View } from '../access/view.ts'
import { otherHasValue, tooManyAffected } from '../failures.ts'
import { readFilter } from '../read/filter.ts'
import { readAssignments } from './input.ts'
import { final, type Operation, type OperationFailure, type RowChange } from './operation.ts'
import { createViolations, type FailedWrite } from './violations.ts'

/** The records to change. */
interface FilteredRecords {
  readonly condition: Condition
  readonly maxAffected: number
}

/** The last statement changes the records. */
const changesOf = (results: readonly WriteResult[]) => Number(results.at(-1)?.changes)

const CHANGED_ROWS: Receipt = { after: [{ changes: CHANGES, params: [] }] }

interface FilteredChangesOptions {
  readonly db: Database
  readonly clock: Clock
}

/** Creates the functions that turn a filter into an operation. Its result is the number of changed records. */
export const createFilteredChanges = ({ db, clock }: FilteredChangesOptions) => {
  const explainViolation = createViolations(db)

  /** Returns the condition of a filter. @throws TABLE_READ_ONLY, VALIDATION_FAILED */
  const readCondition = (view: View, filter: unknown) => {
    assertTable(view.table)
    return readFilter(view, filter)
  }

  const changeOf = (view: View, filter: FilteredRecords, columns: RowChange['columns']): RowChange => ({
    view,
    columns,
    where: filter.condition.sql,
    params: filter.condition.params,
    filter
  })

  const explain =
    (write: FailedWrite, maxAffected: number) =>
    async (caller: Caller, { error, statement }: OperationFailure) => {
      if (!(error instanceof UnexpectedChanges)) return final(await explainViolation(caller, error, write))
      return final(statement === 0 ? tooManyAffected(maxAffected) : otherHasValue())
    }

  /** @throws VALIDATION_FAILED */
  const updateFilteredOp = (view: View, records: FilteredRecords, body: RecordBody): Operation<number> => {
    const sent = readAssignments(view, body)
    return {
      table: view.table,
      unit: updateFiltered({ ...records, table: view.table }, sent, clock()),
      change: changeOf(view, records, namesOf(sent)),
      countChange: null,
      result: changesOf,
      receipt: () => CHANGED_ROWS,
      shown: null,
      explain: explain({ view, sent }, records.maxAffected)
    }
  }

  const deleteFilteredOp = (view: View, records: FilteredRecords): Operation<number> => ({
    table: view.table,
    unit: deleteFiltered({ ...records, table: view.table }),
    change: changeOf(view, records, null),
    countChange: (results) => -changesOf(results),
    result: changesOf,
    receipt: () => CHANGED_ROWS,
    shown: null,
    explain: explain({ view }, records.maxAffected)
  })

  return { readCondition, updateFilteredOp, deleteFilteredOp }
}
