import { DomainError, tableNotFound } from '../model/errors.ts'
import type { RegisteredTable } from '../model/table.ts'

const tableReadOnly = (table: string) =>
  new DomainError('TABLE_READ_ONLY', `The table '${table}' cannot be changed through tokens.`, {
    hint: 'An administrator can make it editable: PUT /admin/tables/:id.'
  })

/** The table that tokens know by this name. @throws TABLE_NOT_FOUND, also where it is not published; TABLE_READ_ONLY */
export const openToTokens = (table: RegisteredTable | undefined, name: string, isWrite: boolean): RegisteredTable => {
  if (!table?.isPublished) throw tableNotFound(name)
  if (isWrite && !table.isEditable) throw tableReadOnly(table.name)
  return table
}
