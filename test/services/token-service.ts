import type { Database } from '../../services/engine/database.ts'
import type { Clock } from '../../services/model/clock.ts'
import { createKeyRights } from '../../services/roles/key-rights.ts'
import { createRoleService } from '../../services/roles/roles.ts'
import type { RoleNames } from '../../services/tables/changes/renames.ts'
import { createTokenService as create } from '../../services/tokens/tokens.ts'

/** Creates the service of tokens with one of roles, for a database without registered tables. */
export const createTokenService = ({ db, clock }: { readonly db: Database; readonly clock: Clock }) => {
  const roles = createRoleService({ db, clock, onProblems: () => {} })
  const { scopeOf } = createKeyRights({ findRole: roles.find, findTable: () => undefined, onClosed: () => {} })
  return create({ db, clock, roles, scopeOf })
}

/** The names in grants of a service without roles. */
export const noRoleNames: RoleNames = {
  naming: () => [],
  expectUnnamed: () => ({ sql: 'SELECT 1 WHERE FALSE', params: [], expect: 0 }),
  renameTable: () => ({ unit: [], apply: () => {} }),
  renameField: () => ({ unit: [], apply: () => {} }),
  rolesUsing: () => [],
  rolesFollowingTo: () => []
}
