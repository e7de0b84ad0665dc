import { randomUUID } from 'node:crypto'
import type { Admin, AdminSession, Login } from '../../schemas/admin.ts'
import type { AuditAction } from '../../schemas/audit.ts'
import { auditRow } from '../audit/audit-row.ts'
import { type Database, UnexpectedChanges } from '../engine/database.ts'
import type { AdminCaller, Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError, hasCode } from '../model/errors.ts'
import type { Row } from '../model/sql-value.ts'
import type { Statement } from '../sql/statement.ts'
import { findAccount, replaceHash } from './admin-statements.ts'
import type { Credentials } from './credentials.ts'
import type { MemorySession, MemorySessions } from './memory-sessions.ts'
import {
  deleteExpiredSessions,
  endSession,
  endSessionOf,
  type LoginClient,
  listSessions,
  openSession,
  readHolder,
  readSession
} from './session-statements.ts'

/** Of the header User-Agent. Browsers send about 120. */
const MAX_USER_AGENT_LENGTH = 200

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
  readonly name: string
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

type ListedSession = Omit<AdminSession, 'is_current'>

const toListed = (row: Row): ListedSession => ({
  id: String(row.id),
  address: String(row.address),
  user_agent: String(row.user_agent),
  created_at: Number(row.created_at),
  expires_at: Number(row.expires_at)
})

const sessionNotFound = (id: string) =>
  new DomainError('SESSION_NOT_FOUND', `You have no session '${id}'. It may have ended.`)

const invalidCredentials = () => new DomainError('INVALID_CREDENTIALS', 'The name or the password is wrong.')

const LOGIN_HINT = 'Log in: POST /auth/login.'

export const authenticationRequired = (hint = LOGIN_HINT) =>
  new DomainError('AUTHENTICATION_REQUIRED', 'You are not logged in, or your session has ended.', { hint })

/** Returns the error for a request that has a token or an admin key instead of a session. */
export const sessionRequired = () =>
  authenticationRequired(`Tokens are accepted under /data only, and admin keys under /admin only. ${LOGIN_HINT}`)

/** Returns the error for a request that has an admin key and a session: they may have different rights. */
export const twoCredentials = () =>
  new DomainError('TWO_CREDENTIALS', 'The request has an admin key and a session cookie.', {
    hint: 'Send one of them. A script sends the key only.'
  })

/** The request of a login. */
interface LoginRequest {
  readonly caller: Caller
  readonly client: LoginClient
}

/** A file system with a quota fails with EDQUOT, which SQLite reports as an I/O error. */
const isStorageFailure = (error: unknown) => hasCode(error, 'DISK_FULL') || hasCode(error, 'STORAGE_UNAVAILABLE')

export const createSessionService = (options: SessionServiceOptions) => {
  const { db, clock, credentials, memorySessions, ttl, onMemorySession } = options

  const accountOf = async (name: string): Promise<Account | undefined> => {
    const [row] = await db.read(findAccount(name))
    return row && { id: Number(row.id), name: String(row.name), hash: String(row.password_hash) }
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
  const open = async (account: Account, hash: string, { caller, client }: LoginRequest): Promise<Session | null> => {
    // Whole seconds: the row expires together with the JWT, whose times are seconds.
    const now = Math.floor(clock() / 1000) * 1000
    const expiresAt = now + ttl * 1000
    const { id, name } = account
    try {
      const results = await db.write([
        ...(hash === account.hash ? [] : [replaceHash(id, account.hash, hash)]),
        deleteExpiredSessions(now),
        openSession({ id: randomUUID(), admin: id, hash, now, expiresAt, ...client }),
        auditRow({ ...caller, kind: 'admin', id, name }, clock(), { action: 'login' })
      ])
      return toSession(results.at(-2)?.rows[0] as Row)
    } catch (error) {
      if (error instanceof UnexpectedChanges) return null
      // Other services of a cluster would not know a session in the memory of this one.
      if (!isStorageFailure(error) || db.catchUp) throw error
      onMemorySession(error)
      // The new hash was not stored either.
      return openInMemory({ admin: id, hash: account.hash, issuedAt: now, expiresAt, ...client })
    }
  }

  /** Returns null if the account changed between the verification of its password and the storing of the session. */
  const attempt = async ({ name, password }: Login, request: LoginRequest): Promise<Session | null> => {
    const { address } = request.caller
    const account = await accountOf(name)
    const hash = await credentials.verify({ name, address }, password, account?.hash)
    if (!account || hash === null) throw invalidCredentials()
    return open(account, hash, request)
  }

  /**
   * Opens a session. `userAgent` names the client in the list of sessions.
   * @throws INVALID_CREDENTIALS, the same for an unknown name and a wrong password; TOO_MANY_ATTEMPTS; OVERLOADED
   */
  const logIn = async (caller: Caller, login: Login, userAgent = ''): Promise<Session> => {
    const client = { address: caller.address, userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH) }
    const request = { caller, client }
    // One retry: a concurrent login that stores a stronger hash changes the account, too.
    const session = (await attempt(login, request)) ?? (await attempt(login, request))
    if (!session) throw invalidCredentials()
    return session
  }

  const listInMemory = async (admin: number): Promise<ListedSession[]> => {
    const listed: ListedSession[] = []
    for (const id of memorySessions.idsOf(admin)) {
      const session = memorySessions.find(id)
      if (!session || !(await findInMemory(id, session))) continue
      const { address, userAgent, issuedAt, expiresAt } = session
      listed.push({ id, address, user_agent: userAgent, created_at: issuedAt, expires_at: expiresAt })
    }
    return listed
  }

  /** Returns the caller's own sessions, the latest login first. */
  const list = async ({ id, sessionId }: AdminCaller): Promise<AdminSession[]> => {
    const stored = (await db.read(listSessions(id, clock()))).map(toListed)
    return [...(await listInMemory(id)), ...stored]
      .toSorted((a, b) => b.created_at - a.created_at)
      .map((session) => ({ ...session, is_current: session.id === sessionId }))
  }

  /** Commits the end of a session. A disk that is too full for the audit does not prevent it. Returns whether it existed. */
  const commitEnd = async (caller: AdminCaller, end: Statement, action: AuditAction) => {
    try {
      await db.write([end, auditRow(caller, clock(), { action })]).catch((error) => {
        if (!isStorageFailure(error)) throw error
        return db.write([end])
      })
      return true
    } catch (error) {
      if (!(error instanceof UnexpectedChanges)) throw error
      return false
    }
  }

  /** Ends a session of the caller. @throws SESSION_NOT_FOUND */
  const endOwn = async (caller: AdminCaller, id: string) => {
    if (memorySessions.idsOf(caller.id).includes(id)) {
      memorySessions.end(id)
      return
    }
    const isEnded = await commitEnd(caller, endSessionOf(caller.id, id), 'session.end')
    if (!isEnded) throw sessionNotFound(id)
  }

  /** Logs the caller out. Does nothing if the session has ended. */
  const end = async (caller: AdminCaller) => {
    const { sessionId } = caller
    if (!memorySessions.end(sessionId)) await commitEnd(caller, endSession(sessionId), 'logout')
  }

  return {
    logIn,
    find,
    list,
    endOwn,
    end
  }
}
export type SessionService = ReturnType<typeof createSessionService>
