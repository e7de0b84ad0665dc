import type { Increment, RecordBody } from '../../schemas/record.ts'
import type { Database } from '../engine/database.ts'
import type { Caller } from '../model/caller.ts'
import type { Clock } from '../model/clock.ts'
import type { RegisteredTable, Registration } from '../model/table.ts'
import type { EffectsOf } from '../tables/registry/reference-effects.ts'
import type { Access } from './access/access.ts'
import type { ReadableBy } from './access/readable.ts'
import { createBatches } from './batch/batch.ts'
import { createCommit } from './change/commit.ts'
import { createFilteredChanges } from './change/filtered-changes.ts'
import { type ChangeOptions, createOperations } from './change/operations.ts'
import { createRecordSizes } from './change/record-sizes.ts'
import { createRetries } from './change/retries.ts'
import type { RowCosts } from './change/row-costs.ts'
import { createUpserts, type Upserted } from './change/upserts.ts'
import { createWorkEstimates } from './change/work-estimates.ts'
import { createAggregates } from './read/aggregates.ts'
import type { Cursors } from './read/cursors.ts'
import { createLists } from './read/lists.ts'
import { createPlanner } from './read/planner.ts'
import { createRead } from './read/read.ts'
import { createCountReferrers } from './read/referrers.ts'
import type { Scan } from './read/scans.ts'
import type { Totals } from './read/totals.ts'

interface RecordServiceOptions {
  readonly db: Database
  readonly clock: Clock
  readonly totals: Totals
  readonly scan: Scan
  readonly hasTriggers: (table: RegisteredTable) => boolean
  readonly hasUpdateEffects: (table: RegisteredTable) => boolean
  readonly effectsOf: EffectsOf
  readonly rowCosts: RowCosts
  readonly cursors: Cursors
  readonly readableBy: ReadableBy
  readonly allTables: () => readonly Registration[]
  readonly maxPageSize: () => number
}

/** An upsert as the query and the headers of a request send it. */
interface UpsertRequest {
  /** The names of the fields that identify the record. */
  readonly on: readonly string[]
  readonly values: RecordBody
  /** Fails if the record exists. */
  readonly onlyCreates: boolean
}

/** Records of registered tables. Each call takes the caller's access to the table. Records are JSON text. */
export const createRecordService = (options: RecordServiceOptions) => {
  const { db, clock } = options
  const planner = createPlanner(db)
  const read = createRead({ db, planner })
  const operations = createOperations({ ...options, planner, read })
  const recordSizes = createRecordSizes(db)
  const estimate = createWorkEstimates({ ...options, planner, recordSizes })
  const { commit, once } = createRetries({ db, clock, commit: createCommit({ ...options, estimate, recordSizes }) })
  const { list, query } = createLists({ ...options, planner })
  const { aggregate } = createAggregates(options)
  const countReferrers = createCountReferrers({ ...options, read })
  const upserts = createUpserts(options)
  const filteredChanges = createFilteredChanges(options)
  const batch = createBatches({ operations, upserts, filteredChanges, commit })
  const { createOp, updateOp, deleteOp, incrementOp } = operations

  /** Returns the created record as JSON text. */
  const create = async (caller: Caller, access: Access, body: RecordBody): Promise<string> => {
    const [record] = await commit(caller, [createOp(access, body)])
    return record
  }

  /** Creates a record, or updates the one that these fields identify. */
  const upsert = async (
    caller: Caller,
    access: Access,
    { on, values, onlyCreates }: UpsertRequest
  ): Promise<Upserted> => {
    const key = await upserts.findKey(access, { on, path: '/upsert' })
    const [upserted] = await commit(caller, [upserts.upsertOp(caller, access, { key, values, onlyCreates })])
    return upserted
  }

  /** Returns the changed record as JSON text, or undefined without `returnsRecord`. */
  const update = async (caller: Caller, access: Access, pk: string, body: RecordBody, options?: ChangeOptions) => {
    const [record] = await commit(caller, [updateOp(access, pk, body, options)])
    return record
  }

  /** Returns the record as it was, as JSON text, or undefined without `returnsRecord`. */
  const remove = async (caller: Caller, access: Access, pk: string, options?: ChangeOptions) => {
    const [record] = await commit(caller, [deleteOp(access, pk, options)])
    return record
  }

  /** Returns the changed record as JSON text, or undefined without `returnsRecord`. */
  const increment = async (caller: Caller, access: Access, input: Increment, options?: ChangeOptions) => {
    const [record] = await commit(caller, [incrementOp(access, input, options)])
    return record
  }

  return {
    read,
    create,
    upsert,
    update,
    remove,
    increment,
    list,
    query,
    aggregate,
    countReferrers,
    batch,
    operations,
    commit,
    once
  }
}

export type RecordService = ReturnType<typeof createRecordService>
