import type { Permissions } from '../../schemas/token.ts'
import { bearer, dataOf } from '../helpers.ts'
import type { Workshop } from './access-workshop.ts'

type Headers = Readonly<Record<string, string>>

export interface Caller {
  readonly says: string
  /** Who has a live session may say so; whoever has none has no `session`. */
  readonly session?: { readonly mustChange: boolean }
  /** The same for a live token. */
  readonly token?: Permissions
  readonly headers: Headers
  /** Another one like this, for what ends or changes a session. */
  readonly another?: () => Promise<{ readonly headers: Headers }>
}

const everything: Permissions = { tables: ['*'], actions: ['read', 'write'] }

const secretOf = async ({ newToken }: Workshop, permissions = everything, expiresAt: number | null = null) =>
  (await newToken(permissions, expiresAt)).token

const dead = (says: string, headers: Headers): Caller => ({ says, headers })

const holder = async (workshop: Workshop, says: string, token: Permissions): Promise<Caller> => {
  return { says, token, headers: bearer(await secretOf(workshop, token)) }
}

/** Tokens that open nothing, whatever they say. */
const deadTokens = async (workshop: Workshop) => {
  const { admin, newToken } = workshop
  const inactive = await newToken()
  dataOf(await admin.put(`/admin/tokens/${inactive.id}`, { isActive: false }))
  const revoked = await newToken()
  dataOf(await admin.delete(`/admin/tokens/${revoked.id}`))
  const good = await secretOf(workshop)
  return [
    dead('nobody', {}),
    dead('a malformed token', bearer('rh_0123')),
    dead('an empty token', bearer('')),
    dead('a token under another scheme', { authorization: `Basic ${good}` }),
    dead('an unknown token', bearer(`rh_${'0'.repeat(64)}`)),
    dead('an inactive token', bearer(inactive.token)),
    dead('an expired token', bearer(await secretOf(workshop, everything, 1))),
    dead('a revoked token', bearer(revoked.token)),
    dead('a token in the place of the cookie', { cookie: `rowhouse_session=${good}` })
  ]
}

const liveTokens = (workshop: Workshop) =>
  Promise.all([
    ...(['read', 'write', 'create', 'update', 'delete', 'schema'] as const).map((action) =>
      holder(workshop, `a token with ${action}`, { tables: ['*'], actions: [action] })
    ),
    holder(workshop, 'a token with everything', everything),
    holder(workshop, 'a token without an action', { tables: ['*'], actions: [] }),
    holder(workshop, 'a token without a table', { tables: [], actions: ['read', 'write'] }),
    holder(workshop, 'a token for another table', { tables: ['elsewhere'], actions: ['read', 'write'] })
  ])

/** Sessions that open nothing any more. */
const deadSessions = async ({ admin, newAdmin, newSession }: Workshop) => {
  const ended = await newSession()
  dataOf(await ended.post('/auth/logout'))
  const deleted = await newSession()
  dataOf(await admin.delete(`/admin/admins/${dataOf(await deleted.get('/auth/me')).id}`))
  const live = await newSession()
  const jwt = String(live.headers.cookie?.split('=')[1])
  const { id } = await newAdmin()
  const [head, , signature] = jwt.split('.')
  const forged = Buffer.from(JSON.stringify({ sub: String(id), jti: 'x', iat: 1, exp: 9e9 })).toString('base64url')
  return [
    dead('an ended session', ended.headers),
    dead('the session of a deleted administrator', deleted.headers),
    dead('a forged session', { cookie: `rowhouse_session=${head}.${forged}.${signature}` }),
    dead('a session in the place of the token', bearer(jwt))
  ]
}

const liveSessions = async ({ newSession, newMustChange }: Workshop): Promise<Caller[]> => [
  {
    says: 'an administrator',
    session: { mustChange: false },
    headers: (await newSession()).headers,
    another: newSession
  },
  {
    says: 'an administrator who must change the password',
    session: { mustChange: true },
    headers: (await newMustChange()).headers,
    another: newMustChange
  }
]

export const createCallers = async (workshop: Workshop): Promise<Caller[]> => [
  ...(await deadTokens(workshop)),
  ...(await deadSessions(workshop)),
  ...(await liveTokens(workshop)),
  ...(await liveSessions(workshop))
]
