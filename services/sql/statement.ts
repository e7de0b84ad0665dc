import type { SqlValue } from '../model/sql-value.ts'

export interface Statement {
  readonly sql: string
  readonly params: readonly SqlValue[]
  /** The number of rows to change or return. If it differs, the unit rolls back with `UnexpectedChanges`. */
  readonly expect?: number
}

/** Statements that run in one transaction: all of them or none. */
export type Unit = readonly Statement[]
