import { type Claims, MAX_CLAIM_VALUES } from '../../schemas/role.ts'
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
