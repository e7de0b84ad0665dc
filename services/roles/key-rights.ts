import { LRUCache } from 'lru-cache'
import type { Claims, Grant } from '../../schemas/role.ts'
import { tableActions } from '../../schemas/token-action.ts'
import type { TableAction } from '../model/actions.ts'
import type { KeyRole } from '../model/caller.ts'
import type { RegisteredTable, Registration } from '../model/table.ts'
import type { FindOpenGrant, OpenGrant } from '../records/access/opened.ts'
import { ClosedGrant, compileGrant } from './compile-grant.ts'
import { createScopeOf } from './role-scope.ts'
import type { LiveRole } from './roles.ts'

interface KeyRightsOptions {
  readonly findRole: (id: number) => LiveRole | undefined
  /** Returns the registered table of this name, ignoring case. */
  readonly findTable: (name: string) => Registration | undefined
  /** Called once for each version of a role and a table in which a grant opens nothing, at least for one token. */
  readonly onClosed: (role: LiveRole, table: RegisteredTable, reason: string) => void
}

/** A compiled grant, or why it opens nothing. */
type Compiled = OpenGrant | ClosedGrant

/** The grant that decides about an action on a table. */
export interface Decision {
  readonly role: LiveRole
  readonly grant: Grant
  /** The claims of the key. */
  readonly claims: Claims
  /** Why the grant opens nothing; null if it opens something. */
  readonly closed: ClosedGrant | null
}

/** Tokens whose compiled grants are cached. */
const MAX_TOKENS = 2000

/** Creates the functions that find out what the role of a key opens. */
export const createKeyRights = ({ findRole, findTable, onClosed }: KeyRightsOptions) => {
  const compiled = new LRUCache<KeyRole, WeakMap<RegisteredTable, WeakMap<Grant, OpenGrant>>>({ max: MAX_TOKENS })
  const reported = new WeakMap<LiveRole, WeakSet<RegisteredTable>>()

  const report = (role: LiveRole, table: RegisteredTable, { message }: ClosedGrant) => {
    const tables = reported.get(role) ?? new WeakSet()
    reported.set(role, tables)
    if (tables.has(table)) return
    tables.add(table)
    onClosed(role, table, message)
  }

  const isCurrent = ({ parents }: OpenGrant) => parents.every((parent) => findTable(parent.name) === parent)

  const cacheOf = (key: KeyRole, table: RegisteredTable) => {
    const ofKey = compiled.get(key) ?? new WeakMap<RegisteredTable, WeakMap<Grant, OpenGrant>>()
    compiled.set(key, ofKey)
    const ofTable = ofKey.get(table) ?? new WeakMap<Grant, OpenGrant>()
    ofKey.set(table, ofTable)
    return ofTable
  }

  const grantFor = ({ id }: KeyRole, action: TableAction, table: RegisteredTable) => {
    const role = findRole(id)
    const grant = role?.index.find(action, table.name, table.structure.isView)
    return role && grant && { role, grant }
  }

  /** Returns the compiled grant for an action on a table; undefined if the role has none. */
  const compiledFor = (key: KeyRole, action: TableAction, table: RegisteredTable): Compiled | undefined => {
    const found = grantFor(key, action, table)
    if (!found) return undefined
    const { role, grant } = found
    const cache = cacheOf(key, table)
    const known = cache.get(grant)
    if (known && isCurrent(known)) return known
    const made = compileGrant(grant, table, { claims: key.claims, findTable })
    // A closed grant is compiled again: the table to which a rule leads may be registered later.
    if (made instanceof ClosedGrant) report(role, table, made)
    else cache.set(grant, made)
    return made
  }

  const findOpenGrant: FindOpenGrant = (key, action, table) => {
    const found = compiledFor(key, action, table)
    return found === undefined || found instanceof ClosedGrant ? null : found
  }

  const scopeOf = createScopeOf({ findRole, findTable, findOpenGrant })

  /** Returns why a grant of the role opens nothing in the table. undefined: each opens something, or the role has none. */
  const closedBy = (key: KeyRole, table: RegisteredTable): ClosedGrant | undefined =>
    tableActions.map((action) => compiledFor(key, action, table)).find((found) => found instanceof ClosedGrant)

  /** Returns the grant that decides about an action on a table; undefined if the role has none. */
  const decisionOf = (key: KeyRole, action: TableAction, table: RegisteredTable): Decision | undefined => {
    const found = grantFor(key, action, table)
    if (!found) return undefined
    const compiled = compiledFor(key, action, table)
    return { ...found, claims: key.claims, closed: compiled instanceof ClosedGrant ? compiled : null }
  }

  return { findOpenGrant, scopeOf, closedBy, decisionOf }
}

export type KeyRights = ReturnType<typeof createKeyRights>
