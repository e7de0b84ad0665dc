import type { SqlValue } from '../model/sql-value.ts'

/** A number of rows. `both`: of a statement and the one before it together. */
export type Expected = number | { readonly both: number }

export interface Statement {
  readonly sql: string
  readonly params: readonly SqlValue[]
  /** The number of rows to change or return. If it differs, the unit rolls back with `UnexpectedChanges`. */
  readonly expect?: Expected
}

/** A value that an earlier statement of the same unit returned in its first row. */
export interface Reference {
  /** The position of the statement in the unit, from 0. */
  readonly statement: number
  /** The name of the column in the returned row. */
  readonly column: string
}

/** The results of all earlier statements of the same unit, as JSON text: `[[{ changes, rows }, …], …]`. */
export interface ResultsText {
  /** The number of statements of each part of the unit. */
  readonly parts: readonly number[]
  /** The only column of the rows that the text contains. Its values are texts. */
  readonly column: string
}

/** A value to bind in a unit. */
export type Param = SqlValue | Reference | ResultsText

/** Whether the value is known before the unit runs. */
export const isValue = (param: Param): param is SqlValue =>
  typeof param !== 'object' || param === null || param instanceof Uint8Array

export interface UnitStatement extends Omit<Statement, 'params'> {
  readonly params: readonly Param[]
  /** Only in the first statement of a unit: milliseconds after which no other one begins, and the unit fails. */
  readonly maxUnitMs?: number
}

/** Statements that run in one transaction: all of them or none. */
export type Unit = readonly UnitStatement[]
