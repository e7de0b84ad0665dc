import type { Statement } from '../sql/statement.ts'

const COLUMNS = 'id, name, nickname, must_change_password, created_at, updated_at'

interface NewAccount {
  readonly name: string
  readonly nickname: string
  readonly hash: string
}

/** Null leaves a value as it is. */
interface AccountChanges {
  readonly nickname: string | null
  readonly hash: string | null
}

export const listAdmins: Statement = { sql: `SELECT ${COLUMNS} FROM _rowhouse_admins ORDER BY id`, params: [] }

export const findAdmin = (id: number): Statement => ({
  sql: 'SELECT password_hash FROM _rowhouse_admins WHERE id = ?',
  params: [BigInt(id)]
})

export const findAccount = (name: string): Statement => ({
  sql: 'SELECT id, password_hash FROM _rowhouse_admins WHERE name = ?',
  params: [name]
})

const INSERT =
  'INSERT INTO _rowhouse_admins (name, nickname, password_hash, must_change_password, created_at, updated_at)'

export const insertAdmin = ({ name, nickname, hash }: NewAccount, now: number): Statement => ({
  sql: `${INSERT} VALUES (?, ?, ?, 1, ?, ?) RETURNING ${COLUMNS}`,
  params: [name, nickname, hash, BigInt(now), BigInt(now)],
  expect: 1
})

/** Inserts nothing where there is an administrator already. */
export const insertFirstAdmin = ({ name, nickname, hash }: NewAccount, now: number): Statement => ({
  sql: `${INSERT} SELECT ?, ?, ?, 1, ?, ? WHERE NOT EXISTS (SELECT 1 FROM _rowhouse_admins)`,
  params: [name, nickname, hash, BigInt(now), BigInt(now)]
})

export const updateAdmin = (id: number, { nickname, hash }: AccountChanges, now: number): Statement => ({
  sql: `UPDATE _rowhouse_admins SET nickname = coalesce(?, nickname), password_hash = coalesce(?, password_hash),
        must_change_password = iif(? IS NULL, must_change_password, 1), updated_at = max(?, updated_at + 1) WHERE id = ?`,
  params: [nickname, hash, hash, BigInt(now), BigInt(id)],
  expect: 1
})

/** Of one's own: so long as the hash is the one that the old password was verified against. */
export const changePassword = (id: number, verified: string, hash: string, now: number): Statement => ({
  sql: `UPDATE _rowhouse_admins SET password_hash = ?, must_change_password = 0, updated_at = max(?, updated_at + 1)
        WHERE id = ? AND password_hash = ?`,
  params: [hash, BigInt(now), BigInt(id), verified],
  expect: 1
})

/** The same password at a higher cost, so long as nobody changed it meanwhile. */
export const replaceHash = (id: number, hash: string, renewed: string): Statement => ({
  sql: 'UPDATE _rowhouse_admins SET password_hash = ? WHERE id = ? AND password_hash = ?',
  params: [renewed, BigInt(id), hash],
  expect: 1
})

/** The count is taken by the statement that deletes: of two at once, the second finds only one left. */
export const deleteUnlessLast = (id: number): Statement => ({
  sql: 'DELETE FROM _rowhouse_admins WHERE id = ? AND (SELECT count(*) FROM _rowhouse_admins) > 1',
  params: [BigInt(id)],
  expect: 1
})
