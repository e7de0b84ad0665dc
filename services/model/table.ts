import type { Field, Table } from '../../schemas/table.ts'

/** A field as it is registered: the properties in responses, and those that only SQL uses. */
export interface Column extends Field {
  /** The declared type; '' if there is none. */
  readonly declaredType: string
  readonly isGenerated: boolean
}

/** The properties of the stored table that its SQL depends on. Read from SQLite at import and refresh. */
export interface Structure {
  readonly columns: readonly Column[]
  readonly isStrict: boolean
  /** The names of the key's columns in the key's order; the name of the rowid if the table declares no key. */
  readonly key: readonly string[]
  /** The key is the rowid: an integer, never null, generated if a new record has none. */
  readonly isRowidKey: boolean
  /** A name for the rowid; null in a WITHOUT ROWID table, or if columns hide every name. */
  readonly rowid: string | null
  /** The service sets the columns of `TIMESTAMPS`. */
  readonly autoTimestamps: boolean
}

export const UPDATED_AT = 'updated_at'
/** The columns that `autoTimestamps` adds. */
export const TIMESTAMPS: readonly string[] = ['created_at', UPDATED_AT]

/** Whether SQLite or the service sets the column, so that it is read-only. */
export const isFilledIn = ({ autoTimestamps }: Structure, { isGenerated, name }: Column) =>
  isGenerated || (autoTimestamps && TIMESTAMPS.includes(name))

/** Whether a new record must have a value: there is no default and nothing generates one. */
export const isRequired = (structure: Structure, column: Column) =>
  !isFilledIn(structure, column) &&
  column.defaultValue === null &&
  !(column.isPrimary ? structure.isRowidKey : column.nullable)

/** A table in the registry's memory. Immutable: a change creates a new one. */
export interface RegisteredTable extends Omit<Table, 'fields' | 'primaryKey'> {
  readonly structure: Structure
}
