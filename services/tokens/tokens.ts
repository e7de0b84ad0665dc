import { hash, randomBytes } from 'node:crypto'
import type { IssuedToken, NewToken, Permissions, Token, TokenChanges } from '../../schemas/token.ts'
import type { Database } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError, invalid } from '../model/errors.ts'
import type { Row } from '../model/sql-value.ts'
import { createScope, type Scope } from './permissions.ts'
import { deleteToken, insertToken, listTokens, saveUses, updateToken } from './token-statements.ts'

/** A token as it stands in memory. Each change makes a new one, so ask `current` for it after any waiting. */
export interface LiveToken {
  readonly id: number
  readonly name: string
  readonly digest: string
  readonly tokenPrefix: string
  readonly permissions: Permissions
  readonly scope: Scope
  readonly isActive: boolean
  readonly expiresAt: number | null
  /** Ahead of the disk until the next `flush`. */
  readonly lastUsedAt: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

interface Entry extends LiveToken {
  lastUsedAt: number | null
  /** What the disk has of `lastUsedAt`. */
  savedUse: number | null
}

const SCHEME = 'bearer '
const SECRET_LENGTH = 67
const SHOWN_LENGTH = 11

const generateSecret = () => `rh_${randomBytes(32).toString('hex')}`
const digestOf = (secret: string) => hash('sha256', secret)
const maskOf = (secret: string) => `${secret.slice(0, SHOWN_LENGTH)}********`

/** The token of an Authorization header (RFC 9110, 11.4: the scheme ignores case, spaces follow it). */
const secretOf = (header: string) => {
  if (header.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return undefined
  const secret = header.slice(SCHEME.length).trimStart()
  return secret.length === SECRET_LENGTH ? secret : undefined
}

const invalidToken = () =>
  new DomainError('INVALID_TOKEN', 'The bearer token is missing, malformed, unknown, inactive or expired.', {
    hint: 'Send the header Authorization: Bearer <token>, with a token of POST /admin/tokens.'
  })

const tokenNotFound = (id: number) => new DomainError('TOKEN_NOT_FOUND', `There is no token with id ${id}.`)

/** Milliseconds of our time have 13 digits; seconds of it lie in this range, and would mean a day of 1970. */
const looksLikeSeconds = (time: number) => time >= 1e9 && time <= 1e11

const checkExpiry = (expiresAt: number | null | undefined) => {
  if (expiresAt == null || !looksLikeSeconds(expiresAt)) return
  const message = `'expiresAt' counts milliseconds; ${expiresAt} looks like seconds.`
  throw invalid([{ path: '/expiresAt', code: 'range', message }], `Send ${expiresAt * 1000} if that is what you mean.`)
}

/** Null where another program has written what is none: such a token opens nothing, and keeps no other from loading. */
const readPermissions = (text: string) => {
  try {
    const permissions = JSON.parse(text) as Permissions
    return { permissions, scope: createScope(permissions) }
  } catch {
    return null
  }
}

const nothing = { tables: [], actions: [] }

/** The boundary where a row gets its type: its columns are those of the migrations. */
const toEntry = (row: Row): Entry => {
  const readable = readPermissions(row.permissions as string)
  return {
    id: row.id as number,
    name: row.name as string,
    digest: row.digest as string,
    tokenPrefix: row.token_prefix as string,
    ...(readable ?? { permissions: nothing, scope: createScope(nothing) }),
    isActive: row.is_active === 1 && readable !== null,
    expiresAt: row.expires_at as number | null,
    lastUsedAt: row.last_used_at as number | null,
    savedUse: row.last_used_at as number | null,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number
  }
}

const toToken = (token: LiveToken): Token => ({
  id: token.id,
  name: token.name,
  token_prefix: token.tokenPrefix,
  permissions: token.permissions,
  is_active: token.isActive,
  expires_at: token.expiresAt,
  last_used_at: token.lastUsedAt,
  created_at: token.createdAt,
  updated_at: token.updatedAt
})

const isLive = ({ isActive, expiresAt }: LiveToken, now: number) => isActive && (expiresAt === null || now < expiresAt)

/**
 * Access tokens. All of them are in memory, since every request of the data interface asks for one; a change is
 * applied there in the step that acknowledges its commit, so that the very next request sees it.
 */
export const createTokenService = ({ db, clock }: { db: Database; clock: Clock }) => {
  let byId = new Map<number, Entry>()
  let byDigest = new Map<string, Entry>()

  /** A use that the disk does not know yet outlives whatever is read from there. */
  const withLatestUse = (entry: Entry) => {
    const usedAt = byId.get(entry.id)?.lastUsedAt ?? 0
    if (usedAt > (entry.lastUsedAt ?? 0)) entry.lastUsedAt = usedAt
    return entry
  }

  const remember = (row: Row) => {
    const entry = withLatestUse(toEntry(row))
    byId.set(entry.id, entry)
    byDigest.set(entry.digest, entry)
    return entry
  }

  const forget = (id: number) => {
    const entry = byId.get(id)
    if (!entry) return
    byId.delete(id)
    byDigest.delete(entry.digest)
  }

  /**
   * Reads every token anew: at the start, and whenever another program has committed. On the event loop, so that no
   * change of ours can be acknowledged between the snapshot and its arrival here.
   */
  const load = async () => {
    const rows = await db.read(listTokens)
    const entries = rows.map(toEntry).map(withLatestUse)
    byId = new Map(entries.map((entry) => [entry.id, entry]))
    byDigest = new Map(entries.map((entry) => [entry.digest, entry]))
  }

  const list = (): Token[] => [...byId.values()].map(toToken)

  /** The one answer that shows the secret; only its digest is kept. */
  const issue = async (_caller: Caller, token: NewToken): Promise<IssuedToken> => {
    checkExpiry(token.expiresAt)
    const secret = generateSecret()
    const trace = { digest: digestOf(secret), tokenPrefix: maskOf(secret) }
    const [inserted] = await db.write([insertToken(trace, token, clock())])
    const { id, name, tokenPrefix, permissions } = remember(inserted?.rows[0] as Row)
    return { id, name, token: secret, tokenPrefix, permissions }
  }

  const change = async (_caller: Caller, id: number, changes: TokenChanges) => {
    checkExpiry(changes.expiresAt)
    const [updated] = await db.write([updateToken(id, changes, clock())])
    const row = updated?.rows[0]
    if (!row) throw tokenNotFound(id)
    remember(row)
  }

  const revoke = async (_caller: Caller, id: number) => {
    const [deleted] = await db.write([deleteToken(id)])
    forget(id)
    if (deleted?.changes === 0) throw tokenNotFound(id)
  }

  const findLive = (digest: string | undefined) => {
    const now = clock()
    const entry = digest === undefined ? undefined : byDigest.get(digest)
    if (!entry || !isLive(entry, now)) throw invalidToken()
    return { entry, now }
  }

  /** The token of an Authorization header, marked as used. Every bad credential gives the same INVALID_TOKEN. */
  const authenticate = (header: string | undefined): LiveToken => {
    const secret = header === undefined ? undefined : secretOf(header)
    const { entry, now } = findLive(secret === undefined ? undefined : digestOf(secret))
    entry.lastUsedAt = now
    return entry
  }

  /** The same token as it is now. @throws INVALID_TOKEN when it has been revoked or has expired meanwhile. */
  const current = (token: LiveToken): LiveToken => findLive(token.digest).entry

  /** Saves the uses since the last time. What cannot be saved now stays for the next time. */
  const flush = async () => {
    const used = [...byId.values()].filter(({ lastUsedAt, savedUse }) => lastUsedAt !== savedUse)
    if (used.length === 0) return
    const uses = used.map(({ id, lastUsedAt }) => [id, lastUsedAt as number] as const)
    await db.write([saveUses(uses)])
    for (const [id, usedAt] of uses) {
      const entry = byId.get(id)
      if (entry) entry.savedUse = usedAt
    }
  }

  return { load, list, issue, change, revoke, authenticate, current, flush }
}

export type TokenService = ReturnType<typeof createTokenService>
