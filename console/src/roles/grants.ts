import { claimOf } from '../records/filter/claim.ts'
import type { Grant } from './queries.ts'

/** Stands for all tables without a grant of their own. */
export const EVERY_TABLE = '*'

export const ACTIONS = ['read', 'create', 'update', 'delete', 'schema'] as const
export type Action = (typeof ACTIONS)[number]

/** Names of tables and fields are compared ignoring the case. */
export const isSameName = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

export const includesName = (names: readonly string[], name: string) => names.some((other) => isSameName(other, name))

/** What decides which grant applies. */
type Scope = Pick<Grant, 'tables' | 'actions'>

/** Returns the grant that applies to a table and an action: one that names the table, or else one with `*`. */
export const findGrant = <G extends Scope>(
  grants: readonly G[],
  action: Action,
  { name, kind }: { readonly name: string; readonly kind: 'table' | 'view' }
): G | undefined => {
  const ofAction = grants.filter(({ actions }) => actions.includes(action))
  const own = ofAction.find(({ tables }) => includesName(tables, name))
  return own ?? (kind === 'view' ? undefined : ofAction.find(({ tables }) => tables.includes(EVERY_TABLE)))
}

const claimsIn = (value: unknown): readonly string[] => {
  const claim = claimOf(value)
  if (claim !== undefined) return [claim]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(claimsIn) : []
}

/** Returns the names of the claims that the rules and presets of a role use. */
export const claimNames = (grants: readonly Grant[]): readonly string[] => [
  ...new Set(grants.flatMap(({ rows, presets }) => [...claimsIn(rows), ...claimsIn(presets)]))
]
