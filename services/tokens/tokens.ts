import { isNetwork } from '../../config.ts'
import type { Claims } from '../../schemas/role.ts'
import {
  type IntegerFormat,
  type IssuedToken,
  integerFormats,
  type NewToken,
  type Permissions,
  type RotatedToken,
  type Token,
  type TokenChanges
} from '../../schemas/token.ts'
import type { TokensQuery } from '../../schemas/token-list.ts'
import { auditRow, summaryOf } from '../audit/audit-row.ts'
import type { Database } from '../engine/database.ts'
import type { Caller, KeyRole } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError, excerpt, invalid } from '../model/errors.ts'
import { foldName } from '../model/names.ts'
import type { Scope } from '../model/scope.ts'
import type { Row } from '../model/sql-value.ts'
import { checkClaims } from '../roles/claims.ts'
import type { KeyRights } from '../roles/key-rights.ts'
import type { RoleService } from '../roles/roles.ts'
import { deleteRetriesOfCaller } from '../sql/retries.ts'
import type { TokenNames } from '../tables/changes/renames.ts'
import { bearerOf } from './bearer.ts'
import type { PreviousSecret } from './credential-index.ts'
import { checkExpiry, checkNewExpiry } from './expiry.ts'
import { invalidToken } from './invalid-token.ts'
import { createLiveCredentials } from './live-credentials.ts'
import { createSecret, digestOf } from './secrets.ts'
import { createStoredAccess, NO_PERMISSIONS } from './stored-access.ts'
import { createStoredLimits, type TokenLimits } from './stored-limits.ts'
import { pageOf } from './token-pages.ts'
import { deleteToken, insertToken, renameInPermissions, rotateToken, updateToken } from './token-statements.ts'
import type { Used } from './uses.ts'

