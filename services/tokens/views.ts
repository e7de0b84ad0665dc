import { jwtVerify, SignJWT } from 'jose'
import type { View } from '../../schemas/token-view.ts'
import { auditRow } from '../audit/audit-row.ts'
import type { Database } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { bearerOf } from './bearer.ts'
import { invalidToken } from './invalid-token.ts'
import type { LiveToken } from './live-token.ts'
import type { TokenService } from './tokens.ts'

/** A token as a view of it sees it: it only reads. */
export interface ViewedToken extends LiveToken {
  readonly onlyReads: true
}

interface ViewsOptions {
  readonly db: Database
  readonly clock: Clock
  readonly tokens: Pick<TokenService, 'find' | 'currentById'>
  /** The secret that signs the cookies of sessions, too. All services of an installation have the same. */
  readonly secret: string
}

const PREFIX = 'rhv_'
const VALID_SECONDS = 600
const MAX_VIEW_LENGTH = 1000
const ISSUER = 'rowhouse'
/** Differs from the audience of session cookies, so that neither is accepted as the other. */
const AUDIENCE = 'rowhouse-view'
const ALGORITHM = 'HS256'

/** Returns the view of an Authorization header; undefined if the header has no bearer that begins like one. */
export const viewOf = (header: string | undefined): string | undefined => {
  const secret = header === undefined ? undefined : bearerOf(header)
  return secret?.startsWith(PREFIX) ? secret : undefined
}

/** Creates the service of views: bearers with which administrators see what a token sees. */
export const createViews = ({ db, clock, tokens, secret }: ViewsOptions) => {
  const key = new TextEncoder().encode(secret)
  /** The same object for the same state of a token: the rights of a key are cached by it. */
  const viewed = new WeakMap<LiveToken, ViewedToken>()

  const asViewed = (token: LiveToken): ViewedToken => {
    const known = viewed.get(token)
    if (known) return known
    const view: ViewedToken = { ...token, onlyReads: true }
    viewed.set(token, view)
    return view
  }

  /** @throws TOKEN_NOT_FOUND */
  const issue = async (caller: Caller, id: number): Promise<View> => {
    const { name } = tokens.find(id)
    const now = clock()
    const expiresAt = Math.floor(now / 1000) + VALID_SECONDS
    await db.write([auditRow(caller, now, { action: 'token.view', target: name, targetId: id })])
    const jwt = new SignJWT({ sub: String(id), exp: expiresAt, iss: ISSUER, aud: AUDIENCE })
    const signed = await jwt.setProtectedHeader({ alg: ALGORITHM }).sign(key)
    return { token: PREFIX + signed, expiresAt: expiresAt * 1000 }
  }

  /** Returns the id of the token. @throws INVALID_TOKEN */
  const verify = async (view: string): Promise<number> => {
    if (view.length > MAX_VIEW_LENGTH) throw invalidToken()
    try {
      const { payload } = await jwtVerify(view.slice(PREFIX.length), key, {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE,
        requiredClaims: ['sub', 'exp'],
        currentDate: new Date(clock())
      })
      return Number(payload.sub)
    } catch {
      throw invalidToken()
    }
  }

  /** Returns the token of a view. Records no use of it. @throws INVALID_TOKEN */
  const authenticate = async (view: string): Promise<ViewedToken> => asViewed(tokens.currentById(await verify(view)))

  /** Returns the latest state of the token. @throws INVALID_TOKEN if it has been revoked or has expired */
  const current = ({ id }: ViewedToken): ViewedToken => asViewed(tokens.currentById(id))

  return { issue, authenticate, current }
}

export type Views = ReturnType<typeof createViews>
