import { LRUCache } from 'lru-cache'
import type { TableAction } from '../../model/actions.ts'
import type { Caller, KeyRole } from '../../model/caller.ts'
import { DomainError, excerpt } from '../../model/errors.ts'
import type { RegisteredTable } from '../../model/table.ts'
import type { Dialect } from '../../sql/dialect.ts'
import { createSharedCache, type SharedCache } from '../../sql/shared-cache.ts'
import { type Access, type AccessForm, createAccess, createForm } from './access.ts'
import { type FindOpenGrant, type Opened, type OpenGrant, openGrants } from './opened.ts'

/** Tokens whose accesses are cached. */
const MAX_TOKENS = 2000
/** Forms that are cached for each table: roles that open other fields, or have other rules. */
const MAX_FORMS = 100

const closedByRole = ({ name }: RegisteredTable) =>
  new DomainError('ACTION_NOT_ALLOWED', `The role does not open the table '${excerpt(name)}' for this request.`, {
    hint: 'GET /data/_me shows which tables are closed, and why.'
  })

interface RoleAccess {
  /** Those of reading, then those of the actions. */
  readonly grants: readonly (OpenGrant | null)[]
  readonly access: Access
}

/** By the actions of a request. */
type TokenAccesses = WeakMap<RegisteredTable, Map<string, RoleAccess>>

interface AccessRequest {
  readonly caller: Pick<Caller, 'integers'>
  readonly table: RegisteredTable
  /** All that the request needs. */
  readonly actions: readonly TableAction[]
}

const namesOf = (columns: readonly { readonly name: string }[]) => columns.map(({ name }) => name)

const formKey = (table: RegisteredTable, { visible, accepted, writable, presets, rowRule }: Opened, integers: string) =>
  JSON.stringify([
    integers,
    ...[visible, accepted, writable, presets.map(([column]) => column)].map(namesOf),
    rowRule?.(table).sql
  ])

interface Cache<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
}

const getOrCreate = <K, V>(map: Cache<K, V>, key: K, create: () => V): V => {
  const known = map.get(key)
  if (known !== undefined) return known
  const created = create()
  map.set(key, created)
  return created
}

/** Creates the function that returns what the role of a token opens in a table. It throws ACTION_NOT_ALLOWED. */
export const createRoleAccess = (dialect: Dialect, findOpenGrant: FindOpenGrant) => {
  const accesses = new LRUCache<KeyRole, TokenAccesses>({ max: MAX_TOKENS })
  const forms = new WeakMap<RegisteredTable, SharedCache<AccessForm>>()

  const formOf = (table: RegisteredTable, opened: Opened, { integers }: AccessRequest['caller']) => {
    const ofTable = getOrCreate(forms, table, () => createSharedCache<AccessForm>({ max: MAX_FORMS }))
    const key = formKey(table, opened, integers)
    const form = ofTable.get(key) ?? createForm(table, opened, { dialect, integers })
    ofTable.set(key, form)
    return form
  }

  return (role: KeyRole, { caller, table, actions }: AccessRequest): Access => {
    if (actions.length === 0) throw new Error('A token with a role needs an action.')
    const needed = actions.map((action) => {
      const grant = findOpenGrant(role, action, table)
      if (!grant) throw closedByRole(table)
      return grant
    })
    const reading = findOpenGrant(role, 'read', table)
    // An upsert returns the record, which may have existed.
    const isUpsert = actions.includes('create') && actions.includes('update')
    const joined = isUpsert && reading ? [...needed, reading] : needed
    const grants = [reading, ...joined]
    const ofRole = getOrCreate<KeyRole, TokenAccesses>(accesses, role, () => new WeakMap())
    const ofTable = getOrCreate(ofRole, table, () => new Map<string, RoleAccess>())
    const cached = ofTable.get(actions.join())
    if (cached?.grants.every((one, index) => one === grants[index])) return cached.access
    const opened = openGrants(table, joined, reading)
    const access = createAccess(table, opened, formOf(table, opened, caller))
    ofTable.set(actions.join(), { grants, access })
    return access
  }
}
