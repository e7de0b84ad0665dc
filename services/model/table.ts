import type { Field, ForeignKey, JsonType, SearchIndex, Table } from '../../schemas/table.ts'
import type { SqlValue } from './sql-value.ts'
import type { Conflicts } from './unique-key.ts'

/** What the CHECK constraints of a table require of the values of one column. NULL passes every check. */
export type Checks = Pick<Field, 'allowedValues' | 'minimum' | 'maximum' | 'minLength' | 'maxLength'>

/** A format of JSON Schema: `2026-01-31`, `2026-01-31T09:30:00Z`. */
export type DateFormat = 'date' | 'date-time'

/** What a DEFAULT clause contains. `time`: CURRENT_TIMESTAMP and the like, which are texts. */
export type DefaultLiteral = 'none' | 'text' | 'number' | 'blob' | 'time' | 'expression'

/** The properties of a field that follow from its table, or from choices of an administrator that no SQL needs. */
type Derived = 'clientName' | 'isRequired' | 'isNullable' | 'isExact' | 'defaultKind' | 'references' | keyof Checks

/** The facts that follow from the indexes of a table. */
type IndexFacts = 'isIndexed' | 'isUnique'

/** A field without them. */
export type PlainField = Omit<Field, Derived | IndexFacts>

/** A field as clients see it, with the properties that only SQL needs. */
export interface Column extends PlainField, Pick<Field, IndexFacts> {
  /** The type as it was declared; '' for a column without one. */
  readonly declaredType: string
  readonly isGenerated: boolean
  /** Only for a generated column of a table: the folded names in its declaration. They may also be functions and keywords. */
  readonly computedFrom?: readonly string[]
  /** Whether SQLite refuses NULL, whatever `nullable` reports. */
  readonly isNotNull: boolean
  readonly defaultLiteral: DefaultLiteral
  /** Only for a key with a default: the default, as an SQL expression. */
  readonly keyDefault?: string
  readonly checks: Checks
  /** The format that a CHECK constraint requires of every value: see `dateFormats`. */
  readonly dateFormat?: DateFormat
}

/** What the values of a column can be. */
export type ColumnType = Pick<Column, 'jsonType' | 'sqliteType' | 'declaredType'>

/** A column of a stored table. Both names are folded. */
export interface Origin {
  readonly table: string
  readonly column: string
}

/** What an SQL view reads. Names are folded. */
export interface ViewSources {
  /** The stored column that a column of the view shows; null if it may show others, too. */
  readonly origins: readonly { readonly name: string; readonly origin: Origin | null }[]
  /** The tables that it reads, and the views that it may read. */
  readonly reads: readonly string[]
}

/** The properties of a stored table that its SQL depends on. */
export interface Structure {
  readonly columns: readonly Column[]
  /** It is an SQL view, which can only be read. It has no rowid, and `key` is empty unless an administrator named one. */
  readonly isView: boolean
  /** Only for an SQL view that SQLite could prepare. */
  readonly sources?: ViewSources
  readonly isStrict: boolean
  /** The names of the key's columns, in the key's order. A table that declares no key has the name of its rowid here. */
  readonly key: readonly string[]
  /** The key is the rowid itself: an integer that is never null, and that SQLite generates if it is not sent. */
  readonly isRowidKey: boolean
  /** A name of the rowid. null for a WITHOUT ROWID table, and for a table whose columns hide every such name. */
  readonly rowid: string | null
  /**
   * Two records may have keys that are equal by the collations of the columns, and no rowid. The index of the key may
   * have another collation than its column.
   */
  readonly hasCollatedKey: boolean
  /** null: no constraint of the table has an ON CONFLICT clause, such as REPLACE, which deletes another record. */
  readonly conflicts: Conflicts | null
  /** Those whose target exists, in the order of their declaration. The target may not be registered. */
  readonly foreignKeys: readonly ForeignKey[]
  /** Whether the service sets the columns of `TIMESTAMPS`. */
  readonly autoTimestamps: boolean
}

export const UPDATED_AT = 'updated_at'
/** The columns that `autoTimestamps` adds. */
export const TIMESTAMPS: readonly string[] = ['created_at', UPDATED_AT]

/** Whether SQLite or the service sets the value. Such a column is read-only. */
export const isFilledIn = ({ autoTimestamps }: Structure, { isGenerated, name }: Column) =>
  isGenerated || (autoTimestamps && TIMESTAMPS.includes(name))

/** Whether a new record must have a value: neither SQLite nor the service sets one. */
export const isRequired = (structure: Structure, column: Column) =>
  !isFilledIn(structure, column) &&
  column.defaultValue === null &&
  !(column.isPrimary ? structure.isRowidKey : column.nullable)

/** Whether a stored value may be null. SQLite generates a missing key that is the rowid. */
export const isNullable = ({ isRowidKey }: Structure, { isPrimary, isNotNull }: Column) =>
  !isNotNull && !(isPrimary && isRowidKey)

/** Returns the name of the rowid if a later statement finds the same record by it; null: by the key. */
export const lastingRowid = ({ structure, hasPassingRowid }: Pick<RegisteredTable, 'structure' | 'hasPassingRowid'>) =>
  hasPassingRowid ? null : structure.rowid

