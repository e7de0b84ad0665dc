import type { Clock } from '../model/clock.ts'
import { DomainError } from '../model/errors.ts'
import type { Database } from './database.ts'

/** Milliseconds for which the result of one check is shared by all calls. */
const VALID_MS = 1000

const unavailable = (error: unknown) => {
  if (!(error instanceof DomainError) || error.kind === 'unavailable') throw error
  const unready = new DomainError('STORAGE_UNAVAILABLE', error.message, { retryAfter: 5 })
  throw Object.assign(unready, { cause: error.cause })
}

/** Checks by a read and a durable write whether the database works, at most once a second. */
export const createReadiness = ({ db, clock }: { db: Database; clock: Clock }) => {
  let latest: { readonly at: number; readonly outcome: Promise<void> } | undefined

  const probe = async (now: number) => {
    await db.read({ sql: "SELECT value FROM _rowhouse_meta WHERE key = 'version'", params: [] })
    await db.write([{ sql: "INSERT OR REPLACE INTO _rowhouse_meta VALUES ('ready_at', ?)", params: [BigInt(now)] }])
  }

  /** @throws a DomainError of the kind `unavailable` if the database cannot be read or written */
  const check = (): Promise<void> => {
    const now = clock()
    if (!latest || Math.abs(now - latest.at) >= VALID_MS) latest = { at: now, outcome: probe(now).catch(unavailable) }
    return latest.outcome
  }

  return { check }
}
export type Readiness = ReturnType<typeof createReadiness>
