import type { Statement } from '../sql/statement.ts'

/** Where a login came from, for the list of sessions. */
export interface LoginClient {
  readonly address: string
  /** The header User-Agent, cut to 200 characters. Empty without one. */
  readonly userAgent: string
}

interface NewSession extends LoginClient {
  readonly id: string
  readonly admin: number
  /** The verified hash: the session opens only if the account still has it. */
  readonly hash: string
  readonly now: number
  readonly expiresAt: number
}

/** The account of a session in memory, with the hash that it had at the login. */
interface Holder {
  readonly admin: number
  readonly hash: string
}

const adminColumn = (name: string) =>
  `(SELECT a.${name} FROM _rowhouse_admins AS a WHERE a.id = _rowhouse_sessions.admin_id) AS ${name}`

/** Stores a session. Returns its row with the same columns as `readSession`. */
export const openSession = ({ id, admin, hash, now, expiresAt, address, userAgent }: NewSession): Statement => ({
  sql: `INSERT INTO _rowhouse_sessions (id, admin_id, created_at, expires_at, address, user_agent)
        SELECT ?, a.id, ?, ?, ?, ? FROM _rowhouse_admins AS a WHERE a.id = ? AND a.password_hash = ?
        RETURNING id AS session, created_at AS issued_at, expires_at, admin_id AS id,
          ${['name', 'nickname', 'must_change_password'].map(adminColumn).join(', ')}`,
  params: [id, BigInt(now), BigInt(expiresAt), address, userAgent, BigInt(admin), hash],
  expect: 1
})

export const readSession = (id: string, now: number): Statement => ({
  sql: `SELECT s.id AS session, s.created_at AS issued_at, s.expires_at, a.id, a.name, a.nickname, a.must_change_password
        FROM _rowhouse_sessions AS s JOIN _rowhouse_admins AS a ON a.id = s.admin_id WHERE s.id = ? AND s.expires_at > ?`,
  params: [id, BigInt(now)]
})

/** Maximum number of listed sessions: a program may log in for each of its requests. */
const MAX_LISTED = 100

/** Reads the latest sessions of an administrator, the latest login first. */
export const listSessions = (admin: number, now: number): Statement => ({
  sql: `SELECT id, address, user_agent, created_at, expires_at FROM _rowhouse_sessions
        WHERE admin_id = ? AND expires_at > ? ORDER BY created_at DESC, id LIMIT ${MAX_LISTED}`,
  params: [BigInt(admin), BigInt(now)]
})

/** Fails its unit if the session has ended. Units return rows only from RETURNING, so the guard is an update. */
export const requireSession = (id: string, now: number): Statement => ({
  sql: 'UPDATE _rowhouse_sessions SET expires_at = expires_at WHERE id = ? AND expires_at > ?',
  params: [id, BigInt(now)],
  expect: 1
})

/** Reads the administrator of a session in memory. Returns no row once the account has another hash. */
export const readHolder = ({ admin, hash }: Holder): Statement => ({
  sql: 'SELECT id, name, nickname, must_change_password FROM _rowhouse_admins WHERE id = ? AND password_hash = ?',
  params: [BigInt(admin), hash]
})

/** `requireSession` for a session in memory. */
export const requireHolder = ({ admin, hash }: Holder): Statement => ({
  sql: 'UPDATE _rowhouse_admins SET id = id WHERE id = ? AND password_hash = ?',
  params: [BigInt(admin), hash],
  expect: 1
})

/** Fails its unit if the session has ended. */
export const endSession = (id: string): Statement => ({
  sql: 'DELETE FROM _rowhouse_sessions WHERE id = ?',
  params: [id],
  expect: 1
})

/** Ends a session of an administrator. Fails its unit if there is no such session. */
export const endSessionOf = (admin: number, id: string): Statement => ({
  sql: 'DELETE FROM _rowhouse_sessions WHERE admin_id = ? AND id = ?',
  params: [BigInt(admin), id],
  expect: 1
})

/** Ends the sessions of an administrator in the unit that sets a new password. `except`: a session that stays. */
export const endSessionsOf = (admin: number, except = ''): Statement => ({
  sql: 'DELETE FROM _rowhouse_sessions WHERE admin_id = ? AND id <> ?',
  params: [BigInt(admin), except]
})

export const deleteExpiredSessions = (now: number): Statement => ({
  sql: 'DELETE FROM _rowhouse_sessions WHERE expires_at <= ?',
  params: [BigInt(now)]
})
