import type { Claims } from '../../schemas/role.ts'
import type { IntegerFormat, Permissions } from '../../schemas/token.ts'
import type { KeyRole } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import type { Scope } from '../model/scope.ts'
import type { KeyRights } from '../roles/key-rights.ts'
import type { RoleService } from '../roles/roles.ts'
import { invalidToken } from './invalid-token.ts'

/** What a key without a row in the database is made of. */
export interface KeySource {
  /** Unique among these keys. */
  readonly name: string
  readonly roleName: string
  readonly claims: Claims
  /** Epoch milliseconds; null: the key does not expire. */
  readonly expiresAt: number | null
}

/** A key that Rowhouse has not issued. It has the role of this name. */
export interface NamedKey extends Omit<KeySource, 'claims'> {
  readonly id: 0
  readonly permissions: Permissions
  readonly role: KeyRole
  readonly scope: Scope
  readonly integers: IntegerFormat
}

/** Called with the reason why a key is invalid, for the log. `kind`: reasons of the same kind have the same one. */
export type OnInvalidKey = (kind: string, reason: string) => void

interface NamedKeysOptions {
  readonly roles: Pick<RoleService, 'find' | 'findByExactName'>
  readonly scopeOf: KeyRights['scopeOf']
  readonly clock: Clock
  readonly onInvalid: OnInvalidKey
}

const PERMISSIONS: Permissions = { tables: [], actions: [] }

/** Creates the functions that make keys without a row in the database, and check them again. */
export const createNamedKeys = ({ roles, scopeOf, clock, onInvalid }: NamedKeysOptions) => {
  /** @throws INVALID_TOKEN if there is no such role */
  const create = ({ name, roleName, claims, expiresAt }: KeySource): NamedKey => {
    const found = roles.findByExactName(roleName)
    if (!found) {
      onInvalid(`role ${roleName}`, `There is no role '${roleName}'. The case of its letters counts.`)
      throw invalidToken()
    }
    const role = { id: found.id, claims }
    return {
      id: 0,
      name,
      roleName,
      permissions: PERMISSIONS,
      role,
      scope: scopeOf(role),
      expiresAt,
      integers: 'auto'
    }
  }

  /**
   * Returns the latest state of a key: the same object, unless another role has its name now.
   * @throws INVALID_TOKEN if the key has expired, or if its role is gone
   */
  const current = (key: NamedKey): NamedKey => {
    if (key.expiresAt !== null && clock() >= key.expiresAt) {
      onInvalid('expired', 'It has expired.')
      throw invalidToken()
    }
    const role = roles.find(key.role.id)
    return role?.name === key.roleName ? key : create({ ...key, claims: key.role.claims })
  }

  return { create, current }
}

export type NamedKeys = ReturnType<typeof createNamedKeys>
