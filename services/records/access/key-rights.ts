import type { TableAction } from '../../model/actions.ts'
import type { KeyRole } from '../../model/caller.ts'
import type { RegisteredTable, Registration } from '../../model/table.ts'
import type { LiveRole } from '../../roles/roles.ts'
import type { Scope } from '../../tokens/permissions.ts'
import { ClosedGrant, compileLimits, type Limits } from './limits.ts'

interface KeyRightsOptions {
  readonly findRole: (id: number) => LiveRole | undefined
  /** Returns the registered table of this name, ignoring case. */
  readonly findTable: (name: string) => Registration | undefined
  /** Called once for each version of a role and a table that the role cannot open. */
  readonly onClosed: (role: LiveRole, table: RegisteredTable, reason: string) => void
}

/** The limits of an action on a table, with what they were made from. `limits`: null if the grant opens nothing. */
interface Compiled {
  readonly role: LiveRole
  readonly limits: Limits | null
}

/** Creates the functions that find out what the role of a key opens. */
export const createKeyRights = ({ findRole, findTable, onClosed }: KeyRightsOptions) => {
  const compiled = new WeakMap<KeyRole, WeakMap<RegisteredTable, Map<TableAction, Compiled>>>()
  const reported = new WeakMap<LiveRole, WeakSet<RegisteredTable>>()

  const report = (role: LiveRole, table: RegisteredTable, reason: string) => {
    const tables = reported.get(role) ?? new WeakSet()
    reported.set(role, tables)
    if (tables.has(table)) return
    tables.add(table)
    onClosed(role, table, reason)
  }

  const compile = (role: LiveRole, { claims }: KeyRole, action: TableAction, table: RegisteredTable): Limits | null => {
    const grant = role.index.find(action, table.name, table.structure.isView)
    if (!grant) return null
    try {
      return compileLimits(grant, table, { claims, findTable })
    } catch (error) {
      if (!(error instanceof ClosedGrant)) throw error
      report(role, table, error.message)
      return null
    }
  }

  const isCurrent = ({ limits }: Compiled) =>
    limits === null || limits.parents.every((parent) => findTable(parent.name) === parent)

  const cacheOf = (key: KeyRole, table: RegisteredTable) => {
    const ofKey = compiled.get(key) ?? new WeakMap<RegisteredTable, Map<TableAction, Compiled>>()
    compiled.set(key, ofKey)
    const ofTable = ofKey.get(table) ?? new Map<TableAction, Compiled>()
    ofKey.set(table, ofTable)
    return ofTable
  }

  /** Returns what the role opens for an action on a table. null: nothing. */
  const limitsOf = (key: KeyRole, action: TableAction, table: RegisteredTable): Limits | null => {
    const role = findRole(key.id)
    if (!role) return null
    const cache = cacheOf(key, table)
    const known = cache.get(action)
    if (known?.role === role && isCurrent(known)) return known.limits
    const limits = compile(role, key, action, table)
    cache.set(action, { role, limits })
    return limits
  }

  const allows = (key: KeyRole, action: TableAction, name: string): boolean => {
    const table = findTable(name)
    if (table?.structure && !table.isOutdated) return limitsOf(key, action, table) !== null
    return findRole(key.id)?.index.find(action, name, false) !== undefined
  }

  const ACTIONS: readonly TableAction[] = ['read', 'create', 'update', 'delete', 'schema']

  /** Returns the role of a key in the form of permissions. */
  const scopeOf = (key: KeyRole): Scope => ({
    reaches: (table) => ACTIONS.some((action) => allows(key, action, table)),
    grants: (action) => findRole(key.id)?.index.grants(action) ?? false,
    allows: (action, table) => allows(key, action, table)
  })

  return { limitsOf, scopeOf }
}

export type KeyRights = ReturnType<typeof createKeyRights>
