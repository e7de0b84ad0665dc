import type { Field, Table } from '../../schemas/table.ts'

/** A field as it is registered: what clients see of it, and what only SQL needs to know. */
export interface Column extends Field {
  /** The type as it was declared; '' where there is none. */
  readonly declaredType: string
  readonly isGenerated: boolean
}

/** How the stored table works, as far as SQL for it has to know. Read from SQLite at import and refresh. */
export interface Structure {
  readonly columns: readonly Column[]
  readonly isStrict: boolean
  /** The names of the key's columns in the key's order; the name of the rowid where the table declares no key. */
  readonly key: readonly string[]
  /** The key is the rowid itself: an integer, never null, generated when it is not sent. */
  readonly isRowidKey: boolean
  /** A name that reaches the rowid; null in a WITHOUT ROWID table, and where columns hide every such name. */
  readonly rowid: string | null
  /** The columns of `TIMESTAMPS` are kept by the service. */
  readonly autoTimestamps: boolean
}

export const UPDATED_AT = 'updated_at'
/** The columns that `autoTimestamps` adds. */
export const TIMESTAMPS: readonly string[] = ['created_at', UPDATED_AT]

/** What SQLite or we fill in; it is read-only. */
export const isFilledIn = ({ autoTimestamps }: Structure, { isGenerated, name }: Column) =>
  isGenerated || (autoTimestamps && TIMESTAMPS.includes(name))

/** A new record must have it: no value is made where none is sent. */
export const isRequired = (structure: Structure, column: Column) =>
  !isFilledIn(structure, column) &&
  column.defaultValue === null &&
  !(column.isPrimary ? structure.isRowidKey : column.nullable)

/** A table as the registry keeps it in memory. Immutable: a change makes a new one. */
export interface RegisteredTable extends Omit<Table, 'fields' | 'primaryKey'> {
  readonly structure: Structure
}
