import { toLocal } from '../ui/local-time.ts'
import { type ClaimDraft, toClaimDrafts, toClaims } from './claims.ts'
import { type SingleAction, singleActions } from './permissions.ts'
import type { Claims, Permissions, Token } from './queries.ts'

/** What the form of a token edits. */
export interface TokenDraft {
  readonly name: string
  /** Local time as `YYYY-MM-DDTHH:mm`. Empty: never. */
  readonly expires: string
  readonly integers: Token['integers']
  /** Digits. Empty: any number of requests. */
  readonly requests: string
  /** Digits: the length of the window in which these requests are allowed. */
  readonly seconds: string
  /** One network for each line. */
  readonly networks: string
  /** What says what the token opens. The form keeps the other one, in case the user returns to it. */
  readonly access: 'permissions' | 'role'
  readonly tables: readonly string[]
  readonly actions: readonly SingleAction[]
  /** The name of the role. Empty: none is chosen yet. */
  readonly role: string
  readonly claims: readonly ClaimDraft[]
}

const MS_OF_DAY = 86_400_000

/** Returns the time in so many days, for the input of a local time. null: never. */
export const inDays = (days: number | null) => (days === null ? '' : toLocal(Date.now() + days * MS_OF_DAY))

/** `role`: the name of a role that the new token gets. null: the token has permissions. */
export const emptyDraft = (tables: readonly string[], role: string | null): TokenDraft => ({
  name: '',
  expires: '',
  integers: 'auto',
  requests: '',
  seconds: '60',
  networks: '',
  access: role === null ? 'permissions' : 'role',
  tables,
  actions: ['read'],
  role: role ?? '',
  claims: []
})

export const toDraft = ({
  name,
  expires_at,
  integers,
  rate_limit,
  networks,
  permissions,
  role,
  claims
}: Token): TokenDraft => ({
  name,
  expires: expires_at === null ? '' : toLocal(expires_at),
  integers,
  requests: rate_limit === undefined ? '' : String(rate_limit.requests),
  seconds: String(rate_limit?.seconds ?? 60),
  networks: networks.join('\n'),
  access: role === null ? 'permissions' : 'role',
  tables: permissions.tables,
  actions: singleActions(permissions),
  role: role ?? '',
  claims: toClaimDrafts(claims)
})

interface Access {
  readonly permissions: Permissions
  readonly role: string | null
  readonly claims: Claims
}

/** A token has permissions, or a role with claims. */
const accessOf = ({ access, tables, actions, role, claims }: TokenDraft): Access =>
  access === 'role'
    ? { permissions: { tables: [], actions: [] }, role, claims: toClaims(claims) }
    : { permissions: { tables: [...tables], actions: [...actions] }, role: null, claims: {} }

/** Returns the role and the claims of a draft; null if it has permissions. */
export const roleOf = (draft: TokenDraft) => {
  const { role, claims } = accessOf(draft)
  return role === null ? null : { name: role, claims }
}

const expiryOf = ({ expires }: TokenDraft) => (expires === '' ? null : new Date(expires).getTime())

const rateLimitOf = ({ requests, seconds }: TokenDraft) =>
  requests.trim() === '' ? { requests: null } : { requests: Number(requests), seconds: Number(seconds) }

const networksOf = ({ networks }: TokenDraft) =>
  networks
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

const newAccessOf = (draft: TokenDraft) => {
  const { permissions, role, claims } = accessOf(draft)
  return role === null ? { permissions } : { role, claims }
}

export const toNewToken = (draft: TokenDraft) => ({
  name: draft.name,
  integers: draft.integers,
  ...newAccessOf(draft),
  expiresAt: expiryOf(draft),
  rateLimit: rateLimitOf(draft),
  networks: networksOf(draft)
})

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

const limitChanges = (draft: TokenDraft, before: TokenDraft) => {
  const [rateLimit, networks] = [rateLimitOf(draft), networksOf(draft)]
  return {
    ...(!isSame(rateLimit, rateLimitOf(before)) && { rateLimit }),
    ...(!isSame(networks, networksOf(before)) && { networks })
  }
}

const accessChanges = (draft: TokenDraft, before: TokenDraft) => {
  const [after, stored] = [accessOf(draft), accessOf(before)]
  return {
    ...(!isSame(after.permissions, stored.permissions) && { permissions: after.permissions }),
    ...(after.role !== stored.role && { role: after.role }),
    ...(!isSame(after.claims, stored.claims) && { claims: after.claims })
  }
}

/** Returns only what was edited: another administrator may have changed the rest since, such as a permission. */
export const toChanges = (draft: TokenDraft, before: TokenDraft) => ({
  ...(draft.name !== before.name && { name: draft.name }),
  ...(draft.integers !== before.integers && { integers: draft.integers }),
  ...accessChanges(draft, before),
  ...limitChanges(draft, before),
  ...(draft.expires !== before.expires && { expiresAt: expiryOf(draft) })
})
