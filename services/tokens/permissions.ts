import type { Action, Permissions } from '../../schemas/token.ts'
import type { TableAction } from '../model/actions.ts'
import { excerpt } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { RegisteredTable } from '../model/table.ts'
import { fieldsWithoutRole, type VisibleFields } from '../model/visible-fields.ts'

const GRANTED: Record<Action, readonly TableAction[]> = {
  read: ['read'],
  write: ['create', 'update', 'delete', 'schema'],
  create: ['create'],
  update: ['update'],
  delete: ['delete'],
  schema: ['schema']
}

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

/**
 * Returns the permissions of a token in a form that is fast to check on every request. Names ignore the case of ASCII
 * letters only, as in SQLite: with Unicode folding, a scope on the table k would include the table K (Kelvin sign).
 */
export const createScope = ({ tables, actions }: Permissions): Scope => {
  const granted = new Set(actions.flatMap((action) => GRANTED[action]))
  const names = new Set(tables.map(foldName))
  const includesAll = names.has('*')
  const includes = (table: string) => includesAll || names.has(table) || names.has(foldName(table))
  return {
    reaches: (table) => granted.size > 0 && includes(table),
    grants: (action) => granted.has(action),
    allows: (action, table) => granted.has(action) && includes(table),
    fieldsOf: fieldsWithoutRole
  }
}

/** Returns the similar or other name of a registered table, as the hint "Did you mean 'name'?". */
type Suggest = (table: string) => string | undefined

/** Returns a sentence for each table that is not registered. A token may name tables that will exist later. */
export const unknownTables = (
  { tables }: Permissions,
  isRegistered: (table: string) => boolean,
  suggest: Suggest
): string[] => {
  if (tables.includes('*')) return []
  const unknown = new Map(tables.filter((name) => !isRegistered(name)).map((name) => [foldName(name), name]))
  return [...unknown.values()].map((name) =>
    [`There is no table '${excerpt(name)}' now. The token can use it as soon as it is registered.`, suggest(name) ?? []]
      .flat()
      .join(' ')
  )
}
