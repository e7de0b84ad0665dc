import { LRUCache } from 'lru-cache'
import type { Grant } from '../../schemas/role.ts'
import type { TableAction } from '../model/actions.ts'
import type { KeyRole } from '../model/caller.ts'
import type { Scope } from '../model/scope.ts'
import type { RegisteredTable, Registration } from '../model/table.ts'
import type { VisibleFields } from '../model/visible-fields.ts'
import { type Limits, type LimitsOf, openLimited } from '../records/access/opened.ts'
import { ClosedGrant, compileGrant } from './limits.ts'
import type { LiveRole } from './roles.ts'

interface KeyRightsOptions {
  readonly findRole: (id: number) => LiveRole | undefined
  /** Returns the registered table of this name, ignoring case. */
  readonly findTable: (name: string) => Registration | undefined
  /** Called once for each version of a role and a table in which a grant opens nothing, at least for one token. */
  readonly onClosed: (role: LiveRole, table: RegisteredTable, reason: string) => void
}

/** A compiled grant, or why it opens nothing. */
type Compiled = Limits | ClosedGrant

const ACTIONS: readonly TableAction[] = ['read', 'create', 'update', 'delete', 'schema']

/** Tokens whose compiled grants are cached. */
const MAX_TOKENS = 2000

/** Creates the functions that find out what the role of a key opens. */
export const createKeyRights = ({ findRole, findTable, onClosed }: KeyRightsOptions) => {
  const compiled = new LRUCache<KeyRole, WeakMap<RegisteredTable, WeakMap<Grant, Limits>>>({ max: MAX_TOKENS })
  const reported = new WeakMap<LiveRole, WeakSet<RegisteredTable>>()

  const report = (role: LiveRole, table: RegisteredTable, { message }: ClosedGrant) => {
    const tables = reported.get(role) ?? new WeakSet()
    reported.set(role, tables)
    if (tables.has(table)) return
    tables.add(table)
    onClosed(role, table, message)
  }

  const isCurrent = ({ parents }: Limits) => parents.every((parent) => findTable(parent.name) === parent)

  const cacheOf = (key: KeyRole, table: RegisteredTable) => {
    const ofKey = compiled.get(key) ?? new WeakMap<RegisteredTable, WeakMap<Grant, Limits>>()
    compiled.set(key, ofKey)
    const ofTable = ofKey.get(table) ?? new WeakMap<Grant, Limits>()
    ofKey.set(table, ofTable)
    return ofTable
  }

  /** Returns the compiled grant for an action on a table; undefined if the role has none. */
  const compiledFor = (key: KeyRole, action: TableAction, table: RegisteredTable): Compiled | undefined => {
    const role = findRole(key.id)
    const grant = role?.index.find(action, table.name, table.structure.isView)
    if (!role || !grant) return undefined
    const cache = cacheOf(key, table)
    const known = cache.get(grant)
    if (known && isCurrent(known)) return known
    const made = compileGrant(grant, table, { claims: key.claims, findTable })
    // What is closed is compiled again: the table to which a rule leads may be registered later.
    if (made instanceof ClosedGrant) report(role, table, made)
    else cache.set(grant, made)
    return made
  }

  const limitsOf: LimitsOf = (key, action, table) => {
    const found = compiledFor(key, action, table)
    return found === undefined || found instanceof ClosedGrant ? null : found
  }

  const allows = (key: KeyRole, action: TableAction, name: string): boolean => {
    const table = findTable(name)
    if (table?.structure && table.isPublished && !table.isOutdated) return limitsOf(key, action, table) !== null
    // A table that a token cannot know is as one that does not exist, which has no fields to check.
    return findRole(key.id)?.index.find(action, name, false) !== undefined
  }

  const fieldsOf = (key: KeyRole, table: RegisteredTable): VisibleFields => {
    const reading = limitsOf(key, 'read', table)
    const open = (action: TableAction) => {
      const limits = limitsOf(key, action, table)
      return limits && openLimited(table, [limits], reading)
    }
    const [created, updated] = [open('create'), open('update')]
    const shown = open('read') ?? created ?? updated ?? open('schema') ?? open('delete')
    return {
      columns: shown?.visible ?? [],
      creatable: created?.writable ?? [],
      updatable: updated?.writable ?? [],
      presets: created?.presets.map(([column]) => column) ?? [],
      hasRule: shown?.rowRule != null
    }
  }

  /** Returns what the role opens for the token. */
  const scopeOf = (key: KeyRole): Scope => ({
    reaches: (table) => ACTIONS.some((action) => allows(key, action, table)),
    grants: (action) => findRole(key.id)?.index.grants(action) ?? false,
    allows: (action, table) => allows(key, action, table),
    fieldsOf: (table) => fieldsOf(key, table)
  })

  /** Returns why a grant of the role opens nothing in the table. undefined: each opens something, or the role has none. */
  const closedBy = (key: KeyRole, table: RegisteredTable): ClosedGrant | undefined =>
    ACTIONS.map((action) => compiledFor(key, action, table)).find((found) => found instanceof ClosedGrant)

  return { limitsOf, scopeOf, closedBy }
}

export type KeyRights = ReturnType<typeof createKeyRights>