/** Where the build of a search index is. */
export interface BuildProgress {
  /** Differs for each build. */
  readonly build: string
  /** The last key that is indexed, as text; null before the first step. */
  readonly after: string | null
  /** Rows that the build has indexed. */
  readonly indexed: number
  /** Rows of the table when the build began; an estimate. */
  readonly total: number
  readonly isComplete: boolean
}

/** What an administrator chose for a column. */
export interface FieldChoices {
  readonly name: string
  /** The name of the field in generated clients. Unique in its table. */
  readonly clientName: string
  readonly label: string
  readonly jsonType: JsonType
  readonly isHidden: boolean
  /**
   * Only for a field of an SQL view and a generated field: the hidden columns that an administrator lets it show. By the id
   * of the table and the folded name: `3.password`; `own.password` for a column of the same table.
   */
  readonly unhides?: readonly string[]
  readonly isReadonly: boolean
  /**
   * Only for a field of the key: whether the API reports it as nullable. SQLite reports each text key of a table that was
   * created through the API as NOT NULL.
   */
  readonly isNullableKey?: boolean
  /** The declared type under which every stored value was found to fit the field. Absent if one does not fit. */
  readonly exactType?: string
}

/** What an administrator chose for a table: all that the registry stores of its structure. */
export interface Choices {
  /** The name of the table in generated clients. No name that a client derives from it is used by another table. */
  readonly clientName: string
  /** In the order of registration. A column that is not among them is not served before a refresh. */
  readonly fields: readonly FieldChoices[]
  readonly autoTimestamps: boolean
  /** The field that names a record for people; null: none. Absent if an earlier version has registered the table. */
  readonly labelField?: string | null
  /** Only for an SQL view: the names of the columns that identify its rows. Empty without a key. */
  readonly viewKey?: readonly string[]
}

/** The search index of a table as the registry holds it. */
export interface TableSearchIndex extends SearchIndex {
  /** As `_rowhouse_meta` has it; null without a search index. */
  readonly progress: BuildProgress | null
  /** The declarations that the file needs for the table as it is now. */
  readonly declarations: readonly string[]
}

/** A hidden column of a registered table. */
export interface HiddenSource {
  /** As in `unhides`. */
  readonly id: string
  readonly table: string
  readonly column: string
}

/** By the name of a field. */
export type HiddenSources = ReadonlyMap<string, readonly HiddenSource[]>

/** Why the nodes of a cluster would store different values: docs/decisions/0048-replicable-tables.md. */
export interface Unreplicable {
  /** What the sentence is about: "the trigger 'logged' of 'cats'". */
  readonly subject: string
  readonly cause: string
  /** What to do. */
  readonly remedy: string
}

export interface TimeDefault {
  readonly column: Column
  /** Returns the default at a time in epoch milliseconds. */
  valueAt(now: number): SqlValue
}

/** A table as the registry holds it in memory. Immutable: a change makes a new one. */
export interface RegisteredTable
  extends Omit<
    Table,
    | 'fields'
    | 'primaryKey'
    | 'clientName'
    | 'kind'
    | 'foreignKeys'
    | 'warnings'
    | 'searchIndex'
    | 'labelField'
    | 'tokens'
  > {
  readonly choices: Choices
  /** Follows from the choices, and from what SQLite reported when the table was loaded. */
  readonly structure: Structure
  /**
   * The stored table is gone, has another kind or another key than the one that is registered, or is a view that SQLite
   * cannot prepare. Calls for its records fail with STRUCTURE_CHANGED until a refresh.
   */
  readonly isOutdated: boolean
  /** The fields that are hidden because they may show hidden columns, with these columns. */
  readonly hiddenSources?: HiddenSources
  /** The names of the fields whose values all have the type of the field, and keep it in writes through the API. */
  readonly exactFields: ReadonlySet<string>
  /** A trigger that a write reaches has a conflict clause, or writes to a table that declares one. */
  readonly hasConflictTriggers: boolean
  readonly searchIndex: TableSearchIndex
  /** Why the nodes of a cluster would store different values. Absent: they store the same ones, or there is one file. */
  readonly unreplicable?: Unreplicable
  /** A table of a cluster whose rowid is no column. VACUUM of a node may change it, so later statements use the key. */
  readonly hasPassingRowid?: true
  /** The columns of a cluster whose default depends on the time, so that each insert sets them. */
  readonly timeDefaults?: readonly TimeDefault[]
}

/** A row of the registry whose choices cannot be read. It is listed, and can only be unregistered. */
export interface UnusableTable
  extends Omit<
    RegisteredTable,
    'choices' | 'structure' | 'isOutdated' | 'hiddenSources' | 'exactFields' | 'hasConflictTriggers' | 'searchIndex'
  > {
  readonly structure: null
  readonly isPublished: false
  readonly isEditable: false
  /** Whether tokens could use the table before. */
  readonly wasPublished: boolean
  /** Why the choices cannot be read. */
  readonly problem: string
}

export type Registration = RegisteredTable | UnusableTable
