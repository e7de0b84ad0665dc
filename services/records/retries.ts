import { createHash } from 'node:crypto'
import type { Database, WriteResult } from '../engine/database.ts'
import type { Caller, RetryKey } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import { DomainError } from '../model/errors.ts'
import type { RegisteredTable } from '../model/table.ts'
import {
  callerName,
  purgeRetries,
  type RetryLimits,
  selectLargeRetry,
  selectRetry,
  storeRetry,
  toStoredRetry
} from '../sql/retries.ts'
import type { Commit, Results } from './commit.ts'
import type { Operation } from './operation.ts'

interface RetriesOptions {
  readonly db: Database
  readonly clock: Clock
  readonly commit: Commit
  readonly limits?: RetryLimits
}

/** A key of a caller, and what is stored with it. */
interface Attempt {
  readonly caller: string
  readonly key: string
  readonly digest: string
  readonly now: number
}

const keyInFlight = () =>
  new DomainError('IDEMPOTENCY_KEY_IN_FLIGHT', 'An earlier request with this Idempotency-Key is still running.', {
    hint: 'Send the request again later.',
    retryAfter: 1
  })

const keyReused = () =>
  new DomainError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key belongs to another request.', {
    hint: 'Send each new request with a new key. A retry needs the same method, URL, body, If-Match and If-None-Match. It gets no result if the visible fields have changed.'
  })

/**
 * Results contain the fields that the caller was allowed to see, so these are a part of the digest. So is the table: another
 * one may have its name now.
 */
const digestOf = ({ digest }: RetryKey, operations: readonly Operation[]) => {
  const hash = createHash('sha256').update(digest)
  for (const { table, shown } of operations) hash.update(JSON.stringify([table?.id, shown && [...shown.keys()]]))
  return hash.digest('hex')
}

/** The boundary where the stored JSON gets its type. The elements of a mapped tuple cannot be typed one by one. */
const toResults = <T extends readonly Operation[]>(operations: T, json: string) => {
  const parts = JSON.parse(json) as readonly (readonly WriteResult[])[]
  return operations.map(({ result }, index) => result(parts[index] as readonly WriteResult[])) as Results<T>
}

/**
 * Creates the function that commits operations once for each Idempotency-Key of a caller: the key and the results are
 * stored in the same transaction. A repeated request gets the stored results.
 */
export const createRetries = ({ db, clock, commit, limits = {} }: RetriesOptions): Commit => {
  const inFlight = new Set<string>()

  const findStored = async (caller: Caller, attempt: Attempt) => {
    const [row] = await db.read(selectRetry(attempt))
    const [whole] = row?.results === null ? await db.scan(selectLargeRetry(attempt), caller) : [row]
    return whole && toStoredRetry(whole)
  }

  const receiptOp = ({ digest, ...key }: Attempt, operations: readonly Operation[]): Operation => {
    const results = { parts: operations.map(({ unit }) => unit.length), column: 'record' }
    const tables = [...new Set(operations.map(({ table }) => (table as RegisteredTable).id))]
    return {
      table: null,
      unit: storeRetry({ ...key, digest, results, tables }, limits),
      change: null,
      countChange: null,
      result: () => undefined,
      shown: null,
      explain: (_caller, { error }) => ({ mayRetry: false, error: () => error })
    }
  }

  const commitOnce = async <T extends readonly Operation[]>(caller: Caller, operations: T, retryKey: RetryKey) => {
    const name = callerName(caller.kind, caller.id)
    const attempt = { caller: name, key: retryKey.key, digest: digestOf(retryKey, operations), now: clock() }
    const stored = await findStored(caller, attempt)
    if (!stored) {
      const results = await commit(caller, [...operations, receiptOp(attempt, operations)])
      return results.slice(0, operations.length) as Results<T>
    }
    if (stored.digest !== attempt.digest) throw keyReused()
    await caller.confirm()
    retryKey.onReplay()
    return toResults(operations, stored.results)
  }

  const commitAlone = async <T extends readonly Operation[]>(caller: Caller, operations: T, retryKey: RetryKey) => {
    const name = `${caller.kind} ${caller.id} ${retryKey.key}`
    if (inFlight.has(name)) throw keyInFlight()
    inFlight.add(name)
    try {
      return await commitOnce(caller, operations, retryKey)
    } finally {
      inFlight.delete(name)
    }
  }

  return (caller, operations) =>
    caller.retryKey ? commitAlone(caller, operations, caller.retryKey) : commit(caller, operations)
}

/** Creates the function that deletes all expired keys, in small units. A key may be the last one of its caller. */
export const createRetryPurge =
  ({ db, clock }: Pick<RetriesOptions, 'db' | 'clock'>) =>
  async (): Promise<void> => {
    let deleted = 1
    while (deleted > 0) deleted = Number((await db.write([purgeRetries(clock())]))[0]?.changes)
  }
