import { randomUUID } from 'node:crypto'
import type { Admin, Login } from '../../schemas/admin.ts'
import { type Database, UnexpectedChanges } from '../engine/database.ts'
import type { AdminCaller, Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError } from '../model/errors.ts'
import type { Row } from '../model/sql-value.ts'
import { findAccount, replaceHash } from './admin-statements.ts'
import type { Credentials } from './credentials.ts'
import { deleteExpiredSessions, endSession, openSession, readSession } from './session-statements.ts'

export interface Session {
  readonly id: string
  readonly admin: Admin
  /** Epoch seconds, as in a JWT. */
  readonly issuedAt: number
  readonly expiresAt: number
}

interface SessionServiceOptions {
  readonly db: Database
  readonly clock: Clock
  readonly credentials: Credentials
  /** Seconds. */
  readonly ttl: number
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

export const createSessionService = ({ db, clock, credentials, ttl }: SessionServiceOptions) => {
  const accountOf = async (name: string): Promise<Account | undefined> => {
    const [row] = await db.read(findAccount(name))
    return row && { id: Number(row.id), hash: String(row.password_hash) }
  }

  /** @throws UnexpectedChanges if the account has changed since its password was verified */
  const open = async (account: Account, hash: string): Promise<Session> => {
    const id = randomUUID()
    // Whole seconds: the row expires together with the JWT, whose times are seconds.
    const now = Math.floor(clock() / 1000) * 1000
    const results = await db.write([
      ...(hash === account.hash ? [] : [replaceHash(account.id, account.hash, hash)]),
      deleteExpiredSessions(now),
      openSession({ id, admin: account.id, hash, now, expiresAt: now + ttl * 1000 })
    ])
    return toSession(results.at(-1)?.rows[0] as Row)
  }

  /** Returns null if the account changed between the verification of its password and the storing of the session. */
  const attempt = async ({ address }: Caller, { name, password }: Login): Promise<Session | null> => {
    const account = await accountOf(name)
    const hash = await credentials.verify({ name, address }, password, account?.hash)
    if (!account || hash === null) throw invalidCredentials()
    return open(account, hash).catch((error) => {
      if (error instanceof UnexpectedChanges) return null
      throw error
    })
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
    /** Returns the session as it is stored now; null if it has ended or expired. */
    find: async (id: string): Promise<Session | null> => {
      const [row] = await db.read(readSession(id, clock()))
      return row ? toSession(row) : null
    },
    end: async ({ sessionId }: AdminCaller) => {
      await db.write([endSession(sessionId)])
    }
  }
}
export type SessionService = ReturnType<typeof createSessionService>
