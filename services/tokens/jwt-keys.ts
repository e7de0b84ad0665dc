import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRemoteJWKSet, customFetch, errors, type FetchImplementation, type JWTVerifyGetKey } from 'jose'
import type { Clock } from '../model/clock.ts'
import { DomainError } from '../model/errors.ts'

/** Shorter RSA keys are refused by `jose`, as RFC 7518, 3.3 requires. */
const MIN_RSA_BITS = 2048
/** Minimum time between two attempts to fetch the keys: `jose` limits only those after a success. */
const RETRY_MS = 5000

const toPublicKey = (file: string) => {
  try {
    const pem = readFileSync(file, 'utf8')
    // Node would derive the public key. A private key does not belong on this machine.
    if (pem.includes('PRIVATE KEY')) throw new Error('it has a private key')
    return createPublicKey(pem)
  } catch (error) {
    throw new Error(`JWT_PUBLIC_KEY_FILE names ${file}, which is no public key in PEM: ${(error as Error).message}.`)
  }
}

/** Returns the key of a file. @throws an Error that names the file if it has no key that is safe to use */
export const readPublicKey = (file: string): KeyObject => {
  const key = toPublicKey(file)
  const { modulusLength = MIN_RSA_BITS } = { ...key.asymmetricKeyDetails }
  if (modulusLength >= MIN_RSA_BITS) return key
  throw new Error(`JWT_PUBLIC_KEY_FILE names ${file}, whose RSA key is shorter than ${MIN_RSA_BITS} bits.`)
}

/** `fetch` reports the reason as the cause of its error. */
const reasonOf = ({ message, cause }: Error) => (cause instanceof Error ? `${message}: ${cause.message}` : message)

const keysUnavailable = (cause: unknown) =>
  Object.assign(
    new DomainError('KEYS_UNAVAILABLE', 'The keys that verify JWTs cannot be fetched. Try again.', {
      retryAfter: RETRY_MS / 1000
    }),
    { cause: reasonOf(cause as Error) }
  )

const limitedFetch = (clock: Clock): FetchImplementation => {
  let nextAt = 0
  return async (url, options) => {
    if (clock() < nextAt) throw new Error('The latest attempt failed')
    nextAt = clock() + RETRY_MS
    return fetch(url, options)
  }
}

/** The JWT names no key of the issuer, or the issuer has several that it could mean. */
const isUnknownKey = (error: unknown) =>
  error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys

/**
 * Returns a function that finds the key of a JWT in a JSON Web Key Set. The set is cached for ten minutes, and fetched for an
 * unknown `kid` at most every 30 seconds. @throws KEYS_UNAVAILABLE if the set cannot be fetched
 */
export const createKeySet = (url: string, clock: Clock): JWTVerifyGetKey => {
  const find = createRemoteJWKSet(new URL(url), { [customFetch]: limitedFetch(clock) })
  return async (header, jwt) => {
    try {
      return await find(header, jwt)
    } catch (error) {
      throw isUnknownKey(error) ? error : keysUnavailable(error)
    }
  }
}
