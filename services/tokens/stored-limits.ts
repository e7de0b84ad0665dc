import { isNetwork } from '../../config.ts'
import type { RateLimit } from '../../schemas/token.ts'
import { isJsonObject } from '../model/json-object.ts'
import { type AddressCheck, createAddressCheck } from '../model/networks.ts'
import type { Row } from '../model/sql-value.ts'
import { createShared } from './shared.ts'

/** How often, and from where, a token works. */
export interface TokenLimits {
  /** null: any number of requests. */
  readonly rateLimit: RateLimit | null
  /** In CIDR notation. Empty: all. */
  readonly networks: readonly string[]
  /** Returns whether the token is accepted from an address. */
  readonly accepts: AddressCheck
  /** false: a text is invalid. Only another program can have written it. */
  readonly isValid: boolean
}

const NO_LIMITS: TokenLimits = { rateLimit: null, networks: [], accepts: () => true, isValid: true }
/** A limit that cannot be read must not open more: the token is inactive. */
const INVALID: TokenLimits = { ...NO_LIMITS, isValid: false }

const parseJson = (text: string | null): unknown => {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return undefined
  }
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 1

const isRateLimit = (value: unknown): value is RateLimit | null =>
  value === null || (isJsonObject(value) && isCount(value.requests) && isCount(value.seconds))

const isNetworks = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string' && isNetwork(item))

const parse = (rateLimitText: string | null, list: string | null): TokenLimits => {
  const rateLimit = parseJson(rateLimitText)
  const networks = list === null ? [] : parseJson(list)
  if (!isRateLimit(rateLimit) || !isNetworks(networks)) return INVALID
  const accepts = networks.length === 0 ? NO_LIMITS.accepts : createAddressCheck(networks)
  return { rateLimit, networks, accepts, isValid: true }
}

/** Maximum number of cached values. An evicted value is parsed again. */
const MAX_SHARED = 1000

/** Creates the function that reads the limits of a token from its row. Tokens with the same texts share one object. */
export const createStoredLimits = () => {
  const shared = createShared(MAX_SHARED, parse)

  return ({ rate_limit: rateLimit, networks }: Row): TokenLimits =>
    rateLimit === null && networks === null ? NO_LIMITS : shared(rateLimit as string | null, networks as string | null)
}
