import type { ForeignKey, Reference } from '../../schemas/table.ts'
import type { Column, RegisteredTable } from '../model/table.ts'

/** Whether a caller may know a field of a table. The table need not be registered. */
export type IsVisible = (table: string, field: string) => boolean

/** Returns the foreign keys whose fields are among the columns, and whose target the caller may know. */
export const visibleForeignKeys = (
  { structure }: RegisteredTable,
  columns: readonly Column[],
  isVisible: IsVisible
): readonly ForeignKey[] => {
  const names = new Set(columns.map(({ name }) => name))
  return structure.foreignKeys.filter(
    ({ fields, table, targetFields }) =>
      fields.every((name) => names.has(name)) && targetFields.every((field) => isVisible(table, field))
  )
}

/** Returns the foreign key that an expansion of a column follows. If the column has several, the first one counts. */
export const expandableKey = ({ structure }: RegisteredTable, column: Column) =>
  structure.foreignKeys.find(({ fields }) => fields.length === 1 && fields[0] === column.name)

/** Returns the targets of the foreign keys of one field, by the field. If a field has several, the first one counts. */
export const referencesOf = (foreignKeys: readonly ForeignKey[]): ReadonlyMap<string, Reference> => {
  const references = new Map<string, Reference>()
  for (const { fields, table, targetFields } of foreignKeys) {
    const [name, second] = fields
    const [field] = targetFields
    if (name === undefined || field === undefined || second !== undefined || references.has(name)) continue
    references.set(name, { table, field })
  }
  return references
}
