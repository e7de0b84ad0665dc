import type { AdminKey, AdminScope, IssuedAdminKey, NewAdminKey } from '../../schemas/admin-key.ts'
import { auditRow } from '../audit/audit-row.ts'
import type { Database } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError } from '../model/errors.ts'
import type { Row } from '../model/sql-value.ts'
import { deleteRetriesOfCaller } from '../sql/retries.ts'
import { deleteAdminKey, insertAdminKey } from './admin-key-statements.ts'
import { bearerOf } from './bearer.ts'
import { checkNewExpiry } from './expiry.ts'
import type { Used } from './last-uses.ts'
import { createLiveCredentials } from './live-credentials.ts'
import { createSecret, digestOf } from './secrets.ts'

/** An admin key in memory. */
export interface LiveAdminKey {
  readonly id: number
  readonly name: string
  readonly digest: string
  readonly keyPrefix: string
  readonly scopes: readonly AdminScope[]
  readonly expiresAt: number | null
  /** Newer than the stored value until the next `flush`. */
  readonly lastUsedAt: number | null
  readonly createdAt: number
}

interface Entry extends Omit<LiveAdminKey, 'lastUsedAt'>, Used {}

const SECRET_PREFIX = 'rha_'

/** Returns the admin key of an Authorization header; undefined if the header has no bearer that begins like one. */
export const adminKeyOf = (header: string | undefined): string | undefined => {
  const secret = header === undefined ? undefined : bearerOf(header)
  return secret?.startsWith(SECRET_PREFIX) ? secret : undefined
}

const invalidAdminKey = () =>
  new DomainError('INVALID_ADMIN_KEY', 'The admin key is malformed, unknown or expired.', {
    hint: 'An administrator issues keys with POST /admin/keys. GET /admin/keys lists the keys, with the time at which each expires.'
  })

const adminKeyNotFound = (id: number) => new DomainError('ADMIN_KEY_NOT_FOUND', `There is no admin key with id ${id}.`)

const noKeyAllowed = () =>
  new DomainError('ADMIN_KEY_NOT_ALLOWED', 'No admin key can make this call.', {
    hint: 'Log in as an administrator: POST /auth/login.'
  })

export const scopeMissing = (scope: AdminScope) =>
  new DomainError('ADMIN_KEY_NOT_ALLOWED', `The admin key needs the scope '${scope}'.`, {
    hint: 'The scopes of a key do not change. An administrator can issue another key: POST /admin/keys.'
  })

/** Checks that a key has all of these scopes. undefined: no key can make the call. @throws ADMIN_KEY_NOT_ALLOWED */
export const assertScopes = ({ scopes }: Pick<LiveAdminKey, 'scopes'>, needed: readonly AdminScope[] | undefined) => {
  if (needed === undefined) throw noKeyAllowed()
  const missing = needed.find((scope) => !scopes.includes(scope))
  if (missing !== undefined) throw scopeMissing(missing)
}

/** Returns no scopes for an invalid text, which only another program can have written. */
const readScopes = (text: string): readonly AdminScope[] => {
  try {
    const scopes: unknown = JSON.parse(text)
    return Array.isArray(scopes) ? scopes : []
  } catch {
    return []
  }
}

/** The boundary function that gives a row its type. The migrations define its columns. */
const toEntry = (row: Row): Entry => ({
  id: row.id as number,
  name: row.name as string,
  digest: row.digest as string,
  keyPrefix: row.key_prefix as string,
  scopes: readScopes(row.scopes as string),
  expiresAt: row.expires_at as number | null,
  lastUsedAt: row.last_used_at as number | null,
  savedUse: row.last_used_at as number | null,
  createdAt: row.created_at as number
})

const toAdminKey = (key: LiveAdminKey): AdminKey => ({
  id: key.id,
  name: key.name,
  key_prefix: key.keyPrefix,
  scopes: [...key.scopes],
  expires_at: key.expiresAt,
  last_used_at: key.lastUsedAt,
  created_at: key.createdAt
})

const isLive = ({ expiresAt }: Entry, now: number) => expiresAt === null || now < expiresAt

/** Creates the service of admin keys. */
export const createAdminKeyService = ({ db, clock }: { db: Database; clock: Clock }) => {
  const live = createLiveCredentials<Entry>({
    db,
    clock,
    table: '_rowhouse_admin_keys',
    toEntry,
    isLive,
    invalid: invalidAdminKey,
    notFound: adminKeyNotFound
  })

  const list = (): AdminKey[] => Array.from(live.all(), toAdminKey)

  /** @throws ADMIN_KEY_NOT_FOUND */
  const read = (id: number): AdminKey => toAdminKey(live.find(id))

  /** Issues a key. Only this result contains its secret: the digest is stored. @throws VALIDATION_FAILED */
  const issue = async (caller: Caller, { name, scopes: requested, expiresAt = null }: NewAdminKey) => {
    const now = clock()
    checkNewExpiry(expiresAt, now)
    const created = createSecret(SECRET_PREFIX)
    const scopes = [...new Set(requested)]
    const summary = { keyPrefix: created.mask, scopes, expiresAt }
    const [inserted] = await db.write([
      insertAdminKey(created, { name, scopes, expiresAt }, now),
      auditRow(caller, now, { action: 'key.issue', target: name, summary })
    ])
    const entry = live.cache(inserted?.rows[0] as Row)
    const issued: IssuedAdminKey = {
      id: entry.id,
      name,
      key: created.secret,
      keyPrefix: entry.keyPrefix,
      scopes,
      expiresAt
    }
    return issued
  }

  /** @throws ADMIN_KEY_NOT_FOUND */
  const revoke = async (caller: Caller, id: number) => {
    const key = live.find(id)
    await live.commit(key, [
      deleteAdminKey(id),
      deleteRetriesOfCaller({ kind: 'key', id, name: key.name }),
      auditRow(caller, clock(), { action: 'key.revoke', target: key.name, targetId: id })
    ])
    live.evict(key)
  }

  /** Returns the key with this secret and records its use. @throws INVALID_ADMIN_KEY */
  const authenticate = (secret: string): LiveAdminKey => live.authenticate(digestOf(secret))

  const { load, current, flush } = live
  return { load, list, read, issue, revoke, authenticate, current, flush }
}

export type AdminKeyService = ReturnType<typeof createAdminKeyService>
