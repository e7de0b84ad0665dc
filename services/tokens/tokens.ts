import type { IssuedToken, NewToken, RotatedToken, Token, TokenChanges } from '../../schemas/token.ts'
import type { TokensQuery } from '../../schemas/token-list.ts'
import { auditRow, summaryOf } from '../audit/audit-row.ts'
import type { Database } from '../engine/database.ts'
import type { Caller, KeyRole } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError, excerpt, invalid } from '../model/errors.ts'
import type { Row } from '../model/sql-value.ts'
import type { KeyRights } from '../roles/key-rights.ts'
import type { RoleService } from '../roles/roles.ts'
import { deleteRetriesOfCaller } from '../sql/retries.ts'
import { bearerOf } from './bearer.ts'
import { checkExpiry, checkNewExpiry } from './expiry.ts'
import { invalidToken } from './invalid-token.ts'
import { createLiveCredentials } from './live-credentials.ts'
import {
  createEntryReader,
  isLive,
  type LiveToken,
  type TokenEntry,
  type TokenWithoutScope,
  toToken
} from './live-token.ts'
import { createSecret, digestOf } from './secrets.ts'
import { NO_PERMISSIONS } from './stored-access.ts'
import { checkNetworks, checkRoleOrPermissions, PERMISSIONS_REQUIRED } from './token-checks.ts'
import { createTokenNames } from './token-names.ts'
import { pageOf } from './token-pages.ts'
import { deleteToken, insertToken, rotateToken, updateToken } from './token-statements.ts'

const SECRET_PREFIX = 'rh_'
const SECRET_LENGTH = 67

/** Returns the token of an Authorization header. */
const secretOf = (header: string) => {
  const secret = bearerOf(header)
  return secret?.length === SECRET_LENGTH ? secret : undefined
}

const tokenNotFound = (id: number) => new DomainError('TOKEN_NOT_FOUND', `There is no token with id ${id}.`)

interface TokenServiceOptions {
  readonly db: Database
  readonly clock: Clock
  readonly roles: Pick<RoleService, 'nameOf' | 'findByName'>
  readonly scopeOf: KeyRights['scopeOf']
}

