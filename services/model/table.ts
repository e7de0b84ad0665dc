import type { Field, JsonType, Table } from '../../schemas/table.ts'

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

/** What an administrator chose for a column. */
export interface FieldChoices {
  readonly name: string
  readonly label: string
  readonly jsonType: JsonType
  readonly isHidden: boolean
  readonly isReadonly: boolean
  /**
   * Only for a key that was declared here: whether it is reported as nullable. SQLite reports every text key that is
   * made here as NOT NULL.
   */
  readonly isNullableKey?: boolean
}

/** What an administrator chose for a table: all that the registry stores of its structure. */
export interface Choices {
  /** In the order of registration. A column that is not among them is not served before a refresh. */
  readonly fields: readonly FieldChoices[]
  readonly autoTimestamps: boolean
}

/** A table as the registry holds it in memory. Immutable: a change makes a new one. */
export interface RegisteredTable extends Omit<Table, 'fields' | 'primaryKey'> {
  readonly choices: Choices
  /** Follows from the choices, and from what SQLite reported when the table was loaded. */
  readonly structure: Structure
  /**
   * The stored table is gone, is not an ordinary table, or has another key than the one that is registered. Calls for
   * its records fail with STRUCTURE_CHANGED until a refresh.
   */
  readonly isOutdated: boolean
}

/** A row of the registry whose choices cannot be read. It is listed, and can only be unregistered. */
export interface UnusableTable extends Omit<RegisteredTable, 'choices' | 'structure' | 'isOutdated'> {
  readonly structure: null
  readonly isPublished: false
  readonly isEditable: false
  /** Whether tokens could use the table before. */
  readonly wasPublished: boolean
  /** Why the choices cannot be read. */
  readonly problem: string
}

export type Registration = RegisteredTable | UnusableTable
