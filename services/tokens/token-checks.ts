import { isNetwork } from '../../config.ts'
import type { Claims } from '../../schemas/role.ts'
import type { Permissions } from '../../schemas/token.ts'
import { excerpt, invalid } from '../model/errors.ts'
import { checkClaims } from '../roles/claims.ts'

/** What a request changes of the role of a token. Absent properties stay. */
interface RoleInput {
  readonly role?: string | null
  readonly claims?: Claims
  readonly permissions?: Permissions
}

export const PERMISSIONS_REQUIRED = {
  path: '/permissions',
  code: 'required',
  message: "'permissions' is required for a token without a role."
}

const hasPermissions = ({ tables, actions }: Permissions) => tables.length > 0 || actions.length > 0

/** @throws VALIDATION_FAILED for invalid claims, a token with a role and permissions, or with claims and no role */
export const checkRoleOrPermissions = (roleId: number | null, { permissions, claims = {} }: RoleInput) => {
  checkClaims(claims)
  if (roleId !== null && permissions && hasPermissions(permissions)) {
    const message = "A token has a 'role' or 'permissions', not both."
    throw invalid([{ path: '/permissions', code: 'conflict', message }], "Send 'role': null to give it permissions.")
  }
  if (roleId !== null || Object.keys(claims).length === 0) return
  throw invalid([{ path: '/claims', code: 'conflict', message: "'claims' are for a token with a 'role'." }])
}

/** @throws VALIDATION_FAILED */
export const checkNetworks = (networks: readonly string[] = []) => {
  const violations = networks.flatMap((network, index) =>
    isNetwork(network)
      ? []
      : {
          path: `/networks/${index}`,
          code: 'format',
          message: `'${excerpt(network)}' is not an address, or a network with a prefix of at least 1, such as 10.0.0.0/8. [] accepts all addresses.`
        }
  )
  if (violations.length > 0) throw invalid(violations)
}