/** Creates the service of access tokens. */
export const createTokenService = ({ db, clock, roles, scopeOf }: TokenServiceOptions) => {
  const live = createLiveCredentials<TokenEntry>({
    db,
    clock,
    table: '_rowhouse_tokens',
    toEntry: createEntryReader(),
    isLive,
    invalid: invalidToken,
    notFound: tokenNotFound
  })

  const roleNameOf = ({ role }: Pick<LiveToken, 'role'>) => role && roles.nameOf(role.id)
  const show = (token: TokenWithoutScope) => toToken(token, roleNameOf(token), clock())

  /** Returns a page of the tokens, in the order of their ids. */
  const list = (query: TokensQuery = {}): Token[] => pageOf(live.all(), query, roleNameOf).map(show)

  /** @throws VALIDATION_FAILED */
  const roleIdOf = (name: string): number => {
    const role = roles.findByName(name)
    if (role) return role.id
    throw invalid(
      [{ path: '/role', code: 'unknown', message: `There is no role '${excerpt(name)}'.` }],
      'GET /admin/roles lists the roles.'
    )
  }

  /** Returns the number of tokens of each role that has some, by its id. */
  const countByRole = (): ReadonlyMap<number, number> => {
    const counts = new Map<number, number>()
    for (const { role } of live.all()) if (role) counts.set(role.id, (counts.get(role.id) ?? 0) + 1)
    return counts
  }

  /** @throws TOKEN_NOT_FOUND */
  const read = (id: number): Token => show(live.find(id))

  /** Issues a token. Only this result contains its secret: the digest is stored. */
  const issue = async (caller: Caller, token: NewToken): Promise<IssuedToken> => {
    const now = clock()
    checkNewExpiry(token.expiresAt, now)
    checkNetworks(token.networks)
    const roleId = token.role == null ? null : roleIdOf(token.role)
    checkRoleOrPermissions(roleId, token)
    if (roleId === null && !token.permissions) throw invalid([PERMISSIONS_REQUIRED])
    const { secret, digest, mask } = createSecret(SECRET_PREFIX)
    const stored = { digest, tokenPrefix: mask }
    const { permissions: granted = NO_PERMISSIONS, role: roleName, expiresAt: end = null } = token
    const summary = { tokenPrefix: stored.tokenPrefix, permissions: granted, role: roleName, expiresAt: end }
    const [inserted] = await db.write([
      insertToken(stored, { ...token, permissions: granted, roleId }, now),
      auditRow(caller, now, { action: 'token.issue', target: token.name, summary })
    ])
    const { id, name, tokenPrefix, permissions, expiresAt } = live.cache(inserted?.rows[0] as Row)
    const issued = { id, name, token: secret, tokenPrefix, permissions }
    return {
      ...issued,
      ...(token.role !== undefined && { role: token.role, claims: token.claims ?? {} }),
      ...(token.expiresAt !== undefined && { expiresAt }),
      ...(token.integers !== undefined && { integers: token.integers })
    }
  }

  const change = async (caller: Caller, id: number, changes: TokenChanges) => {
    checkExpiry(changes.expiresAt)
    checkNetworks(changes.networks)
    const token = live.find(id)
    const roleId = changes.role == null ? changes.role : roleIdOf(changes.role)
    const after = roleId === undefined ? (token.role?.id ?? null) : roleId
    // A role replaces the permissions, and null the role with its claims.
    const replaced = { ...(roleId === null && { claims: {} }), ...(roleId && { permissions: NO_PERMISSIONS }) }
    checkRoleOrPermissions(after, { permissions: token.permissions, ...replaced, ...changes })
    const summary = { ...summaryOf(changes), permissions: changes.permissions, role: changes.role }
    const now = clock()
    const [updated] = await live.commit(token, [
      updateToken(id, { ...replaced, ...changes, roleId }, now),
      auditRow(caller, now, { action: 'token.change', target: token.name, targetId: id, summary })
    ])
    live.cache(updated?.rows[0] as Row)
  }

  /**
   * Replaces the secret, and returns the new one. The previous secret is valid until the overlap ends; the one before it ends now.
   * @throws TOKEN_NOT_FOUND
   */
  const rotate = async (caller: Caller, id: number, overlapSeconds: number): Promise<RotatedToken> => {
    const token = live.find(id)
    const now = clock()
    const previousValidUntil = overlapSeconds === 0 ? null : now + overlapSeconds * 1000
    const { secret, digest, mask } = createSecret(SECRET_PREFIX)
    const stored = { digest, tokenPrefix: mask }
    const summary = { tokenPrefix: mask, previousValidUntil }
    const [rotated] = await live.commit(token, [
      rotateToken(id, stored, { previousValidUntil, now }),
      auditRow(caller, now, { action: 'token.rotate', target: token.name, targetId: id, summary })
    ])
    live.cache(rotated?.rows[0] as Row)
    return { id, token: secret, tokenPrefix: mask, previousValidUntil }
  }

  const revoke = async (caller: Caller, id: number) => {
    const token = live.find(id)
    await live.commit(token, [
      deleteToken(id),
      deleteRetriesOfCaller({ ...token, kind: 'token' }),
      auditRow(caller, clock(), { action: 'token.revoke', target: token.name, targetId: id })
    ])
    live.evict(token)
  }

  const withScope = (entry: TokenEntry): LiveToken => {
    entry.scope ??= scopeOf(entry.role as KeyRole)
    return entry as LiveToken
  }

  /**
   * Returns the token of an Authorization header and records its use. `address`: of the client; empty on the local socket.
   * @throws INVALID_TOKEN, the same for every invalid credential
   */
  const authenticate = (header: string | undefined, address = ''): LiveToken => {
    const secret = header === undefined ? undefined : secretOf(header)
    const admits = ({ limits }: TokenEntry) => limits.accepts(address)
    return withScope(live.authenticate(secret === undefined ? undefined : digestOf(secret), admits))
  }

  /** Returns the latest state of a token. @throws INVALID_TOKEN if it has been revoked or has expired */
  const current = (token: LiveToken): LiveToken => withScope(live.current(token))

  /** Returns a token, which may be inactive or expired. @throws TOKEN_NOT_FOUND */
  const find = (id: number): LiveToken => withScope(live.find(id))

  /** Returns the latest state of the token with an id. @throws INVALID_TOKEN, as `current` does */
  const currentById = (id: number): LiveToken => withScope(live.currentById(id))

  const { load, flush } = live
  return {
    load,
    list,
    countByRole,
    read,
    find,
    issue,
    change,
    rotate,
    revoke,
    authenticate,
    current,
    currentById,
    flush,
    names: createTokenNames({ clock, all: live.all, cache: live.cache })
  }
}

export type TokenService = ReturnType<typeof createTokenService>
