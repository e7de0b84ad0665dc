import type { Column } from '../model/table.ts'
import type { Dialect } from './dialect.ts'

/** The columns of a table that a record shows. */
export interface RecordShape {
  readonly tableName: string
  readonly isStrict: boolean
  readonly columns: readonly Column[]
  readonly dialect: Dialect
}
