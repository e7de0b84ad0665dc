import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { Config } from '../../config.ts'
import type { Claims } from '../../schemas/role.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError } from '../model/errors.ts'
import { isClaim } from '../roles/claims.ts'
import { type Payload, parseClaimPointers, valueAt } from './claim-pointers.ts'
import { invalidToken } from './invalid-token.ts'
import { createKeySet, readPublicKey } from './jwt-keys.ts'
import type { KeySource, OnInvalidKey } from './named-keys.ts'

/** Asymmetric ones only: with the others, whoever can verify a JWT can also sign one. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

const MAX_JWT_LENGTH = 8192
/** OpenID Connect Core 1.0, 2: a `sub` has at most 255 characters. */
const MAX_SUBJECT_LENGTH = 255
/** Seconds by which the clock of the issuer may differ from ours. */
const CLOCK_TOLERANCE = 5

/** The settings of JWTs, complete. */
export interface JwtSettings {
  readonly issuer: string
  readonly audience: string
  readonly role: string
  readonly claims: readonly (readonly [name: string, pointer: string])[]
  readonly findKey: JWTVerifyGetKey
}

const findKeyOf = ({ JWT_JWKS_URL, JWT_PUBLIC_KEY_FILE }: Config, clock: Clock): JWTVerifyGetKey => {
  if (JWT_JWKS_URL !== undefined) return createKeySet(JWT_JWKS_URL, clock)
  const key = readPublicKey(String(JWT_PUBLIC_KEY_FILE))
  return async () => key
}

/** Returns the settings of JWTs; null without JWT_ISSUER. @throws an Error if the file has no key */
export const jwtSettingsOf = (config: Config, clock: Clock): JwtSettings | null => {
  const { JWT_ISSUER: issuer, JWT_AUDIENCE, JWT_ROLE, JWT_CLAIMS } = config
  if (issuer === undefined) return null
  return {
    issuer,
    audience: String(JWT_AUDIENCE),
    role: String(JWT_ROLE),
    claims: JWT_CLAIMS === undefined ? [] : parseClaimPointers(JWT_CLAIMS),
    findKey: findKeyOf(config, clock)
  }
}

/** Why a JWT is invalid. It becomes the log line of its kind. */
class InvalidJwt extends Error {
  readonly kind: string

  constructor(kind: string, reason: string) {
    super(reason)
    this.kind = kind
  }
}

const subjectOf = ({ sub }: Payload) => {
  if (typeof sub === 'string' && sub !== '' && sub.length <= MAX_SUBJECT_LENGTH) return sub
  throw new InvalidJwt('sub', `'sub' must be a text of 1 to ${MAX_SUBJECT_LENGTH} characters`)
}

const roleNameOf = (payload: Payload, role: string) => {
  const name = role.startsWith('/') ? valueAt(payload, role) : role
  if (typeof name === 'string') return name
  throw new InvalidJwt('role', `the value at JWT_ROLE ('${role}') is no text`)
}

/** Returns epoch milliseconds. `exp` is a number of seconds, which may have fractions (RFC 7519, 2). */
const expiryOf = ({ exp }: Payload) =>
  Math.min(Math.trunc((Number(exp) + CLOCK_TOLERANCE) * 1000), Number.MAX_SAFE_INTEGER)

/** Leaves out the claims that are absent, and those that no rule can use. */
const claimsOf = (payload: Payload, pointers: JwtSettings['claims']) => {
  const values = pointers.map(([name, pointer]) => [name, valueAt(payload, pointer)] as const)
  return Object.fromEntries(values.filter(([, value]) => isClaim(value))) as Claims
}

/** Of an error of `jose`. Its code and its claim are from fixed lists; its message may repeat a part of the JWT. */
const kindOf = (error: Error) =>
  error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired
    ? `${error.code} ${error.claim}`
    : ((error as Partial<errors.JOSEError>).code ?? error.name)

interface VerifierOptions {
  readonly settings: JwtSettings
  readonly clock: Clock
  readonly onInvalid: OnInvalidKey
}

/** Creates the function that verifies a JWT and returns the key that it is. */
export const createJwtVerifier = ({ settings, clock, onInvalid }: VerifierOptions) => {
  const { issuer, audience, role, claims, findKey } = settings

  const read = async (jwt: string): Promise<KeySource> => {
    if (jwt.length > MAX_JWT_LENGTH) throw new InvalidJwt('length', `it has more than ${MAX_JWT_LENGTH} characters`)
    const { payload } = await jwtVerify<Payload>(jwt, findKey, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE,
      currentDate: new Date(clock())
    })
    return {
      name: `${issuer} ${subjectOf(payload)}`,
      roleName: roleNameOf(payload, role),
      claims: claimsOf(payload, claims),
      expiresAt: expiryOf(payload)
    }
  }

  /** @throws INVALID_TOKEN, KEYS_UNAVAILABLE */
  return async (jwt: string): Promise<KeySource> => {
    try {
      return await read(jwt)
    } catch (error) {
      if (error instanceof DomainError) throw error
      const invalid = error as Error
      onInvalid(invalid instanceof InvalidJwt ? invalid.kind : kindOf(invalid), invalid.message)
      throw invalidToken()
    }
  }
}

export type VerifyJwt = ReturnType<typeof createJwtVerifier>
