import {
  DEFAULT_WINDOW,
  type NewToken,
  type Permissions,
  type RateLimitInput,
  type TokenChanges
} from '../../schemas/token.ts'
import type { Statement } from '../sql/statement.ts'

const toJson = (value: object | null | undefined) => (value == null ? null : JSON.stringify(value))

/** NULL: any number of requests. */
const toRateLimit = ({ requests, seconds = DEFAULT_WINDOW }: RateLimitInput = { requests: null }) =>
  requests === null ? null : JSON.stringify({ requests, seconds })

const toInteger = (value: number | boolean | null | undefined) => (value == null ? null : BigInt(value))

/** The stored form of a secret. */
interface StoredSecret {
  readonly digest: string
  readonly tokenPrefix: string
}

interface TokenValues extends NewToken {
  readonly permissions: Permissions
  readonly roleId: number | null
}

/** `roleId`: undefined if it stays. */
interface StoredChanges extends TokenChanges {
  readonly roleId: number | null | undefined
}

export const insertToken = (
  { digest, tokenPrefix }: StoredSecret,
  { name, permissions, roleId, claims = {}, expiresAt, integers = 'auto', rateLimit, networks }: TokenValues,
  now: number
): Statement => ({
  sql: `INSERT INTO _rowhouse_tokens
    (name, digest, token_prefix, permissions, is_active, expires_at, last_used_at, created_at, updated_at, integers,
      role_id, claims, rate_limit, networks)
    VALUES (?, ?, ?, ?, 1, ?, NULL, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
  params: [
    name,
    digest,
    tokenPrefix,
    JSON.stringify(permissions),
    toInteger(expiresAt),
    BigInt(now),
    BigInt(now),
    integers,
    toInteger(roleId),
    JSON.stringify(claims),
    toRateLimit(rateLimit),
    toJson(networks)
  ]
})

export const updateToken = (
  id: number,
  { name, permissions, roleId, claims, isActive, expiresAt, integers, rateLimit, networks }: StoredChanges,
  now: number
): Statement => ({
  sql: `UPDATE _rowhouse_tokens SET
    name = coalesce(?, name),
    permissions = coalesce(?, permissions),
    is_active = coalesce(?, is_active),
    expires_at = iif(?, ?, expires_at),
    integers = coalesce(?, integers),
    role_id = iif(?, ?, role_id),
    claims = coalesce(?, claims),
    rate_limit = iif(?, ?, rate_limit),
    networks = coalesce(?, networks),
    updated_at = max(?, updated_at + 1)
    WHERE id = ? RETURNING *`,
  expect: 1,
  params: [
    name ?? null,
    toJson(permissions),
    toInteger(isActive),
    toInteger(expiresAt !== undefined),
    toInteger(expiresAt),
    integers ?? null,
    toInteger(roleId !== undefined),
    toInteger(roleId),
    toJson(claims),
    toInteger(rateLimit !== undefined),
    toRateLimit(rateLimit),
    toJson(networks),
    BigInt(now),
    BigInt(id)
  ]
})

/** Expects that no token names the table in its permissions, ignoring case. */
export const expectNoPermission = (table: string): Statement => ({
  sql: `SELECT 1 FROM _rowhouse_tokens AS token,
    temp.json_each(iif(json_valid(token.permissions), token.permissions, '{}'), '$.tables') AS named
    WHERE named.value = ? COLLATE NOCASE`,
  params: [table],
  expect: 0
})

/** Replaces the name of a table in the permissions of all tokens, ignoring case. Skips a text that is not JSON. */
export const renameInPermissions = (table: string, name: string, now: number): Statement => ({
  sql: `UPDATE _rowhouse_tokens SET
    permissions = json_set(permissions, '$.tables', json((
      SELECT json_group_array(DISTINCT iif(entry.value = ? COLLATE NOCASE, ?, entry.value))
      FROM temp.json_each(permissions, '$.tables') AS entry))),
    updated_at = max(?, updated_at + 1)
    WHERE CASE WHEN json_valid(permissions) THEN EXISTS (
      SELECT 1 FROM temp.json_each(permissions, '$.tables') AS entry WHERE entry.value = ? COLLATE NOCASE) END
    RETURNING *`,
  params: [table, name, BigInt(now), table]
})

/** Replaces the secret. `previousValidUntil`: the end of the previous secret, in epoch milliseconds; null: it ends now. */
export const rotateToken = (
  id: number,
  { digest, tokenPrefix }: StoredSecret,
  { previousValidUntil, now }: { readonly previousValidUntil: number | null; readonly now: number }
): Statement => ({
  sql: `UPDATE _rowhouse_tokens SET
    previous_digest = iif(?, digest, NULL),
    previous_until = ?,
    digest = ?,
    token_prefix = ?,
    updated_at = max(?, updated_at + 1)
    WHERE id = ? RETURNING *`,
  expect: 1,
  params: [
    toInteger(previousValidUntil !== null),
    toInteger(previousValidUntil),
    digest,
    tokenPrefix,
    BigInt(now),
    BigInt(id)
  ]
})

export const deleteToken = (id: number): Statement => ({
  sql: 'DELETE FROM _rowhouse_tokens WHERE id = ?',
  params: [BigInt(id)],
  expect: 1
})
