import { setImmediate as nextTick } from 'node:timers/promises'
import { type Database, UnexpectedChanges, type WriteResult } from '../engine/database.ts'
import type { Clock } from '../model/clock.ts'
import type { RowId } from '../model/memory.ts'
import { createSequence } from '../model/sequence.ts'
import type { Row } from '../model/sql-value.ts'
import type { Statement, Unit } from '../sql/statement.ts'
import { type CredentialIndex, createCredentialIndex, type Indexed } from './credential-index.ts'
import { type CredentialsTable, createLastUses, type Used } from './last-uses.ts'
import { isSameEntry } from './same-entry.ts'

/** A token or an admin key in memory. */
interface Entry extends Used, Indexed {}

/** Whether the secret is the latest one, or the previous one during its overlap. */
const isAcceptedSecret = ({ previousSecret }: Entry, digest: string, now: number) =>
  previousSecret?.digest !== digest || now < previousSecret.validUntil

interface LiveCredentialsOptions<E extends Entry> {
  readonly db: Database
  readonly clock: Clock
  readonly table: CredentialsTable
  readonly toEntry: (row: Row) => E
  /** Whether the credential is accepted at this time, in epoch milliseconds. */
  readonly isLive: (entry: E, now: number) => boolean
  /** The error for every invalid credential. */
  readonly invalid: () => Error
  readonly notFound: (id: number) => Error
}

/** Rows that one tick reads: about 2 ms. */
const MAX_ROWS = 500

const selectAfter = (table: CredentialsTable, id: number): Statement => ({
  sql: `SELECT * FROM ${table} WHERE id > ? ORDER BY id LIMIT ${MAX_ROWS}`,
  params: [BigInt(id)]
})

const selectThese = (table: CredentialsTable, ids: readonly number[]): Statement => ({
  sql: `SELECT * FROM ${table} WHERE id IN (SELECT value FROM temp.json_each(?))`,
  params: [JSON.stringify(ids)]
})

/**
 * Caches all credentials of one kind, because every request needs one. A change updates the cache in the step that
 * acknowledges its commit, so the next request sees it.
 */
export const createLiveCredentials = <E extends Entry>(options: LiveCredentialsOptions<E>) => {
  const { db, clock, table, toEntry, isLive, invalid, notFound } = options
  let index = createCredentialIndex<E>()
  /** Ids of credentials that changed during a reload; null without one. */
  let changed: Set<number> | null = null
  const lastUses = createLastUses({ db, table, find: (id) => index.find(id) })
  const inSequence = createSequence()

  const cache = (row: Row): E => {
    const entry = toEntry(row)
    lastUses.keepLatest(entry, index.find(entry.id))
    changed?.add(entry.id)
    index.set(entry)
    return entry
  }

  const evict = ({ id }: Entry) => {
    changed?.add(id)
    index.remove(id)
  }

  /** Returns the cached entry if the row did not change, so that its scope and rights stay cached. */
  const toLatest = (row: Row): E => {
    const entry = toEntry(row)
    const known = index.find(entry.id)
    if (!known || !isSameEntry(entry, known)) {
      lastUses.keepLatest(entry, known)
      return entry
    }
    lastUses.setSaved(known, entry.lastUsedAt)
    return known
  }

  /** Reads all credentials, some in each tick, so that many do not delay requests. */
  const readAll = async (next: CredentialIndex<E>) => {
    let rows: readonly Row[] = []
    let last = 0
    do {
      rows = await db.read(selectAfter(table, last))
      for (const row of rows) next.set(toLatest(row))
      last = Number(rows.at(-1)?.id)
      await nextTick()
    } while (rows.length === MAX_ROWS)
  }

  /** Reads changed credentials again, until none changed during the read. */
  const readChanged = async (next: CredentialIndex<E>, ids: Set<number>) => {
    while (ids.size > 0) {
      const again = [...ids]
      ids.clear()
      const entries = (await db.read(selectThese(table, again))).map(toLatest)
      // The next loop reads those that changed during the read. Their entries in memory are newer than these rows.
      for (const id of again) if (!ids.has(id)) next.remove(id)
      for (const entry of entries) if (!ids.has(entry.id)) next.set(entry)
    }
  }

  const reload = async (rows: readonly RowId[] | null) => {
    const ids = new Set(rows?.map(Number))
    const next = rows ? index : createCredentialIndex<E>()
    changed = ids
    try {
      if (!rows) await readAll(next)
      await readChanged(next, ids)
      if (!rows) for (const entry of next.all()) lastUses.keepLatest(entry, index.find(entry.id))
      index = next
    } finally {
      changed = null
    }
  }

  /** Reads the changed rows again. null: all rows, at the start and after each external commit. */
  const load = (rows: readonly RowId[] | null = null) => inSequence(() => reload(rows))

  const all = () => index.all()

  /** @throws the error `notFound` */
  const find = (id: number): E => {
    const entry = index.find(id)
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
    const entry = digest === undefined ? undefined : index.findByDigest(digest)
    if (digest === undefined || !entry || !isLive(entry, now) || !isAcceptedSecret(entry, digest, now)) throw invalid()
    return { entry, now }
  }

  /**
   * Returns the credential with the digest of a secret, and records its use. `admits`: whether this request may use it.
   * @throws the error `invalid`
   */
  const authenticate = (digest: string | undefined, admits = (_entry: E) => true): E => {
    const { entry, now } = findLive(digest)
    if (!admits(entry)) throw invalid()
    lastUses.record(entry, now)
    return entry
  }

  /** Returns the latest state of a credential. @throws the error `invalid` if it has been revoked or has expired */
  const current = ({ digest }: Pick<Entry, 'digest'>): E => findLive(digest).entry

  /** Returns the latest state of the credential with an id. @throws the error `invalid`, as `current` does */
  const currentById = (id: number): E => {
    const entry = index.find(id)
    if (!entry || !isLive(entry, clock())) throw invalid()
    return entry
  }

  return { cache, evict, load, all, find, commit, authenticate, current, currentById, flush: lastUses.flush }
}
