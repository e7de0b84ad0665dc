import type { NewAdminKey } from '../../schemas/admin-key.ts'
import type { Statement } from '../sql/statement.ts'
import type { NewSecret } from './secrets.ts'

export const insertAdminKey = (
  { digest, mask }: NewSecret,
  { name, scopes, expiresAt }: NewAdminKey,
  now: number
): Statement => ({
  sql: `INSERT INTO _rowhouse_admin_keys (name, digest, key_prefix, scopes, expires_at, last_used_at, created_at)
    VALUES (?, ?, ?, ?, ?, NULL, ?) RETURNING *`,
  params: [name, digest, mask, JSON.stringify(scopes), expiresAt == null ? null : BigInt(expiresAt), BigInt(now)]
})

export const deleteAdminKey = (id: number): Statement => ({
  sql: 'DELETE FROM _rowhouse_admin_keys WHERE id = ?',
  params: [BigInt(id)],
  expect: 1
})
