import { LRUCache } from 'lru-cache'
import type { Claims } from '../../schemas/role.ts'
import type { Permissions } from '../../schemas/token.ts'
import type { KeyRole } from '../model/caller.ts'
import { isJsonObject } from '../model/json-object.ts'
import type { Scope } from '../model/scope.ts'
import type { Row } from '../model/sql-value.ts'
import { createScope } from './permissions.ts'

/** What the permissions of a token open. */
export interface StoredPermissions {
  readonly permissions: Permissions
  readonly scope: Scope
  /** false: the text is invalid, and opens nothing. Only another program can have written it. */
  readonly isValid: boolean
}

export const NO_PERMISSIONS: Permissions = { tables: [], actions: [] }

const parsePermissions = (text: string): StoredPermissions => {
  try {
    const permissions = JSON.parse(text) as Permissions
    return { permissions, scope: createScope(permissions), isValid: true }
  } catch {
    return { permissions: NO_PERMISSIONS, scope: createScope(NO_PERMISSIONS), isValid: false }
  }
}

/** Returns no claims for text that is not a JSON object, which only another program can have written: then rules open nothing. */
const parseClaims = (text: string): Claims => {
  try {
    const claims: unknown = JSON.parse(text)
    return isJsonObject(claims) ? (claims as Claims) : {}
  } catch {
    return {}
  }
}

/** Different values that are shared. Those beyond are parsed for each token. */
const MAX_SHARED = 1000

/** Creates the functions that read what a token opens from its row. Tokens with the same text share one object. */
export const createStoredAccess = () => {
  const permissions = new LRUCache<string, StoredPermissions>({ max: MAX_SHARED })
  const roles = new LRUCache<string, KeyRole>({ max: MAX_SHARED })

  const permissionsOf = (row: Row): StoredPermissions => {
    const text = row.permissions as string
    const known = permissions.get(text) ?? parsePermissions(text)
    permissions.set(text, known)
    return known
  }

  /** Returns null for a token without a role. */
  const roleOf = ({ role_id: id, claims }: Row): KeyRole | null => {
    if (id === null) return null
    const key = `${id} ${claims}`
    const known = roles.get(key) ?? { id: id as number, claims: parseClaims(claims as string) }
    roles.set(key, known)
    return known
  }

  return { permissionsOf, roleOf }
}