/** A token in memory. A change replaces the object: after an `await`, call `current` for the latest one. */
export interface LiveToken {
  readonly id: number
  readonly name: string
  readonly digest: string
  readonly tokenPrefix: string
  readonly permissions: Permissions
  /** null: the permissions say what the token opens. */
  readonly role: KeyRole | null
  readonly scope: Scope
  readonly isActive: boolean
  readonly expiresAt: number | null
  readonly integers: IntegerFormat
  readonly limits: TokenLimits
  readonly previous: PreviousSecret | null
  /** Newer than the stored value until the next `flush`. */
  readonly lastUsedAt: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** A token that may not have been used yet. */
type StoredToken = Omit<LiveToken, 'scope'>

interface Entry extends Omit<StoredToken, 'lastUsedAt'>, Used {
  /** null: the scope of the role is created at the first use. Many tokens are never used, and a scope needs 400 bytes. */
  scope: Scope | null
}

const SECRET_PREFIX = 'rh_'
const SECRET_LENGTH = 67

/** Returns the token of an Authorization header. */
const secretOf = (header: string) => {
  const secret = bearerOf(header)
  return secret?.length === SECRET_LENGTH ? secret : undefined
}

const tokenNotFound = (id: number) => new DomainError('TOKEN_NOT_FOUND', `There is no token with id ${id}.`)

/** The stored text is another object in each row. */
const toFormat = (text: unknown): IntegerFormat => integerFormats.find((format) => format === text) as IntegerFormat

const readPrevious = ({ previous_digest: digest, previous_until: validUntil }: Row): PreviousSecret | null =>
  digest === null || validUntil === null ? null : { digest: digest as string, validUntil: validUntil as number }

/** The boundary function that gives a row its type. The migrations define its columns. */
const createToEntry = () => {
  const { permissionsOf, roleOf } = createStoredAccess()
  const limitsOf = createStoredLimits()
  return (row: Row): Entry => {
    const { permissions, scope, isValid } = permissionsOf(row)
    const role = roleOf(row)
    const limits = limitsOf(row)
    return {
      id: row.id as number,
      name: row.name as string,
      digest: row.digest as string,
      tokenPrefix: row.token_prefix as string,
      permissions,
      scope: role ? null : scope,
      role,
      isActive: row.is_active === 1 && isValid && limits.isValid,
      expiresAt: row.expires_at as number | null,
      integers: toFormat(row.integers),
      limits,
      previous: readPrevious(row),
      lastUsedAt: row.last_used_at as number | null,
      savedUse: row.last_used_at as number | null,
      createdAt: row.created_at as number,
      updatedAt: row.updated_at as number
    }
  }
}

const toToken = (token: StoredToken, roleName: string | null, now: number): Token => ({
  id: token.id,
  name: token.name,
  token_prefix: token.tokenPrefix,
  permissions: token.permissions,
  role: roleName,
  claims: token.role?.claims ?? {},
  integers: token.integers,
  rate_limit: token.limits.rateLimit,
  networks: [...token.limits.networks],
  previous_valid_until: token.previous && now < token.previous.validUntil ? token.previous.validUntil : null,
  is_active: token.isActive,
  expires_at: token.expiresAt,
  last_used_at: token.lastUsedAt,
  created_at: token.createdAt,
  updated_at: token.updatedAt
})

const isLive = ({ isActive, expiresAt }: StoredToken, now: number) =>
  isActive && (expiresAt === null || now < expiresAt)

interface TokenServiceOptions {
  readonly db: Database
  readonly clock: Clock
  readonly roles: Pick<RoleService, 'nameOf' | 'findByName'>
  readonly scopeOf: KeyRights['scopeOf']
}

/** What a request changes of the role of a token. Absent properties stay. */
interface RoleInput {
  readonly role?: string | null
  readonly claims?: Claims
  readonly permissions?: Permissions
}

const PERMISSIONS_REQUIRED = {
  path: '/permissions',
  code: 'required',
  message: "'permissions' is required for a token without a role."
}

const hasPermissions = ({ tables, actions }: Permissions) => tables.length > 0 || actions.length > 0

/** @throws VALIDATION_FAILED for invalid claims, a token with a role and permissions, or with claims and no role */
const checkRoleOrPermissions = (roleId: number | null, { permissions, claims = {} }: RoleInput) => {
  checkClaims(claims)
  if (roleId !== null && permissions && hasPermissions(permissions)) {
    const message = "A token has a 'role' or 'permissions', not both."
    throw invalid([{ path: '/permissions', code: 'conflict', message }], "Send 'role': null to give it permissions.")
  }
  if (roleId !== null || Object.keys(claims).length === 0) return
  throw invalid([{ path: '/claims', code: 'conflict', message: "'claims' are for a token with a 'role'." }])
}

/** @throws VALIDATION_FAILED */
const checkNetworks = (networks: readonly string[] = []) => {
  const violations = networks.flatMap((network, index) =>
    isNetwork(network)
      ? []
      : {
          path: `/networks/${index}`,
          code: 'format',
          message: `'${excerpt(network)}' is not an address, or a network with a prefix of at least 1, such as 10.0.0.0/8. [] accepts all addresses.`
        }
  )
  if (violations.length > 0) throw invalid(violations)
}

/** Creates the service of access tokens. */
export const createTokenService = ({ db, clock, roles, scopeOf }: TokenServiceOptions) => {
  const live = createLiveCredentials<Entry>({
    db,
    clock,
    table: '_rowhouse_tokens',
    toEntry: createToEntry(),
    isLive,
    invalid: invalidToken,
    notFound: tokenNotFound
  })

  const roleNameOf = ({ role }: Pick<LiveToken, 'role'>) => role && roles.nameOf(role.id)
  const show = (token: StoredToken) => toToken(token, roleNameOf(token), clock())

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
   * Replaces the secret, and returns the new one. The old secret is valid until the overlap ends; the one before it ends now.
   * @throws TOKEN_NOT_FOUND
   */
  const rotate = async (caller: Caller, id: number, overlapSeconds: number): Promise<RotatedToken> => {
    const token = live.find(id)
    const now = clock()
    const previousUntil = overlapSeconds === 0 ? null : now + overlapSeconds * 1000
    const { secret, digest, mask } = createSecret(SECRET_PREFIX)
    const stored = { digest, tokenPrefix: mask }
    const summary = { tokenPrefix: mask, previousValidUntil: previousUntil }
    const [rotated] = await live.commit(token, [
      rotateToken(id, stored, { previousUntil, now }),
      auditRow(caller, now, { action: 'token.rotate', target: token.name, targetId: id, summary })
    ])
    live.cache(rotated?.rows[0] as Row)
    return { id, token: secret, tokenPrefix: mask, previousValidUntil: previousUntil }
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

  const withScope = (entry: Entry): LiveToken => {
    entry.scope ??= scopeOf(entry.role as KeyRole)
    return entry as LiveToken
  }

  /**
   * Returns the token of an Authorization header and records its use. `address`: of the client; empty on the local socket.
   * @throws INVALID_TOKEN, the same for every invalid credential
   */
  const authenticate = (header: string | undefined, address = ''): LiveToken => {
    const secret = header === undefined ? undefined : secretOf(header)
    const admits = ({ limits }: Entry) => limits.accepts(address)
    return withScope(live.authenticate(secret === undefined ? undefined : digestOf(secret), admits))
  }

  /** Returns the latest state of a token. @throws INVALID_TOKEN if it has been revoked or has expired */
  const current = (token: LiveToken): LiveToken => withScope(live.current(token))

  const toNamingToken = ({ id, name }: StoredToken) => ({ id, name })

  const isNamed = (table: string) => {
    const folded = foldName(table)
    return (name: string) => foldName(name) === folded
  }

  const names: TokenNames = {
    naming: (table) => {
      const isTable = isNamed(table)
      const found: StoredToken[] = []
      for (const token of live.all()) if (token.permissions.tables.some(isTable)) found.push(token)
      return found.map(toNamingToken)
    },
    rename: (table, name) => renameInPermissions(table, name, clock()),
    apply: (rows) => rows.map((row) => toNamingToken(live.cache(row)))
  }

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
    names
  }
}

export type TokenService = ReturnType<typeof createTokenService>
