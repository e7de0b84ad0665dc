import type { Permissions } from '../../schemas/token.ts'
import type { Action } from '../../schemas/token-action.ts'
import type { TableAction } from '../model/actions.ts'
import { excerpt } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { Scope } from '../model/scope.ts'
import { fieldsWithoutRole } from '../model/visible-fields.ts'

const GRANTED: Record<Action, readonly TableAction[]> = {
  read: ['read'],
  write: ['create', 'update', 'delete', 'schema'],
  create: ['create'],
  update: ['update'],
  delete: ['delete'],
  schema: ['schema']
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
