import type { Grant } from '../../schemas/role.ts'
import type { TableAction } from '../model/actions.ts'
import { foldName } from '../model/names.ts'
import { findRepeatedGrants } from '../model/repeated-grants.ts'

/** Stands for all tables without a grant of their own. */
export const EVERY_TABLE = '*'

/** The grants of a role, by table and action. */
export interface GrantIndex {
  /** Whether a grant lists the action for any table. */
  grants(action: TableAction): boolean
  /** Returns the grant that applies to a table and an action. `isView`: `*` covers no SQL view. */
  find(action: TableAction, table: string, isView: boolean): Grant | undefined
}

export const indexGrants = (grants: readonly Grant[]): GrantIndex => {
  /** null: two grants name the action and the table, so neither applies. */
  const byAction = new Map<string, Map<string, Grant | null>>()
  for (const grant of grants) {
    for (const action of grant.actions) {
      const byTable = byAction.get(action) ?? new Map<string, Grant | null>()
      byAction.set(action, byTable)
      for (const name of grant.tables) byTable.set(foldName(name), grant)
    }
  }
  for (const { action, table } of findRepeatedGrants(grants)) byAction.get(action)?.set(table, null)
  return {
    grants: (action) => byAction.has(action),
    find: (action, table, isView) => {
      const byTable = byAction.get(action)
      const own = byTable?.get(foldName(table))
      const grant = own === undefined && !isView ? byTable?.get(EVERY_TABLE) : own
      return grant ?? undefined
    }
  }
}
