import { randomUUID } from 'node:crypto'
import type { Clock } from '../model/clock.ts'
import type { LoginClient } from './session-statements.ts'

export interface MemorySession extends LoginClient {
  readonly admin: number
  /** The session is valid only while the account has this hash, so a new password ends it. */
  readonly hash: string
  /** Epoch milliseconds. */
  readonly issuedAt: number
  readonly expiresAt: number
}

/** Beyond this number, a new session ends the oldest one. Each has cost the verification of a right password. */
const MAX_SESSIONS = 1000

/** Sessions that the full disk could not store. They end with the process. */
export const createMemorySessions = ({ clock }: { readonly clock: Clock }) => {
  const sessions = new Map<string, MemorySession>()

  const deleteExpired = () => {
    for (const [id, { expiresAt }] of sessions) if (expiresAt <= clock()) sessions.delete(id)
  }

  return {
    /** Keeps a session. Returns its id. */
    open: (session: MemorySession): string => {
      deleteExpired()
      const [oldest] = sessions.keys()
      if (oldest !== undefined && sessions.size >= MAX_SESSIONS) sessions.delete(oldest)
      const id = randomUUID()
      sessions.set(id, session)
      return id
    },
    /** Returns the session unless it has ended or expired. */
    find: (id: string): MemorySession | undefined => {
      const session = sessions.get(id)
      return session && session.expiresAt > clock() ? session : undefined
    },
    /** Returns the ids of the sessions that an administrator has opened. `find` decides whether they are still valid. */
    idsOf: (admin: number): string[] =>
      [...sessions].filter(([, session]) => session.admin === admin).map(([id]) => id),
    /** Returns whether the session was kept here. */
    end: (id: string): boolean => sessions.delete(id),
    endAll: () => sessions.clear(),
    /** Keeps a session valid after its own administrator has set a password with this hash. */
    replaceHash: (id: string, hash: string) => {
      const session = sessions.get(id)
      if (session) sessions.set(id, { ...session, hash })
    }
  }
}
export type MemorySessions = ReturnType<typeof createMemorySessions>
