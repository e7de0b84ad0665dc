import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { VerifyJwt } from './jwt-verifier.ts'
import type { NamedKey, NamedKeys } from './named-keys.ts'

/** Bytes of all cached keys. */
const MAX_CACHED_BYTES = 16 * 2 ** 20
/** Bytes of a cached key without its claims. */
const KEY_BYTES = 1000

interface SignedKeysOptions {
  readonly verify: VerifyJwt
  readonly keys: NamedKeys
}

/**
 * Creates the function that returns the key of a JWT. A verified key is cached until it expires: the rights of its role are
 * compiled once for each object.
 */
export const createSignedKeys = ({ verify, keys }: SignedKeysOptions) => {
  const cached = new LRUCache<string, NamedKey>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ role }) => KEY_BYTES + 2 * JSON.stringify(role.claims).length
  })
  const pending = new Map<string, Promise<NamedKey>>()

  const load = async (jwt: string, digest: string) => {
    try {
      const key = keys.create(await verify(jwt))
      cached.set(digest, key)
      return key
    } finally {
      pending.delete(digest)
    }
  }

  const verified = (jwt: string, digest: string) => {
    const loading = pending.get(digest) ?? load(jwt, digest)
    pending.set(digest, loading)
    return loading
  }

  /** Returns a promise only for a JWT that is not cached. @throws INVALID_TOKEN, KEYS_UNAVAILABLE */
  return (jwt: string): NamedKey | Promise<NamedKey> => {
    const digest = hash('sha256', jwt, 'base64')
    const known = cached.get(digest)
    if (!known) return verified(jwt, digest)
    const key = keys.current(known)
    if (key !== known) cached.set(digest, key)
    return key
  }
}
