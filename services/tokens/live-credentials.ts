import { type Database, UnexpectedChanges, type WriteResult } from '../engine/database.ts'
import type { Clock } from '../model/clock.ts'
import type { Row } from '../model/sql-value.ts'
import type { Statement, Unit } from '../sql/statement.ts'
import { flushUses, type Used, type UsesTable, withLatestUse } from './uses.ts'

/** A token or an admin key in memory. */
interface Entry extends Used {
  readonly digest: string
}

interface LiveCredentialsOptions<E extends Entry> {
  readonly db: Database
  readonly clock: Clock
  readonly table: UsesTable
  readonly selectAll: Statement
  readonly toEntry: (row: Row) => E
  /** Whether the credential is accepted at this time, in epoch milliseconds. */
  readonly isLive: (entry: E, now: number) => boolean
  /** The error for every invalid credential. */
  readonly invalid: () => Error
  readonly notFound: (id: number) => Error
}

/**
 * Caches all credentials of one kind, because every request needs one. A change updates the cache in the step that
 * acknowledges its commit, so the next request sees it.
 */
export const createLiveCredentials = <E extends Entry>(options: LiveCredentialsOptions<E>) => {
  const { db, clock, table, selectAll, toEntry, isLive, invalid, notFound } = options
  let byId = new Map<number, E>()
  let byDigest = new Map<string, E>()

  const toLatest = (row: Row) => {
    const entry = toEntry(row)
    return withLatestUse(entry, byId.get(entry.id))
  }

  const cache = (row: Row): E => {
    const entry = toLatest(row)
    byId.set(entry.id, entry)
    byDigest.set(entry.digest, entry)
    return entry
  }

  const evict = ({ id, digest }: Entry) => {
    byId.delete(id)
    byDigest.delete(digest)
  }

  /**
   * Reads all of them: at the start, and after each external commit. Reads on the event loop, so that no change of our own
   * can be acknowledged between the snapshot and the update of the cache.
   */
  const load = async () => {
    const entries = (await db.read(selectAll)).map(toLatest)
    byId = new Map(entries.map((entry) => [entry.id, entry]))
    byDigest = new Map(entries.map((entry) => [entry.digest, entry]))
  }

  const all = (): readonly E[] => [...byId.values()]

  /** @throws the error `notFound` */
  const find = (id: number): E => {
    const entry = byId.get(id)
    if (!entry) throw notFound(id)
    return entry
  }

  /** Commits a unit whose first statement expects that the credential exists. @throws the error `notFound` */
  const commit = async (entry: E, unit: Unit): Promise<readonly WriteResult[]> => {
    try {
      return await db.write(unit)
    } catch (error) {
      if (!(error instanceof UnexpectedChanges)) throw error
      // Another program has deleted it.
      evict(entry)
      throw notFound(entry.id)
    }
  }

  const findLive = (digest: string | undefined) => {
    const now = clock()
    const entry = digest === undefined ? undefined : byDigest.get(digest)
    if (!entry || !isLive(entry, now)) throw invalid()
    return { entry, now }
  }

  /** Returns the credential with the digest of a secret, and records its use. @throws the error `invalid` */
  const authenticate = (digest: string | undefined): E => {
    const { entry, now } = findLive(digest)
    entry.lastUsedAt = now
    return entry
  }

  /** Returns the latest state of a credential. @throws the error `invalid` if it has been revoked or has expired */
  const current = ({ digest }: Pick<Entry, 'digest'>): E => findLive(digest).entry

  /** Returns the latest state of the credential with an id. @throws the error `invalid`, as `current` does */
  const currentById = (id: number): E => {
    const entry = byId.get(id)
    if (!entry || !isLive(entry, clock())) throw invalid()
    return entry
  }

  /** Saves the uses since the previous call. If this fails, the next call saves them. */
  const flush = () => flushUses(db, table, () => byId)

  return { cache, evict, load, all, find, commit, authenticate, current, currentById, flush }
}
