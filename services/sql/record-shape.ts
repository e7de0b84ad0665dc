import type { IntegerFormat } from '../../schemas/token.ts'
import type { Column } from '../model/table.ts'
import type { Dialect } from './dialect.ts'

/** The columns of a table that a record shows. */
export interface RecordShape {
  readonly tableName: string
  readonly isStrict: boolean
  readonly columns: readonly Column[]
  readonly dialect: Dialect
  /** How JSON shows integers. CSV always shows all digits. */
  readonly integers: IntegerFormat
}
