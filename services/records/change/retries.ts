import { createHash } from 'node:crypto'
import { type Database, UnexpectedChanges, type WriteResult } from '../../engine/database.ts'
import { type Caller, identityOf, type RetryKey } from '../../model/caller.ts'
import type { Clock } from '../../model/clock.ts'
import { DomainError, hasCode } from '../../model/errors.ts'
import type { RegisteredTable } from '../../model/table.ts'
import {
  expectNewKey,
  purgeRetries,
  type RetryLimits,
  selectLargeRetry,
  selectRetry,
  storeRetry,
  toStoredRetry
} from '../../sql/retries.ts'
import type { Unit } from '../../sql/statement.ts'
import { type ResultSql, storeResult } from '../../sql/unit-results.ts'
import type { Commit, Results } from './commit.ts'
import { final, type Operation, type ResultReader } from './operation.ts'

/**
 * Calls `run` if no earlier request had the key of the caller, and returns the stored results otherwise. `run` commits the
 * operations of these readers, with the function that it gets.
 */
export type Once = <const T extends readonly ResultReader[]>(
  caller: Caller,
  readers: T,
  run: (commit: Commit) => Promise<Results<T>>
) => Promise<Results<T>>

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
const digestOf = ({ digest }: RetryKey, readers: readonly ResultReader[]) => {
  const hash = createHash('sha256').update(digest)
  for (const { table, shown } of readers) hash.update(JSON.stringify([table?.id, shown && [...shown.keys()]]))
  return hash.digest('hex')
}

/** An operation on the keys has no result. */
const nothing = () => ({})

const ownOperation = (unit: Unit): Operation => ({
  table: null,
  unit,
  change: null,
  countChange: null,
  result: nothing,
  receipt: nothing,
  shown: null,
  explain: (_caller, { error }) => final(error)
})

/** Adds to an operation the statements that store its results. */
const withReceipt = <R>(operation: Operation<R>, index: number): Operation<R> => {
  const { before = [], after = [] } = operation.receipt()
  const toStatement = (offset: number) => (result: ResultSql, position: number) =>
    storeResult(index, offset + position, result)
  const { length } = operation.unit
  const ownResults = (results: readonly WriteResult[]) => results.slice(before.length, before.length + length)
  const { countChange } = operation
  return {
    ...operation,
    unit: [...before.map(toStatement(0)), ...operation.unit, ...after.map(toStatement(before.length))],
    countChange: countChange && ((results) => countChange(ownResults(results))),
    result: (results) => operation.result(ownResults(results)),
    explain: (caller, { error, statement }) =>
      operation.explain(caller, { error, statement: statement === undefined ? undefined : statement - before.length })
  }
}

/** The boundary where the stored JSON gets its type. The elements of a mapped tuple cannot be typed one by one. */
const toResults = <T extends readonly ResultReader[]>(readers: T, json: string) => {
  const parts = JSON.parse(json) as readonly (readonly WriteResult[])[]
  return readers.map(({ result }, index) => result(parts[index] as readonly WriteResult[])) as Results<T>
}

/**
 * Creates the functions that commit operations once for each Idempotency-Key of a caller: the key and the results are
 * stored in the same transaction. A repeated request gets the stored results.
 */
export const createRetries = ({ db, clock, commit, limits = {} }: RetriesOptions) => {
  const inFlight = new Set<string>()

  const findStored = async (caller: Caller, attempt: Attempt) => {
    const [row] = await db.read(selectRetry(attempt))
    const [complete] = row?.results === null ? await db.scan(selectLargeRetry(attempt), caller) : [row]
    return complete && toStoredRetry(complete)
  }

  const storeOp = ({ digest, ...key }: Attempt, operations: readonly Operation[]): Operation => {
    const tables = [...new Set(operations.map(({ table }) => (table as RegisteredTable).id))]
    return ownOperation(storeRetry({ ...key, digest, operations: operations.length, tables }, limits))
  }

  const commitWith =
    (attempt: Attempt): Commit =>
    async <T extends readonly Operation[]>(caller: Caller, operations: T) => {
      const storing = operations.map(withReceipt)
      const results = await commit(caller, [
        ownOperation([expectNewKey(attempt)]),
        ...storing,
        storeOp(attempt, operations)
      ])
      return results.slice(1, -1) as Results<T>
    }

  const findOrRun = async <T extends readonly ResultReader[]>(
    caller: Caller,
    retryKey: RetryKey,
    ...[readers, run]: [readers: T, run: (commit: Commit) => Promise<Results<T>>]
  ) => {
    const attempt = { caller: identityOf(caller), key: retryKey.key, digest: digestOf(retryKey, readers), now: clock() }
    const replay = async (): Promise<Results<T> | null> => {
      const stored = await findStored(caller, attempt)
      if (!stored) return null
      if (stored.digest !== attempt.digest) throw keyReused()
      await caller.confirm()
      retryKey.onReplay()
      return toResults(readers, stored.results)
    }
    try {
      return (await replay()) ?? (await run(commitWith(attempt)))
    } catch (error) {
      // The check of the key failed: another request has stored it concurrently. Errors of other operations are explained.
      const isTaken = error instanceof UnexpectedChanges
      if (!isTaken && !hasCode(error, 'OUTCOME_UNKNOWN')) throw error
      const replayed = await replay()
      if (replayed) return replayed
      throw isTaken ? keyInFlight() : error
    }
  }

  const once: Once = async (caller, readers, run) => {
    const { retryKey } = caller
    if (!retryKey) return run(commit)
    const name = `${identityOf(caller)} ${retryKey.key}`
    if (inFlight.has(name)) throw keyInFlight()
    inFlight.add(name)
    try {
      return await findOrRun(caller, retryKey, readers, run)
    } finally {
      inFlight.delete(name)
    }
  }

  const commitOnce: Commit = (caller, operations) =>
    caller.retryKey ? once(caller, operations, (commit) => commit(caller, operations)) : commit(caller, operations)

  return { once, commit: commitOnce }
}

/** Creates the function that deletes all expired keys, in small units. A key may be the last one of its caller. */
export const createRetryPurge =
  ({ db, clock }: Pick<RetriesOptions, 'db' | 'clock'>) =>
  async (): Promise<void> => {
    let deleted = 1
    while (deleted > 0) deleted = Number((await db.write([purgeRetries(clock())]))[0]?.changes)
  }
