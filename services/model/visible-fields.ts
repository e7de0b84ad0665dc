import type { Column, RegisteredTable } from './table.ts'

/** What exists of the fields of a table for a token. */
export interface VisibleFields {
  /** The fields that the token sees. */
  readonly columns: readonly Column[]
  /** The fields that it can set in a create. */
  readonly creatable: readonly Column[]
  /** The fields that it can set in an update. */
  readonly updatable: readonly Column[]
  /** The fields that a create fills in, and that the token cannot send. */
  readonly presets: readonly Column[]
  /** Whether the token sees only some of the records. */
  readonly hasRule: boolean
}

/** Returns the columns that are not hidden. */
export const shownColumns = ({ structure }: RegisteredTable): readonly Column[] =>
  structure.columns.filter((column) => !column.isHidden)

const withoutRole = new WeakMap<RegisteredTable, VisibleFields>()

/** Returns the fields of a table for a token without a role: the same object for the same table. */
export const fieldsWithoutRole = (table: RegisteredTable): VisibleFields => {
  const known = withoutRole.get(table)
  if (known) return known
  const columns = shownColumns(table)
  const writable = columns.filter(({ isReadonly }) => !isReadonly)
  const fields = { columns, creatable: writable, updatable: writable, presets: [], hasRule: false }
  withoutRole.set(table, fields)
  return fields
}
