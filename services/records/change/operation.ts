import { UnexpectedChanges, type WriteResult } from '../../engine/database.ts'
import type { Caller } from '../../model/caller.ts'
import type { RegisteredTable } from '../../model/table.ts'
import type { Condition } from '../../sql/conditions.ts'
import type { Param, Unit } from '../../sql/statement.ts'
import type { Receipt } from '../../sql/unit-results.ts'
import type { Access } from '../access/access.ts'
import { otherHasValue, rowNotAllowed } from '../failures.ts'

/** The failure of a unit, with the position relative to one of its operations. */
export interface OperationFailure {
  readonly error: Error
  /** The position of the failed statement in the operation's own unit, from 0; undefined if COMMIT failed. */
  readonly statement: number | undefined
}

/** What a failure means for the request. */
export interface Diagnosis {
  /** The record exists now: it was inserted concurrently, so a retry may succeed. */
  readonly mayRetry: boolean
  /** Returns the error for the caller. */
  readonly error: () => Error | Promise<Error>
}

/** Stored rows that an operation changes. The work is estimated before the unit runs. */
export interface ChangedRows {
  readonly access: Access
  /** The columns that the operation sets. null: it deletes the rows. */
  readonly columns: readonly string[] | null
  /** The condition of the rows, in SQL. */
  readonly where: string
  readonly params: readonly Param[]
  /** Absent if the condition is that of one record. */
  readonly filter?: { readonly condition: Condition; readonly maxAffected: number }
}

/** The size of staged records that an operation stores. The parameters of its unit do not show it. */
export interface StagedSize {
  readonly bytes: number
  /** Bytes of their texts. */
  readonly textBytes: number
}

/** What an operation does with the records of its table. */
export type RecordChange =
  | { readonly kind: 'create' }
  | { readonly kind: 'update' | 'delete' | 'upsert'; readonly rows: ChangedRows }
  /** `count`: of records. `size`: null for a step of an import, whose number of records adapts to the measured time. */
  | { readonly kind: 'import'; readonly count: number; readonly size: StagedSize | null }

/**
 * A change as data: of one record, of the records of a filter, of those of a file, or of a table of Rowhouse. `commit` runs
 * any number of operations in one transaction, so a batch is a list of operations, on one table or several.
 */
export interface Operation<R = unknown> {
  /** null: a table of this service. */
  readonly table: RegisteredTable | null
  readonly unit: Unit<Param>
  /** null: the operation changes a table of this service. */
  readonly change: RecordChange | null
  /** Returns by how much the number of rows has changed. null: it never changes. */
  readonly countChange: ((results: readonly WriteResult[]) => number) | null
  /** Reads the operation's result. `results` has one entry for each statement of its unit, or those of `receipt`. */
  readonly result: (results: readonly WriteResult[]) => R
  /** Returns how SQL stores the results that `result` needs, for a repeated request. */
  readonly receipt: () => Receipt
  /** The fields whose stored values the result contains. null: the result contains none. */
  readonly shown: Access['columns'] | null
  /** Returns the meaning of a failure. May read the database, with the caller's right. */
  readonly explain: (caller: Caller, failure: OperationFailure) => Diagnosis | Promise<Diagnosis>
}

/** Returns the change of stored rows without an upsert. */
export const changeOf = (rows: ChangedRows): RecordChange => ({ kind: rows.columns ? 'update' : 'delete', rows })

/** Returns the diagnosis of an error that a retry would repeat. */
export const final = (error: Error): Diagnosis => ({ mayRetry: false, error: () => error })

/** Explains a unit that may check the changed record. `explain`: explains all other failures. */
export const explainWithRowCheck = (unit: Unit<Param>, explain: Operation['explain']): Operation['explain'] => {
  if (!unit.some(({ isRowCheck }) => isRowCheck)) return explain
  return (caller, failure) => {
    const { error, statement } = failure
    const isOutside = error instanceof UnexpectedChanges && statement !== undefined && unit[statement]?.isRowCheck
    return isOutside ? final(rowNotAllowed()) : explain(caller, failure)
  }
}

/** Explains a unit that may begin with a check of unique values. `explain`: explains it without the check. */
export const explainAfterCheck = (unit: Unit<Param>, explain: Operation['explain']): Operation['explain'] => {
  if (unit[0]?.expect !== 0) return explain
  return (caller, { error, statement }) => {
    if (error instanceof UnexpectedChanges && statement === 0) return final(otherHasValue())
    return explain(caller, { error, statement: statement && statement - 1 })
  }
}

/** Reads the results of an operation, also those of an earlier request with the same key: known before it is compiled. */
export type ResultReader<R = unknown> = Pick<Operation<R>, 'table' | 'shown' | 'result'>
