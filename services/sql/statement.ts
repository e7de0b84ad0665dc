import type { SqlValue } from '../model/sql-value.ts'

export interface Statement {
  readonly sql: string
  readonly params: readonly SqlValue[]
  /** The number of rows to change or return. If it differs, the unit rolls back with `UnexpectedChanges`. */
  readonly expect?: number
}

/** A value that an earlier statement of the same unit returned in its first row. */
export interface Reference {
  /** The position of the statement in the unit, from 0. */
  readonly statement: number
  /** The name of the column in the returned row. */
  readonly column: string
}

/** A value to bind in a unit. */
export type Param = SqlValue | Reference

export const isReference = (param: Param): param is Reference =>
  typeof param === 'object' && param !== null && !(param instanceof Uint8Array)

export interface UnitStatement extends Omit<Statement, 'params'> {
  readonly params: readonly Param[]
}

/** Statements that run in one transaction: all of them or none. */
export type Unit = readonly UnitStatement[]
