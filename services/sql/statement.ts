import type { SqlValue } from '../model/sql-value.ts'

export interface Statement {
  readonly sql: string
  readonly params: readonly SqlValue[]
  /** The number of rows to change (or return). The unit rolls back with `UnexpectedChanges` if it differs. */
  readonly expect?: number
}

/** Statements that run in one transaction: all or none. */
export type Unit = readonly Statement[]
