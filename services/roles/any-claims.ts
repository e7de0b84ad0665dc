import type { Grant } from '../../schemas/role.ts'
import { foldName } from '../model/names.ts'
import type { Scope } from '../model/scope.ts'
import type { RegisteredTable, Registration } from '../model/table.ts'
import type { FindOpenGrant, OpenGrant } from '../records/access/opened.ts'
import type { Assignment } from '../sql/records.ts'
import { withClaims, withoutClaims } from './claims.ts'
import { ClosedGrant, compileGrant } from './compile-grant.ts'
import { createScopeOf } from './role-scope.ts'
import type { LiveRole } from './roles.ts'

type FindTable = (name: string) => Registration | undefined

const needsClaim = (value: unknown) => {
  const missing = new Set<string>()
  withClaims(value, {}, missing)
  return missing.size > 0
}

const presetsOf = ({ presets = {} }: Grant) => Object.entries(presets)

/**
 * Returns the grant without presets that need a claim. Conditions that compare a claim become `isNull`, so that their fields
 * are still checked.
 */
export const withoutClaimValues = (grant: Grant): Grant => {
  const { rows, presets, ...others } = grant
  return {
    ...others,
    ...(rows && { rows: withoutClaims(rows) as typeof rows }),
    ...(presets && { presets: Object.fromEntries(presetsOf(grant).filter(([, value]) => !needsClaim(value))) })
  }
}

/** Returns the presets whose values are claims. Their values are not known. undefined: the table lacks a field. */
const claimedPresets = (grant: Grant, { structure }: RegisteredTable): readonly Assignment[] | undefined => {
  const names = presetsOf(grant).flatMap(([name, value]) => (needsClaim(value) ? foldName(name) : []))
  const columns = structure.columns.filter(({ name }) => names.includes(foldName(name)))
  return columns.length === names.length ? columns.map((column) => [column, null]) : undefined
}

/** Returns what a grant opens for a key whose claims fit. Only its fields are exact: its rule and its presets lack values. */
const grantForAnyClaims = (grant: Grant, table: RegisteredTable, findTable: FindTable): OpenGrant | null => {
  const compiled = compileGrant(withoutClaimValues(grant), table, { claims: {}, findTable })
  const claimed = claimedPresets(grant, table)
  if (compiled instanceof ClosedGrant || !claimed) return null
  return { ...compiled, presets: [...compiled.presets, ...claimed] }
}

/** Returns the tables, fields and actions that a role opens for keys that have all of its claims, with values that fit. */
export const scopeForAnyClaims = (role: LiveRole, findTable: FindTable): Scope => {
  const cache = new Map<RegisteredTable, Map<Grant, OpenGrant | null>>()

  const findOpenGrant: FindOpenGrant = (_key, action, table) => {
    const grant = role.index.find(action, table.name, table.structure.isView)
    if (!grant) return null
    const ofTable = cache.get(table) ?? new Map<Grant, OpenGrant | null>()
    cache.set(table, ofTable)
    const known = ofTable.get(grant)
    if (known !== undefined) return known
    const compiled = grantForAnyClaims(grant, table, findTable)
    ofTable.set(grant, compiled)
    return compiled
  }
  return createScopeOf({ findRole: () => role, findTable, findOpenGrant })({ id: role.id, claims: {} })
}
