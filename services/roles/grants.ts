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

const claimName = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const entries = Object.entries(value)
  const [name, claim] = entries[0] ?? []
  return entries.length === 1 && name === '$claim' && typeof claim === 'string' ? claim : undefined
}

/** Replaces each `{ "$claim": "name" }` by the value of the claim. Adds the names of missing ones to `missing`. */
export const withClaims = (
  value: unknown,
  claims: Readonly<Record<string, unknown>>,
  missing: Set<string>
): unknown => {
  const name = claimName(value)
  if (name !== undefined) {
    if (Object.hasOwn(claims, name)) return claims[name]
    missing.add(name)
    return undefined
  }
  if (Array.isArray(value)) return value.map((item) => withClaims(item, claims, missing))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withClaims(item, claims, missing)]))
}

/** Whether the value, or one of a list, is a claim. */
export const hasClaim = (value: unknown): boolean =>
  claimName(value) !== undefined || (Array.isArray(value) && value.some((item) => claimName(item) !== undefined))

/** Returns the rule with other conditions instead of those with claims, whose values are not known. */
export const withoutClaims = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutClaims)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => (hasClaim(item) ? ['isNull', true] : [key, withoutClaims(item)]))
  )
}
