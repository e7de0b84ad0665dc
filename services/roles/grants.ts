import type { Grant } from '../../schemas/role.ts'
import type { Action } from '../../schemas/token-action.ts'
import type { TableAction } from '../model/actions.ts'
import { invalid } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import { checkRule } from './rule-form.ts'

/** Stands for all tables without a grant of their own. */
export const EVERY_TABLE = '*'

/** The grants of a role, by table and action. */
export interface GrantIndex {
  /** Whether a grant lists the action for any table. */
  grants(action: TableAction): boolean
  /** Returns the grant that applies to a table and an action. `isView`: `*` covers no SQL view. */
  find(action: TableAction, table: string, isView: boolean): Grant | undefined
}

/** @throws VALIDATION_FAILED for the action `write`, which would include the structure of tables */
const assertSingleActions = (grants: readonly Grant[]) => {
  const index = grants.findIndex(({ actions }) => actions.includes('write'))
  if (index === -1) return
  const message = "A grant lists 'create', 'update', 'delete' and 'schema' one by one, instead of 'write'."
  throw invalid([{ path: `/grants/${index}/actions`, code: 'unknown', message }])
}

/** @throws VALIDATION_FAILED for presets of a grant that creates nothing */
const assertPresetsUsed = (grants: readonly Grant[]) => {
  const index = grants.findIndex(({ actions, presets }) => presets && !actions.includes('create'))
  if (index === -1) return
  const message = "'presets' need the action 'create'."
  throw invalid([{ path: `/grants/${index}/presets`, code: 'conflict', message }])
}

/** @throws VALIDATION_FAILED for two grants of the same table and action */
const assertDistinct = (grants: readonly Grant[]) => {
  const seen = new Set<string>()
  for (const [index, { tables, actions }] of grants.entries()) {
    for (const action of actions) {
      for (const name of new Set(tables.map(foldName))) {
        const key = `${action} ${name}`
        if (seen.has(key)) {
          const message = `Two grants name the action '${action}' and the table '${name}'.`
          throw invalid(
            [{ path: `/grants/${index}/tables`, code: 'conflict', message }],
            'Join the grants, or split the tables.'
          )
        }
        seen.add(key)
      }
    }
  }
}

/** @throws VALIDATION_FAILED */
export const checkGrants = (grants: readonly Grant[]) => {
  for (const [index, { rows }] of grants.entries()) if (rows) checkRule(`/grants/${index}/rows`, rows)
  assertSingleActions(grants)
  assertPresetsUsed(grants)
  assertDistinct(grants)
}

export const indexGrants = (grants: readonly Grant[]): GrantIndex => {
  const byAction = new Map<Action, Map<string, Grant>>()
  for (const grant of grants) {
    for (const action of grant.actions) {
      const byTable = byAction.get(action) ?? new Map<string, Grant>()
      byAction.set(action, byTable)
      for (const name of grant.tables) byTable.set(foldName(name), grant)
    }
  }
  return {
    grants: (action) => byAction.has(action),
    find: (action, table, isView) => {
      const byTable = byAction.get(action)
      return byTable?.get(foldName(table)) ?? (isView ? undefined : byTable?.get(EVERY_TABLE))
    }
  }
}
