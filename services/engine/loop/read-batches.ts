import type { Row, SqlValue } from '../../model/sql-value.ts'
import type { Statement } from '../../sql/statement.ts'
import type { ReadCounts } from '../counts.ts'
import type { Connection } from '../shared/connection.ts'
import { engineStopped, toPlainError } from '../shared/plain-error.ts'
import { toReadError } from './sqlite-errors.ts'

const BUSY_RETRY_MS = 20
const MAX_BUSY_MS = 2000
/** Reads that have not started by then move to the next batch, so that the event loop can do other work. */
const MAX_BATCH_MS = 10

interface Job {
  readonly statement: Statement
  readonly run: (sql: string, params: readonly SqlValue[]) => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  /** The time of the first attempt that failed because of a lock. */
  lockedSince?: number
}

/**
 * Runs reads on the event loop. The reads of one tick run together in `setImmediate`, in one read transaction: at 32
 * connections this doubles the throughput of running each at once. With few connections open (`isQuiet`) a batch would
 * rarely have more than one read, and `setImmediate` would only cost time.
 *
 * The connection never waits for a lock: a read that fails because of one is retried in a later tick, for at most 2 s.
 */
export const createReadBatches = (connection: Connection, isQuiet: () => boolean, clock = () => performance.now()) => {
  let queue: Job[] = []
  let reads = 0
  let batches = 0

  const mayRetry = (job: Job) => {
    const now = clock()
    job.lockedSince ??= now
    return now - job.lockedSince < MAX_BUSY_MS
  }

  const retryOrReject = (job: Job, error: unknown) => {
    const plain = connection.raw.open ? toPlainError(error) : engineStopped
    const isLocked = plain.code.startsWith('SQLITE_BUSY')
    if (!isLocked || !mayRetry(job)) return job.reject(toReadError(plain))
    setTimeout(() => enqueue(job), BUSY_RETRY_MS)
  }

  const runJob = (job: Job) => {
    try {
      job.resolve(job.run(job.statement.sql, job.statement.params))
    } catch (error) {
      retryOrReject(job, error)
    }
  }

  const runBatch = () => {
    const jobs = queue
    queue = []
    batches += 1
    try {
      connection.run('BEGIN', [])
    } catch (error) {
      for (const job of jobs) retryOrReject(job, error)
      return
    }
    const end = clock() + MAX_BATCH_MS
    for (const job of jobs) {
      if (clock() < end) runJob(job)
      else enqueue(job)
    }
    // A disk error ends the transaction.
    if (connection.raw.inTransaction) connection.run('COMMIT', [])
  }

  const enqueue = (job: Job) => {
    if (queue.push(job) === 1) setImmediate(runBatch)
  }

  const submit = <T>(statement: Statement, run: (sql: string, params: readonly SqlValue[]) => T) =>
    new Promise<T>((resolve, reject) => {
      reads += 1
      const job = { statement, run, resolve: resolve as (value: unknown) => void, reject }
      if (isQuiet() && queue.length === 0) runJob(job)
      else enqueue(job)
    })

  return {
    counts: (): ReadCounts => ({ reads, batches, pending: queue.length }),
    read: (statement: Statement): Promise<readonly Row[]> => submit(statement, connection.rows),
    plan: (statement: Statement): Promise<readonly string[]> => submit(statement, connection.plan),
    readText: (statement: Statement): Promise<string | null> =>
      submit(statement, (sql, params) => (connection.value(sql, params) ?? null) as string | null)
  }
}
