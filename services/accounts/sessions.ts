import { randomUUID } from 'node:crypto'
import type { Admin, Login } from '../../schemas/admin.ts'
import { type Database, UnexpectedChanges } from '../engine/database.ts'
import type { AdminCaller, Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError, hasCode } from '../model/errors.ts'
import type { Row } from '../model/sql-value.ts'
import { findAccount, replaceHash } from './admin-statements.ts'
import type { Credentials } from './credentials.ts'
import type { MemorySession, MemorySessions } from './memory-sessions.ts'
import { deleteExpiredSessions, endSession, openSession, readHolder, readSession } from './session-statements.ts'

export interface Session {
  readonly id: string
  readonly admin: Admin
  /** Epoch seconds, as in a JWT. */
  readonly issuedAt: number
  readonly expiresAt: number
}

export interface SessionServiceOptions {
  readonly db: Database
  readonly clock: Clock
  readonly credentials: Credentials
  /** For sessions that the full disk cannot store. */
  readonly memorySessions: MemorySessions
  /** Seconds. */
  readonly ttl: number
  /** Called when a session is kept in memory, with the reason. */
  readonly onMemorySession: (cause: unknown) => void
}

interface Account {
  readonly id: number
  readonly hash: string
}

const toAdmin = (row: Row): Admin => ({
  id: Number(row.id),
  name: String(row.name),
  nickname: String(row.nickname),
  mustChangePassword: row.must_change_password === 1
})

const toSession = (row: Row): Session => ({
  id: String(row.session),
  admin: toAdmin(row),
  issuedAt: Number(row.issued_at) / 1000,
  expiresAt: Number(row.expires_at) / 1000
})

const invalidCredentials = () => new DomainError('INVALID_CREDENTIALS', 'The name or the password is wrong.')

const LOGIN_HINT = 'Log in: POST /auth/login.'

export const authenticationRequired = (hint = LOGIN_HINT) =>
  new DomainError('AUTHENTICATION_REQUIRED', 'You are not logged in, or your session has ended.', { hint })

/** Returns the error for a request that has an access token instead of a session. */
export const sessionRequired = () => authenticationRequired(`Tokens are accepted under /data only. ${LOGIN_HINT}`)

/** A file system with a quota fails with EDQUOT, which SQLite reports as an I/O error. */
const isStorageFailure = (error: unknown) => hasCode(error, 'DISK_FULL') || hasCode(error, 'STORAGE_UNAVAILABLE')

export const createSessionService = (options: SessionServiceOptions) => {
  const { db, clock, credentials, memorySessions, ttl, onMemorySession } = options

  const accountOf = async (name: string): Promise<Account | undefined> => {
    const [row] = await db.read(findAccount(name))
    return row && { id: Number(row.id), hash: String(row.password_hash) }
  }

  const findInMemory = async (id: string, session: MemorySession): Promise<Session | null> => {
    const [row] = await db.read(readHolder(session))
    return row ? toSession({ ...row, session: id, issued_at: session.issuedAt, expires_at: session.expiresAt }) : null
  }

  /** Returns the session as it is stored now; null if it has ended or expired. */
  const find = async (id: string): Promise<Session | null> => {
    const inMemory = memorySessions.find(id)
    if (inMemory) return findInMemory(id, inMemory)
    const [row] = await db.read(readSession(id, clock()))
    return row ? toSession(row) : null
  }

  /** Returns null if the account has changed since its password was verified. */
  const openInMemory = (session: MemorySession): Promise<Session | null> => find(memorySessions.open(session))

  /** Returns null if the account has changed since its password was verified. */
  const open = async (account: Account, hash: string): Promise<Session | null> => {
    // Whole seconds: the row expires together with the JWT, whose times are seconds.
    const now = Math.floor(clock() / 1000) * 1000
    const expiresAt = now + ttl * 1000
    try {
      const results = await db.write([
        ...(hash === account.hash ? [] : [replaceHash(account.id, account.hash, hash)]),
        deleteExpiredSessions(now),
        openSession({ id: randomUUID(), admin: account.id, hash, now, expiresAt })
      ])
      return toSession(results.at(-1)?.rows[0] as Row)
    } catch (error) {
      if (error instanceof UnexpectedChanges) return null
      if (!isStorageFailure(error)) throw error
      onMemorySession(error)
      // The new hash was not stored either.
      return openInMemory({ admin: account.id, hash: account.hash, issuedAt: now, expiresAt })
    }
  }

  /** Returns null if the account changed between the verification of its password and the storing of the session. */
  const attempt = async ({ address }: Caller, { name, password }: Login): Promise<Session | null> => {
    const account = await accountOf(name)
    const hash = await credentials.verify({ name, address }, password, account?.hash)
    if (!account || hash === null) throw invalidCredentials()
    return open(account, hash)
  }

  /** @throws INVALID_CREDENTIALS, the same for an unknown name and a wrong password; TOO_MANY_ATTEMPTS; OVERLOADED */
  const logIn = async (caller: Caller, login: Login): Promise<Session> => {
    // One retry: a concurrent login that renews the hash changes the account too.
    const session = (await attempt(caller, login)) ?? (await attempt(caller, login))
    if (!session) throw invalidCredentials()
    return session
  }

  return {
    logIn,
    find,
    end: async ({ sessionId }: AdminCaller) => {
      if (memorySessions.end(sessionId)) return
      await db.write([endSession(sessionId)])
    }
  }
}
export type SessionService = ReturnType<typeof createSessionService>
