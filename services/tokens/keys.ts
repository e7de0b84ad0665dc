import type { RateLimit } from '../../schemas/token.ts'
import { addressOf, networkOf } from '../accounts/client-network.ts'
import type { Clock } from '../model/clock.ts'
import { bearerOf } from './bearer.ts'
import type { LiveToken } from './live-token.ts'
import type { NamedKey, NamedKeys } from './named-keys.ts'
import { createRequestWindows, type Quota } from './request-windows.ts'
import type { createSignedKeys } from './signed-keys.ts'
import type { TokenService } from './tokens.ts'
import { type ViewedToken, type Views, viewOf } from './views.ts'

/** What the credential of a request opens. A change replaces the object: after an `await`, call `current` for the latest one. */
export type LiveKey = LiveToken | ViewedToken | NamedKey

/** What a request without a credential opens. */
export interface PublicAccess {
  readonly roleName: string
  /** Maximum number of requests in a minute, for each network. */
  readonly requests: number
}

interface KeysOptions {
  readonly tokens: Pick<TokenService, 'authenticate' | 'current'>
  readonly views: Pick<Views, 'authenticate' | 'current'>
  readonly namedKeys: NamedKeys
  readonly clock: Clock
  /** null: a JWT is an invalid token. */
  readonly signedKey: ReturnType<typeof createSignedKeys> | null
  /** null: a request without a credential is refused. */
  readonly publicAccess: PublicAccess | null
}

interface Credential {
  /** The header Authorization. */
  readonly header: string | undefined
  readonly address: string
}

/** Names of keys that others sign contain a space, so none has this name. */
export const PUBLIC_KEY_NAME = 'public'

/** A token has no dot, and a JWT has two. */
const jwtOf = (header: string | undefined) => {
  const secret = header === undefined ? undefined : bearerOf(header)
  return secret?.includes('.') ? secret : undefined
}

const ofMinute = ({ requests }: PublicAccess): RateLimit => ({ requests, seconds: 60 })

const isNamed = (key: LiveKey): key is NamedKey => 'roleName' in key

const isViewed = (key: LiveKey): key is ViewedToken => 'onlyReads' in key

/** Whether the key is an issued token. Only its requests are counted; a view is not one. */
export const isToken = (key: LiveKey): key is LiveToken => !isNamed(key) && !isViewed(key)

/** Creates the service that finds the key of a request: an issued token, a view of one, a JWT, or the public key. */
export const createKeyService = ({ tokens, views, namedKeys, clock, signedKey, publicAccess }: KeysOptions) => {
  // Two caches: requests from many networks must not evict the windows of tokens.
  const windowsOfTokens = createRequestWindows(clock)
  const windowsOfNetworks = createRequestWindows(clock)
  let publicKey: NamedKey | null = null

  const authenticatePublic = ({ roleName }: PublicAccess) => {
    publicKey = publicKey
      ? namedKeys.current(publicKey)
      : namedKeys.create({ name: PUBLIC_KEY_NAME, roleName, claims: {}, expiresAt: null })
    return publicKey
  }

  /** Returns a promise for a view, and for a JWT that is not cached. @throws INVALID_TOKEN, KEYS_UNAVAILABLE */
  const authenticate = ({ header, address }: Credential): LiveKey | Promise<LiveKey> => {
    if (header === undefined && publicAccess) return authenticatePublic(publicAccess)
    const view = viewOf(header)
    if (view !== undefined) return views.authenticate(view)
    const jwt = signedKey && jwtOf(header)
    return jwt ? signedKey(jwt) : tokens.authenticate(header, addressOf(address))
  }

  /** Returns the latest state of a key. @throws INVALID_TOKEN if it has been revoked or has expired */
  const current = (key: LiveKey): LiveKey => {
    if (isNamed(key)) return namedKeys.current(key)
    return isViewed(key) ? views.current(key) : tokens.current(key)
  }

  /**
   * Counts requests of a key that has a limit. Returns the remaining quota; null without a limit. `requests`: more than one for a
   * batch.
   */
  const count = (key: LiveKey, address: string, requests = 1): Quota | null => {
    if (key.name === PUBLIC_KEY_NAME && isNamed(key) && publicAccess)
      return windowsOfNetworks.count(networkOf(address), ofMinute(publicAccess), requests)
    return isToken(key) && key.limits.rateLimit
      ? windowsOfTokens.count(String(key.id), key.limits.rateLimit, requests)
      : null
  }

  return { authenticate, current, count }
}

export type KeyService = ReturnType<typeof createKeyService>
