import type { Statement } from '../sql/statement.ts'

interface NewSession {
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
  params: [id, BigInt(now), BigInt(expiresAt), BigInt(admin), hash],
  expect: 1
})

export const readSession = (id: string, now: number): Statement => ({
  sql: `SELECT s.id AS session, s.created_at AS issued_at, s.expires_at, a.id, a.name, a.nickname, a.must_change_password
        FROM _rowhouse_sessions s JOIN _rowhouse_admins a ON a.id = s.admin_id WHERE s.id = ? AND s.expires_at > ?`,
  params: [id, BigInt(now)]
})

export const endSession = (id: string): Statement => ({
  sql: 'DELETE FROM _rowhouse_sessions WHERE id = ?',
  params: [id]
})

/** For the unit that sets a password: whoever knew the old one is out as soon as the new one holds. */
export const endSessionsOf = (admin: number, except = ''): Statement => ({
  sql: 'DELETE FROM _rowhouse_sessions WHERE admin_id = ? AND id <> ?',
  params: [BigInt(admin), except]
})

export const forgetExpiredSessions = (now: number): Statement => ({
  sql: 'DELETE FROM _rowhouse_sessions WHERE expires_at <= ?',
  params: [BigInt(now)]
})
