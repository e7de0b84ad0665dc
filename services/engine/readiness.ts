import type { Clock } from '../model/clock.ts'
import { DomainError } from '../model/errors.ts'
import type { Database } from './database.ts'

/** Milliseconds for which one look stands for all who ask. */
const VALID_MS = 1000

const unavailable = (error: unknown) => {
  if (!(error instanceof DomainError) || error.kind === 'unavailable') throw error
  throw new DomainError('STORAGE_UNAVAILABLE', error.message, { retryAfter: 5 })
}

/** Whether records can be read and durably written, found out by doing so, at most once a second however many ask. */
export const createReadiness = ({ db, clock }: { db: Database; clock: Clock }) => {
  let latest: { readonly at: number; readonly outcome: Promise<void> } | undefined

  const probe = async (now: number) => {
    await db.read({ sql: "SELECT value FROM _rowhouse_meta WHERE key = 'version'", params: [] })
    await db.write([{ sql: "INSERT OR REPLACE INTO _rowhouse_meta VALUES ('ready_at', ?)", params: [BigInt(now)] }])
  }

  /** @throws what stands in the way, as a failure of the kind `unavailable`. */
  const check = (): Promise<void> => {
    const now = clock()
    if (!latest || Math.abs(now - latest.at) >= VALID_MS) latest = { at: now, outcome: probe(now).catch(unavailable) }
    return latest.outcome
  }

  return { check }
}
export type Readiness = ReturnType<typeof createReadiness>
