export interface UniqueField {
  readonly name: string
  /** The collation of the index. */
  readonly collation: string
}

/** Fields whose values identify one record: the primary key, or those of a unique index. */
export interface UniqueKey {
  readonly fields: readonly UniqueField[]
}

/** What a change may violate in a table whose constraints have an ON CONFLICT clause. */
export interface Conflicts {
  /** The folded names of the fields whose change may violate a UNIQUE constraint. */
  readonly fields: readonly string[]
  /** The fields of these constraints. null: a generated field is one of them, so its new value is not known. */
  readonly keys: readonly UniqueKey[] | null
}
