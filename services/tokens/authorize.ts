import { suggestName } from '../../schemas/similar-names.ts'
import type { Permissions } from '../../schemas/token.ts'
import type { TableAction } from '../model/actions.ts'
import type { KeyRole } from '../model/caller.ts'
import { DomainError, excerpt } from '../model/errors.ts'
import type { Scope } from '../model/scope.ts'

interface Scoped {
  readonly scope: Scope
  readonly permissions: Pick<Permissions, 'tables'>
  /** null: the permissions say what the token opens. */
  readonly role: KeyRole | null
  /** Present for a view of a token, which only reads. */
  readonly onlyReads?: true
}

/** @throws ACTION_NOT_ALLOWED for a view of a token, which changes nothing */
export const refuseView = ({ onlyReads }: Scoped) => {
  if (!onlyReads) return
  throw new DomainError('ACTION_NOT_ALLOWED', 'This is a view of a token, which only reads.', {
    hint: 'Send the token itself to change records.'
  })
}

const reason = ({ scope, role }: Scoped, action: TableAction, table: string | undefined) => {
  const object = table === undefined ? 'the table to create' : `the table '${excerpt(table)}'`
  if (role) return `The role does not open the action '${action}' on ${object}.`
  if (scope.grants(action)) return `The token's tables do not include ${object}.`
  return `The token needs the action ${action === 'read' ? "'read'" : `'${action}' (or 'write')`} on ${object}.`
}

/**
 * Checks that a token may perform an action on a table. The table need not exist: the error does not reveal it.
 * `table` is undefined before the body that names it has been read. Then only the action is checked. `shown`: the name of
 * the table in the request, which the error shows. The hint has a similar name only of the permissions of the token.
 * @throws ACTION_NOT_ALLOWED
 */
export const authorize = (token: Scoped, action: TableAction, table: string | undefined, shown = table) => {
  const { scope } = token
  if (action !== 'read') refuseView(token)
  if (table === undefined ? scope.grants(action) : scope.allows(action, table)) return
  const others = token.permissions.tables.filter((name) => name !== shown)
  const similar = scope.grants(action) && shown !== undefined ? suggestName(shown, others) : undefined
  const remedy = token.role
    ? 'GET /data/_me shows which tables are closed, and why. An administrator can change the role, or the claims of the token: PUT /admin/roles/:id, PUT /admin/tokens/:id.'
    : 'An administrator can change the permissions: PUT /admin/tokens/:id.'
  const hint = [similar ?? [], remedy].flat().join(' ')
  throw new DomainError('ACTION_NOT_ALLOWED', reason(token, action, shown), { hint })
}
