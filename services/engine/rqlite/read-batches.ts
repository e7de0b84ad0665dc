import type { Row } from '../../model/sql-value.ts'
import type { Statement } from '../../sql/statement.ts'
import type { ReadCounts } from '../counts.ts'
import { toReadError } from '../loop/sqlite-errors.ts'
import type { Client } from './client.ts'
import type { Epoch } from './epoch.ts'
import { toQueryError } from './errors.ts'
import { type ClusterState, selectState, toState } from './state.ts'
import { encodeStatement, type Result, toRows } from './values.ts'

/** Requests that are in flight at a time. Reads that arrive during them are the next batch. */
const MAX_IN_FLIGHT = 4
const MAX_READS = 128

interface Job {
  readonly encoded: string
  /** An earlier response was older than memory. */
  isRetried?: boolean
  readonly resolve: (rows: readonly Row[]) => void
  readonly reject: (error: Error) => void
}

interface ReadBatchesOptions {
  readonly client: Pick<Client, 'queryEncoded'>
  readonly epoch: () => Epoch
  /** Of this service. */
  readonly id: string
}

/**
 * Runs reads in batches: each is one request, which reads the state of the cluster first.
 */
export const createReadBatches = ({ client, epoch, id }: ReadBatchesOptions) => {
  const state = encodeStatement(selectState(id))
  let queue: Job[] = []
  let inFlight = 0
  let reads = 0
  let batches = 0

  const finish = (job: Job, result: Result, found: ClusterState) => {
    if (result.error !== undefined) return job.reject(toReadError(toQueryError(result.error)))
    // Memory already has all changes of this service, so the rows that it loads must have them, too.
    if (epoch().isOlder(found) && !job.isRetried) {
      job.isRetried = true
      return enqueue(job)
    }
    job.resolve(toRows(result))
  }

  const settle = (jobs: readonly Job[], [first, ...results]: readonly Result[]) => {
    const found = toState(toRows(first as Result)[0])
    epoch().compareBatches(found)
    // An error of one read does not end the others.
    for (const [index, job] of jobs.entries()) finish(job, results[index] as Result, found)
  }

  const runBatch = async () => {
    const jobs = queue.slice(0, MAX_READS)
    queue = queue.slice(MAX_READS)
    batches += 1
    inFlight += 1
    try {
      settle(jobs, await client.queryEncoded([state, ...jobs.map(({ encoded }) => encoded)]))
    } catch (error) {
      for (const { reject } of jobs) reject(error as Error)
    } finally {
      inFlight -= 1
      runQueued()
    }
  }

  const runQueued = () => {
    while (queue.length > 0 && inFlight < MAX_IN_FLIGHT) runBatch()
  }

  const enqueue = (job: Job) => {
    if (queue.push(job) === 1) setImmediate(runQueued)
  }

  const read = (statement: Statement): Promise<readonly Row[]> =>
    new Promise((resolve, reject) => {
      reads += 1
      enqueue({ encoded: encodeStatement(statement), resolve, reject })
    })

  const catchUp = async (): Promise<void> => {
    const since = epoch().known()
    const [row] = await read(selectState(id))
    await epoch().catchUp(toState(row), since)
  }

  return { read, catchUp, counts: (): ReadCounts => ({ reads, batches, pending: queue.length }) }
}
