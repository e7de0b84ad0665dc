import type { UsedMemory } from '../model/memory.ts'
import type { SqlValue } from '../model/sql-value.ts'

/** A number of rows. `both`: of a statement and the one before it together. */
export type Expected = number | { readonly both: number }

/** `P`: what its parameters may be. */
export interface Statement<P = SqlValue> {
  readonly sql: string
  readonly params: readonly P[]
  /** The number of rows to change or return. If it differs, the unit rolls back with `UnexpectedChanges`. */
  readonly expect?: Expected
  /** The statement checks that a changed record is still one that the caller can read and change. */
  readonly isRowCheck?: boolean
  /** The statement stores this value, under a number that it binds before its other parameters. */
  readonly stores?: UnitValue
}

export const statement = (sql: string, params: readonly SqlValue[] = []): Statement => ({ sql, params })

/** A value that an earlier statement of the same unit stores: see `unit-values.ts`. */
export class UnitValue {}

/** The expected entity tags of a record, for an engine that has no function for tags: it compares texts of the record. */
export class RecordTags {
  readonly tags: readonly string[]
  /** Selects the `record` as JSON text, and its `compared` text. */
  readonly read: Statement<Param>

  constructor(tags: readonly string[], read: Statement<Param>) {
    this.tags = tags
    this.read = read
  }
}

export type Param = SqlValue | UnitValue | RecordTags

/** A condition for rows, in SQL. */
export interface RowCondition {
  readonly where: string
  readonly params: readonly Param[]
}

/** Whether the value is known before the unit runs. */
export const isValue = (param: Param): param is SqlValue => !(param instanceof UnitValue || param instanceof RecordTags)

/** Rows as a part of FROM: a table, or a subquery in parentheses with its parameters. It needs an alias. */
export interface RowSource {
  readonly from: string
  readonly params: readonly SqlValue[]
}

/** Statements that run in one transaction: all of them or none. */
export type Unit<P = SqlValue> = readonly Statement<P>[]

/** How a unit runs. */
export interface UnitOptions {
  /**
   * false: without foreign keys, and a rename leaves all other declarations as they are. Otherwise DROP TABLE would first
   * delete each row, with the actions of the foreign keys that refer to it.
   * https://sqlite.org/lang_altertable.html#otheralter
   */
  readonly foreignKeys?: boolean
  /**
   * ALTER TABLE leaves views and triggers unchanged that cannot be compiled. Otherwise one of them anywhere in the file
   * prevents each rename and drop. The unit must have been tried.
   */
  readonly keepsBroken?: boolean
  /**
   * Milliseconds after which no other statement begins and no guarded one changes another row: the unit fails. Its results have
   * the time. A cluster has no such limit.
   */
  readonly maxMs?: number
  /** What the unit was made from: it fails with `StaleMemory` if another service has changed any of it. */
  readonly usesMemory?: readonly UsedMemory[]
  /** The unit changes nothing that other services have in memory, although it writes to its tables. */
  readonly keepsMemory?: boolean
}
