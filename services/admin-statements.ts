import type { Statement } from './database/database.ts'

const COLUMNS = 'id, name, nickname, must_change_password, created_at, updated_at'

export interface NewAccount {
  readonly name: string
  readonly nickname: string
  readonly hash: string
}

/** Null leaves a value as it is. */
export interface AccountChanges {
  readonly nickname: string | null
  readonly hash: string | null
}

export const listAdmins: Statement = { sql: `SELECT ${COLUMNS} FROM _rowhouse_admins ORDER BY id`, params: [] }

export const findAdmin = (id: number): Statement => ({
  sql: 'SELECT name, password_hash FROM _rowhouse_admins WHERE id = ?',
  params: [id]
})

export const findAccount = (name: string): Statement => ({
  sql: 'SELECT id, password_hash FROM _rowhouse_admins WHERE name = ?',
  params: [name]
})

const INSERT =
  'INSERT INTO _rowhouse_admins (name, nickname, password_hash, must_change_password, created_at, updated_at)'

export const insertAdmin = ({ name, nickname, hash }: NewAccount, now: number): Statement => ({
  sql: `${INSERT} VALUES (?, ?, ?, 1, ?, ?) RETURNING ${COLUMNS}`,
  params: [name, nickname, hash, now, now],
  expect: 1
})

/** Inserts nothing where there is an administrator already. */
export const insertFirstAdmin = ({ name, nickname, hash }: NewAccount, now: number): Statement => ({
  sql: `${INSERT} SELECT ?, ?, ?, 1, ?, ? WHERE NOT EXISTS (SELECT 1 FROM _rowhouse_admins)`,
  params: [name, nickname, hash, now, now]
})

export const updateAdmin = (id: number, { nickname, hash }: AccountChanges, now: number): Statement => ({
  sql: `UPDATE _rowhouse_admins SET nickname = coalesce(?, nickname), password_hash = coalesce(?, password_hash),
        must_change_password = iif(? IS NULL, must_change_password, 1), updated_at = max(?, updated_at + 1) WHERE id = ?`,
  params: [nickname, hash, hash, now, id],
  expect: 1
})

/** A session ends with every other change of the password: where the unit asks for it, it vouches for the old one. */
export const changePassword = (id: number, hash: string, now: number): Statement => ({
  sql: `UPDATE _rowhouse_admins SET password_hash = ?, must_change_password = 0, updated_at = max(?, updated_at + 1)
        WHERE id = ?`,
  params: [hash, now, id],
  expect: 1
})

/** The same password at a higher cost, so long as nobody changed it meanwhile. */
export const replaceHash = (id: number, hash: string, renewed: string): Statement => ({
  sql: 'UPDATE _rowhouse_admins SET password_hash = ? WHERE id = ? AND password_hash = ?',
  params: [renewed, id, hash],
  expect: 1
})

/** The count is taken by the statement that deletes: of two at once, the second finds only one left. */
export const deleteUnlessLast = (id: number): Statement => ({
  sql: 'DELETE FROM _rowhouse_admins WHERE id = ? AND (SELECT count(*) FROM _rowhouse_admins) > 1',
  params: [id],
  expect: 1
})

export interface NewSession {
  readonly id: string
  readonly admin: number
  /** The hash that was verified: the session opens only while it still holds. */
  readonly hash: string
  readonly now: number
  readonly expiresAt: number
}

export const openSession = ({ id, admin, hash, now, expiresAt }: NewSession): Statement => ({
  sql: `INSERT INTO _rowhouse_sessions (id, admin_id, created_at, expires_at)
        SELECT ?, id, ?, ? FROM _rowhouse_admins WHERE id = ? AND password_hash = ?`,
  params: [id, now, expiresAt, admin, hash],
  expect: 1
})

export const readSession = (id: string, now: number): Statement => ({
  sql: `SELECT s.id AS session, s.created_at AS issued_at, s.expires_at, a.id, a.name, a.nickname, a.must_change_password
        FROM _rowhouse_sessions s JOIN _rowhouse_admins a ON a.id = s.admin_id WHERE s.id = ? AND s.expires_at > ?`,
  params: [id, now]
})

export const endSession = (id: string): Statement => ({
  sql: 'DELETE FROM _rowhouse_sessions WHERE id = ?',
  params: [id]
})

/** For the unit that sets a password: whoever knew the old one is out as soon as the new one holds. */
export const endSessionsOf = (admin: number, except = ''): Statement => ({
  sql: 'DELETE FROM _rowhouse_sessions WHERE admin_id = ? AND id <> ?',
  params: [admin, except]
})

export const forgetExpiredSessions = (now: number): Statement => ({
  sql: 'DELETE FROM _rowhouse_sessions WHERE expires_at <= ?',
  params: [now]
})
