import type { TableAction } from './actions.ts'
import type { RegisteredTable } from './table.ts'
import type { VisibleFields } from './visible-fields.ts'

/** What a token may do. */
export interface Scope {
  /** Whether the token may do anything with the table. */
  reaches(table: string): boolean
  /** Whether the token has the action, on any table. */
  grants(action: TableAction): boolean
  /** Whether the token may perform the action on the table. */
  allows(action: TableAction, table: string): boolean
  /** Returns the fields of a table that exist for the token. */
  fieldsOf(table: RegisteredTable): VisibleFields
}
