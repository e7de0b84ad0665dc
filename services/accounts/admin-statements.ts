import type { Statement } from '../sql/statement.ts'

const COLUMNS = 'id, name, nickname, must_change_password, created_at, updated_at'

export interface NewAccount {
  readonly name: string
  readonly nickname: string
  readonly hash: string
}

/** null: unchanged. */
interface AccountChanges {
  readonly nickname: string | null
  readonly hash: string | null
}

export const listAdmins: Statement = { sql: `SELECT ${COLUMNS} FROM _rowhouse_admins ORDER BY id`, params: [] }

export const readAdmin = (id: number): Statement => ({
  sql: `SELECT ${COLUMNS} FROM _rowhouse_admins WHERE id = ?`,
  params: [BigInt(id)]
})

export const findAdmin = (id: number): Statement => ({
  sql: 'SELECT password_hash FROM _rowhouse_admins WHERE id = ?',
  params: [BigInt(id)]
})

export const findAccount = (name: string): Statement => ({
  sql: 'SELECT id, name, password_hash FROM _rowhouse_admins WHERE name = ?',
  params: [name]
})

const INSERT =
  'INSERT INTO _rowhouse_admins (name, nickname, password_hash, must_change_password, created_at, updated_at)'

export const insertAdmin = ({ name, nickname, hash }: NewAccount, now: number): Statement => ({
  sql: `${INSERT} VALUES (?, ?, ?, 1, ?, ?) RETURNING ${COLUMNS}`,
  params: [name, nickname, hash, BigInt(now), BigInt(now)],
  expect: 1
})

/** Fails its unit if there is an administrator already. */
export const insertFirstAdmin = ({ name, nickname, hash }: NewAccount, now: number): Statement => ({
  sql: `${INSERT} SELECT ?, ?, ?, 1, ?, ? WHERE NOT EXISTS (SELECT 1 FROM _rowhouse_admins)`,
  params: [name, nickname, hash, BigInt(now), BigInt(now)],
  expect: 1
})

export const updateAdmin = (id: number, { nickname, hash }: AccountChanges, now: number): Statement => ({
  sql: `UPDATE _rowhouse_admins SET nickname = coalesce(?, nickname), password_hash = coalesce(?, password_hash),
        must_change_password = iif(? IS NULL, must_change_password, 1), updated_at = max(?, updated_at + 1) WHERE id = ?`,
  params: [nickname, hash, hash, BigInt(now), BigInt(id)],
  expect: 1
})

/** For the administrator's own password: only if the stored hash is still the verified one. */
export const changePassword = (id: number, verified: string, hash: string, now: number): Statement => ({
  sql: `UPDATE _rowhouse_admins SET password_hash = ?, must_change_password = 0, updated_at = max(?, updated_at + 1)
        WHERE id = ? AND password_hash = ?`,
  params: [hash, BigInt(now), BigInt(id), verified],
  expect: 1
})

/** Stores the same password with a higher hashing cost, unless the password has changed. */
export const replaceHash = (id: number, hash: string, stronger: string): Statement => ({
  sql: 'UPDATE _rowhouse_admins SET password_hash = ? WHERE id = ? AND password_hash = ?',
  params: [stronger, BigInt(id), hash],
  expect: 1
})

/** Counts in the statement that deletes: of two concurrent deletions, the second one finds the last administrator. */
export const deleteUnlessLast = (id: number): Statement => ({
  sql: 'DELETE FROM _rowhouse_admins WHERE id = ? AND (SELECT count(*) FROM _rowhouse_admins) > 1',
  params: [BigInt(id)],
  expect: 1
})
