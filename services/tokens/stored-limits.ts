import type { RateLimit } from '../../schemas/token.ts'
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
/** A limit that cannot be read must not open more. */
const INVALID: TokenLimits = { ...NO_LIMITS, accepts: () => false, isValid: false }

const parse = (rateLimit: string | null, list: string | null): TokenLimits => {
  try {
    const networks: readonly string[] = list === null ? [] : JSON.parse(list)
    return {
      rateLimit: rateLimit === null ? null : JSON.parse(rateLimit),
      networks,
      accepts: networks.length === 0 ? NO_LIMITS.accepts : createAddressCheck(networks),
      isValid: true
    }
  } catch {
    return INVALID
  }
}

/** Maximum number of cached values. An evicted value is parsed again. */
const MAX_SHARED = 1000

/** Creates the function that reads the limits of a token from its row. Tokens with the same texts share one object. */
export const createStoredLimits = () => {
  const shared = createShared(MAX_SHARED, parse)

  return ({ rate_limit: rateLimit, networks }: Row): TokenLimits =>
    rateLimit === null && networks === null ? NO_LIMITS : shared(rateLimit as string | null, networks as string | null)
}
