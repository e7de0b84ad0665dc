import type { Claims } from '../../schemas/role.ts'
import type { Permissions } from '../../schemas/token.ts'
import type { KeyRole } from '../model/caller.ts'
import { isJsonObject } from '../model/json-object.ts'
import type { Scope } from '../model/scope.ts'
import type { Row } from '../model/sql-value.ts'
import { createScope } from './permissions.ts'
import { createShared } from './shared.ts'

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

const parseRole = (id: number, claims: string): KeyRole => ({ id, claims: parseClaims(claims) })

/** Maximum number of cached values. An evicted value is parsed again. */
const MAX_SHARED = 1000

/** Creates the functions that read what a token opens from its row. Tokens with the same text share one object. */
export const createStoredAccess = () => {
  const sharedPermissions = createShared(MAX_SHARED, parsePermissions)
  const sharedRole = createShared(MAX_SHARED, parseRole)

  const permissionsOf = (row: Row): StoredPermissions => sharedPermissions(row.permissions as string)

  /** Returns null for a token without a role. */
  const roleOf = ({ role_id: id, claims }: Row): KeyRole | null =>
    id === null ? null : sharedRole(id as number, claims as string)

  return { permissionsOf, roleOf }
}
