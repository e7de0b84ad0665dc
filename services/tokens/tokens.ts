import type { Claims } from '../../schemas/role.ts'
import type { IntegerFormat, IssuedToken, NewToken, Permissions, Token, TokenChanges } from '../../schemas/token.ts'
import { auditRow, summaryOf } from '../audit/audit-row.ts'
import type { Database } from '../engine/database.ts'
import type { Caller, KeyRole } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError, excerpt, invalid } from '../model/errors.ts'
import { isJsonObject } from '../model/json-object.ts'
import { foldName } from '../model/names.ts'
import type { Scope } from '../model/scope.ts'
import type { Row } from '../model/sql-value.ts'
import { checkClaims } from '../roles/claims.ts'
import type { KeyRights } from '../roles/key-rights.ts'
import type { RoleService } from '../roles/roles.ts'
import { deleteRetriesOfCaller } from '../sql/retries.ts'
import type { TokenNames } from '../tables/changes/renames.ts'
import { bearerOf } from './bearer.ts'
import { checkExpiry, checkNewExpiry } from './expiry.ts'
import { invalidToken } from './invalid-token.ts'
import { createLiveCredentials } from './live-credentials.ts'
import { createScope } from './permissions.ts'
import { createSecret, digestOf } from './secrets.ts'
import { deleteToken, insertToken, listTokens, renameInPermissions, updateToken } from './token-statements.ts'
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
  /** Newer than the stored value until the next `flush`. */
  readonly lastUsedAt: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

interface Entry extends Omit<LiveToken, 'lastUsedAt'>, Used {}

const SECRET_PREFIX = 'rh_'
const SECRET_LENGTH = 67

/** Returns the token of an Authorization header. */
const secretOf = (header: string) => {
  const secret = bearerOf(header)
  return secret?.length === SECRET_LENGTH ? secret : undefined
}

const tokenNotFound = (id: number) => new DomainError('TOKEN_NOT_FOUND', `There is no token with id ${id}.`)

/** Returns null for an invalid text, which only another program can have written: the other tokens still load. */
const readPermissions = (text: string) => {
  try {
    const permissions = JSON.parse(text) as Permissions
    return { permissions, scope: createScope(permissions) }
  } catch {
    return null
  }
}

/** Returns no claims for text that is not a JSON object, which only another program can have written: then rules open nothing. */
const readClaims = (text: string): Claims => {
  try {
    const claims: unknown = JSON.parse(text)
    return isJsonObject(claims) ? (claims as Claims) : {}
  } catch {
    return {}
  }
}

const readRole = ({ role_id, claims }: Row): KeyRole | null =>
  role_id === null ? null : { id: role_id as number, claims: readClaims(claims as string) }

const NO_PERMISSIONS = { tables: [], actions: [] }

/** The boundary function that gives a row its type. The migrations define its columns. */
const toEntry = (row: Row, scopeOf: KeyRights['scopeOf']): Entry => {
  const readable = readPermissions(row.permissions as string)
  const role = readRole(row)
  return {
    id: row.id as number,
    name: row.name as string,
    digest: row.digest as string,
    tokenPrefix: row.token_prefix as string,
    ...(readable ?? { permissions: NO_PERMISSIONS, scope: createScope(NO_PERMISSIONS) }),
    ...(role && { scope: scopeOf(role) }),
    role,
    isActive: row.is_active === 1 && readable !== null,
    expiresAt: row.expires_at as number | null,
    integers: row.integers as IntegerFormat,
    lastUsedAt: row.last_used_at as number | null,
    savedUse: row.last_used_at as number | null,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number
  }
}

const toToken = (token: LiveToken, roleName: string | null): Token => ({
  id: token.id,
  name: token.name,
  token_prefix: token.tokenPrefix,
  permissions: token.permissions,
  role: roleName,
  claims: token.role?.claims ?? {},
  integers: token.integers,
  is_active: token.isActive,
  expires_at: token.expiresAt,
  last_used_at: token.lastUsedAt,
  created_at: token.createdAt,
  updated_at: token.updatedAt
})

const isLive = ({ isActive, expiresAt }: LiveToken, now: number) => isActive && (expiresAt === null || now < expiresAt)

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

/** Creates the service of access tokens. */
export const createTokenService = ({ db, clock, roles, scopeOf }: TokenServiceOptions) => {
  const live = createLiveCredentials<Entry>({
    db,
    clock,
    table: '_rowhouse_tokens',
    selectAll: listTokens,
    toEntry: (row) => toEntry(row, scopeOf),
    isLive,
    invalid: invalidToken,
    notFound: tokenNotFound
  })

  const show = (token: LiveToken) => toToken(token, token.role && roles.nameOf(token.role.id))

  const list = (): Token[] => live.all().map(show)

  /** @throws VALIDATION_FAILED */
  const roleIdOf = (name: string): number => {
    const role = roles.findByName(name)
    if (role) return role.id
    throw invalid(
      [{ path: '/role', code: 'unknown', message: `There is no role '${excerpt(name)}'.` }],
      'GET /admin/roles lists the roles.'
    )
  }

  /** Returns the number of tokens with a role. */
  const countOf = (roleId: number) => live.all().filter(({ role }) => role?.id === roleId).length

  /** @throws TOKEN_NOT_FOUND */
  const read = (id: number): Token => show(live.find(id))

  /** Issues a token. Only this result contains its secret: the digest is stored. */
  const issue = async (caller: Caller, token: NewToken): Promise<IssuedToken> => {
    const now = clock()
    checkNewExpiry(token.expiresAt, now)
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

  const revoke = async (caller: Caller, id: number) => {
    const token = live.find(id)
    await live.commit(token, [
      deleteToken(id),
      deleteRetriesOfCaller({ ...token, kind: 'token' }),
      auditRow(caller, clock(), { action: 'token.revoke', target: token.name, targetId: id })
    ])
    live.evict(token)
  }

  /**
   * Returns the token of an Authorization header and records its use.
   * @throws INVALID_TOKEN, the same for every invalid credential
   */
  const authenticate = (header: string | undefined): LiveToken => {
    const secret = header === undefined ? undefined : secretOf(header)
    return live.authenticate(secret === undefined ? undefined : digestOf(secret))
  }

  const toNamingToken = ({ id, name }: LiveToken) => ({ id, name })

  const names: TokenNames = {
    naming: (table) =>
      live
        .all()
        .filter(({ permissions }) => permissions.tables.some((name) => foldName(name) === foldName(table)))
        .map(toNamingToken),
    rename: (table, name) => renameInPermissions(table, name, clock()),
    apply: (rows) => rows.map((row) => toNamingToken(live.cache(row)))
  }

  const { load, find, current, currentById, flush } = live
  return { load, list, countOf, read, find, issue, change, revoke, authenticate, current, currentById, flush, names }
}

export type TokenService = ReturnType<typeof createTokenService>
