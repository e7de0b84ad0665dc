import type { NewRole, RoleChanges } from '../../schemas/role.ts'
import type { Statement } from '../sql/statement.ts'

export const listRoles: Statement = { sql: 'SELECT * FROM _rowhouse_roles ORDER BY id', params: [] }

export const insertRole = ({ name, grants }: NewRole, now: number): Statement => ({
  sql: 'INSERT INTO _rowhouse_roles (name, grants, created_at, updated_at) VALUES (?, ?, ?, ?) RETURNING *',
  params: [name, JSON.stringify(grants), BigInt(now), BigInt(now)]
})

export const updateRole = (id: number, { name, grants }: RoleChanges, now: number): Statement => ({
  sql: `UPDATE _rowhouse_roles SET name = coalesce(?, name), grants = coalesce(?, grants),
    updated_at = max(?, updated_at + 1) WHERE id = ? RETURNING *`,
  params: [name ?? null, grants ? JSON.stringify(grants) : null, BigInt(now), BigInt(id)],
  expect: 1
})

/** `updatedAt`: that of the role whose grants were rewritten. */
export const rewriteGrants = (
  id: number,
  grants: NewRole['grants'],
  { now, updatedAt }: { readonly now: number; readonly updatedAt: number }
): Statement => ({
  sql: 'UPDATE _rowhouse_roles SET grants = ?, updated_at = max(?, updated_at + 1) WHERE id = ? AND updated_at = ?',
  params: [JSON.stringify(grants), BigInt(now), BigInt(id), BigInt(updatedAt)],
  expect: 1
})

/** Expects that no grant names the table, ignoring case. */
export const expectNoGrant = (table: string): Statement => ({
  sql: `SELECT 1 FROM _rowhouse_roles AS role, temp.json_each(iif(json_valid(role.grants), role.grants, '[]')) AS entry,
    temp.json_each(iif(entry.type = 'object', entry.value, '{}'), '$.tables') AS named
    WHERE named.value = ? COLLATE NOCASE`,
  params: [table],
  expect: 0
})

/** Fails if a token has the role. */
export const deleteRole = (id: number): Statement => ({
  sql: 'DELETE FROM _rowhouse_roles WHERE id = ?',
  params: [BigInt(id)],
  expect: 1
})
