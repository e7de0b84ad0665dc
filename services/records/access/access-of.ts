import type { TableAction } from '../../model/actions.ts'
import type { Caller } from '../../model/caller.ts'
import type { RegisteredTable } from '../../model/table.ts'
import { shownColumns } from '../../model/visible-fields.ts'
import type { Dialect } from '../../sql/dialect.ts'
import { type Access, createAccess, createForm } from './access.ts'
import { type FindOpenGrant, openColumns } from './opened.ts'
import { createRoleAccess } from './role-access.ts'

/**
 * Returns the access of a caller to a table. `actions`: all that the request needs; only the rights of a role depend on them.
 * @throws STRUCTURE_CHANGED for an outdated table, ACTION_NOT_ALLOWED
 */
export type AccessOf = (caller: Caller, table: RegisteredTable, actions: readonly TableAction[]) => Access

/** The kinds of callers that do not see hidden columns. */
const NEVER_HIDDEN: readonly Caller['kind'][] = ['token', 'anonymous']

/** Only other actions compare a change with the stored record. */
const NEVER_COMPARED: readonly TableAction[] = ['read', 'create']

const mayCompare = (caller: Caller, { name }: RegisteredTable, actions: readonly TableAction[]) => {
  const isCompared = actions.length === 0 || actions.some((action) => !NEVER_COMPARED.includes(action))
  return !isCompared || caller.mayRead(name)
}

const seesHidden = ({ kind }: Caller) => !NEVER_HIDDEN.includes(kind)

/**
 * Creates the function that decides what a caller can read and change in a table.
 * Callers without a role share an access. A registered table is immutable, so it is valid as long as the table. A caller
 * without the right to read gets a copy that compares nothing.
 */
export const createAccessOf = (dialect: Dialect, findOpenGrant: FindOpenGrant): AccessOf => {
  const shared = new Map<string, WeakMap<RegisteredTable, Access>>()
  const roleAccess = createRoleAccess(dialect, findOpenGrant)

  const sharedAccess = (caller: Caller, table: RegisteredTable) => {
    const name = seesHidden(caller) ? 'all columns' : caller.integers
    const cache = shared.get(name) ?? new WeakMap<RegisteredTable, Access>()
    shared.set(name, cache)
    const cached = cache.get(table)
    if (cached) return cached
    const opened = openColumns(seesHidden(caller) ? table.structure.columns : shownColumns(table))
    const access = createAccess(table, opened, createForm(table, opened, { dialect, integers: caller.integers }))
    cache.set(table, access)
    return access
  }

  return (caller, table, actions) => {
    if (caller.role) return roleAccess(caller.role, { caller, table, actions })
    const access = sharedAccess(caller, table)
    return mayCompare(caller, table, actions) ? access : { ...access, mayCompare: false }
  }
}
