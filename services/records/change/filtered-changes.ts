import type { RecordBody } from '../../../schemas/record.ts'
import { type Database, UnexpectedChanges, type WriteResult } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import { allOf, type Condition } from '../../sql/conditions.ts'
import { deleteFiltered, updateFiltered } from '../../sql/filtered-changes.ts'
import { namesOf } from '../../sql/records.ts'
import { CHANGES, type Receipt } from '../../sql/unit-results.ts'
import { assertTable } from '../../tables/assert-table.ts'
import type { Access } from '../access/access.ts'
import { otherHasValue, tooManyAffected } from '../failures.ts'
import { readFilter } from '../read/filter.ts'
import { readAssignments } from './input.ts'
import {
  type ChangedRows,
  changeOf,
  explainWithRowCheck,
  final,
  type Operation,
  type OperationFailure
} from './operation.ts'
import type { RowCosts } from './row-costs.ts'
import { createViolations, type FailedWrite } from './violations.ts'

/** The records to change. */
interface FilteredRecords {
  readonly condition: Condition
  readonly maxAffected: number
}

/** `position`: of the statement that changes the records. A receipt has only its result. */
const changesOf = (results: readonly WriteResult[], position: number) =>
  Number((results[position] ?? results.at(-1))?.changes)

const CHANGED_ROWS: Receipt = { after: [{ changes: CHANGES, params: [] }] }

interface FilteredChangesOptions {
  readonly db: Database
  readonly clock: Clock
  readonly rowCosts: Pick<RowCosts, 'isCostly'>
}

/** Creates the functions that turn a filter into an operation. Its result is the number of changed records. */
export const createFilteredChanges = ({ db, clock, rowCosts }: FilteredChangesOptions) => {
  const explainViolation = createViolations(db)

  /** Returns the condition of a filter, for the rows that the caller can change. @throws TABLE_READ_ONLY, VALIDATION_FAILED */
  const readCondition = (access: Access, filter: unknown) => {
    assertTable(access.table)
    const condition = readFilter(access, filter)
    return access.rows ? allOf([access.rows, condition]) : condition
  }

  const changeOfFiltered = (access: Access, filter: FilteredRecords, columns: ChangedRows['columns']) => {
    const { sql: where, params } = filter.condition
    return changeOf({ access, columns, where, params, filter })
  }

  const recordsOf = ({ table }: Access, records: FilteredRecords) => ({
    ...records,
    table,
    guard: rowCosts.isCostly(table) ? db.dialect.changeGuard : ''
  })

  const explain =
    (write: FailedWrite, maxAffected: number) =>
    async (caller: Caller, { error, statement }: OperationFailure) => {
      if (!(error instanceof UnexpectedChanges)) return final(await explainViolation(caller, error, write))
      return final(statement === 0 ? tooManyAffected(maxAffected) : otherHasValue())
    }

  /** @throws VALIDATION_FAILED */
  const updateFilteredOp = (access: Access, records: FilteredRecords, body: RecordBody): Operation<number> => {
    const sent = readAssignments(access, body)
    const unit = updateFiltered(recordsOf(access, records), access.rows, sent, clock())
    return {
      table: access.table,
      unit,
      change: changeOfFiltered(access, records, namesOf(sent)),
      countChange: null,
      // A check of the changed records follows the change.
      result: (results) => changesOf(results, unit.length - (access.rows ? 2 : 1)),
      receipt: () => CHANGED_ROWS,
      shown: null,
      explain: explainWithRowCheck(unit, explain({ access, sent }, records.maxAffected))
    }
  }

  const deleteFilteredOp = (access: Access, records: FilteredRecords): Operation<number> => {
    const unit = deleteFiltered(recordsOf(access, records))
    const changes = (results: readonly WriteResult[]) => changesOf(results, unit.length - 1)
    return {
      table: access.table,
      unit,
      change: changeOfFiltered(access, records, null),
      countChange: (results) => -changes(results),
      result: changes,
      receipt: () => CHANGED_ROWS,
      shown: null,
      explain: explain({ access }, records.maxAffected)
    }
  }

  return { readCondition, updateFilteredOp, deleteFilteredOp }
}
