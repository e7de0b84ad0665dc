import { type Claims, type Grant, MAX_CLAIM_VALUES } from '../../schemas/role.ts'
import { excerpt, invalid, pointer } from '../model/errors.ts'

const MAX_TEXT = 1000

const isValue = (value: unknown) => (typeof value === 'string' ? value.length <= MAX_TEXT : Number.isSafeInteger(value))

/** Whether a rule can compare the value: a text, an integer, or a list of them. */
export const isClaim = (value: unknown): value is Claims[string] =>
  Array.isArray(value) ? value.length <= MAX_CLAIM_VALUES && value.every(isValue) : isValue(value)

/** @throws VALIDATION_FAILED */
export const checkClaims = (claims: Readonly<Record<string, unknown>>) => {
  const name = Object.keys(claims).find((key) => !isClaim(claims[key]))
  if (name === undefined) return
  const message = `'${excerpt(name)}' must be a text of at most ${MAX_TEXT} characters, an integer within ±(2^53−1), or a list of at most ${MAX_CLAIM_VALUES} of them.`
  throw invalid([{ path: `/claims${pointer(name)}`, code: 'type', message }], 'Send a larger integer as text.')
}

/** Returns the name of the claim for which a value of a rule stands; undefined if it stands for itself. */
export const claimName = (value: unknown): string | undefined => {
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

/** Returns the names of the claims that the grants compare, and that the token does not have. */
export const missingClaims = (grants: readonly Grant[], claims: Claims): readonly string[] => {
  const missing = new Set<string>()
  withClaims(grants, claims, missing)
  return [...missing]
}

/** Whether the value, or one of a list, stands for a claim. */
const hasReference = (value: unknown): boolean =>
  claimName(value) !== undefined || (Array.isArray(value) && value.some((item) => claimName(item) !== undefined))

/** Returns the rule with `isNull` instead of each condition that compares a claim, so that its field is still checked. */
export const withoutClaims = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutClaims)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => (hasReference(item) ? ['isNull', true] : [key, withoutClaims(item)]))
  )
}
