import type { IntegerFormat } from '../../schemas/token.ts'
import type { Column } from '../model/table.ts'
import type { Dialect } from './dialect.ts'

/** The columns of a table that a record shows. Keys share it: it holds no values. */
export interface RecordShape {
  /** The name of the table in the statement: its alias, if it has one. */
  readonly tableName: string
  readonly isStrict: boolean
  readonly columns: readonly Column[]
  readonly dialect: Dialect
  /** How JSON shows integers. CSV always shows all digits. */
  readonly integers: IntegerFormat
  /** The records to add in JSON. */
  readonly expansions?: readonly Expansion[]
}

/** A record to add to each record that refers to it. */
export interface Expansion {
  /** The column that refers. */
  readonly column: string
  readonly table: string
  /** The alias of the table in the statement. */
  readonly alias: string
  /** The unique column that it refers to. */
  readonly targetField: string
  /** The condition of the records that may be added, as SQL for the alias. null: all records. */
  readonly rule: string | null
  /** What the added record shows. */
  readonly shape: RecordShape
  readonly expansions: readonly Expansion[]
}
