import { createHash } from 'node:crypto'
import type { BodyChunks } from '../../../schemas/import.ts'
import type { WriteResult } from '../../engine/database.ts'
import type { StagedFile } from '../../engine/staging/protocol.ts'
import type { Caller } from '../../model/caller.ts'
import { DomainError } from '../../model/errors.ts'
import { assertSameRecords } from '../../tables/token-access.ts'
import type { Access } from '../access/access.ts'
import type { Operation, StagedSize } from '../change/operation.ts'
import type { Once } from '../change/retries.ts'
import { countTextBytes } from './checks.ts'
import { whenUnlocked } from './lock-waits.ts'
import type { ImportOptions, ImportPlan } from './plan.ts'
import { MAX_ROWS_OF_ONE_STEP } from './step-sizes.ts'
import {
  type CheckedFile,
  createStepPlans,
  hasUpdates,
  type ImportEntry,
  type StepsOptions,
  type Stored,
  storedBy
} from './steps.ts'

interface AtomicOptions extends Omit<StepsOptions, 'commit' | 'sizes'> {
  readonly once: Once
}

export interface StoredRecords extends Stored {
  /** Records of the file. */
  readonly rows: number
}

const toStoredRecords =
  (updates: boolean) =>
  (results: readonly WriteResult[]): StoredRecords => ({
    rows: Number(results.findLast(({ rows }) => rows.length > 0)?.rows[0]?.record),
    ...storedBy(results, updates)
  })

const tooManyRecords = (rows: number) =>
  new DomainError(
    'TOO_MUCH_WORK',
    `An import with 'atomic=true' has at most ${MAX_ROWS_OF_ONE_STEP} records, and the file has ${rows}. Nothing was imported.`,
    { hint: 'Send several smaller files, or leave out `atomic`.' }
  )

/** @throws TOO_MUCH_WORK */
export const assertFitsOneUnit = ({ options }: ImportPlan, { rows }: StagedFile) => {
  if (options.isAtomic && rows > MAX_ROWS_OF_ONE_STEP) throw tooManyRecords(rows)
}

/**
 * Returns a body that is digested while it is read. `complete` returns the caller, whose key belongs to this body: call it
 * after the body was read.
 */
export const digestBody = (caller: Caller, { format }: ImportOptions, body: BodyChunks) => {
  const { retryKey } = caller
  if (!retryKey) return { chunks: body, complete: () => caller }
  const hash = createHash('sha256').update(JSON.stringify([retryKey.digest, format]))
  async function* digested(): BodyChunks {
    for await (const chunk of body) {
      hash.update(chunk)
      yield chunk
    }
  }
  return {
    chunks: digested(),
    complete: (): Caller => ({ ...caller, retryKey: { ...retryKey, digest: hash.digest('hex') } })
  }
}

/** Stores all records of a file in one transaction, with the Idempotency-Key of the request. */
export const createAtomicImports = ({ db, clock, rowCosts, currentTable, once }: AtomicOptions) => {
  const planSteps = createStepPlans({ db, clock, rowCosts })

  /** The texts of stored records that an upsert changes are estimated as those of the file. */
  const sizeOf = async ({ plan, staging, file: { bytes, fields } }: CheckedFile): Promise<StagedSize> => {
    const { total } = await staging.check([countTextBytes(fields)])
    return { bytes, textBytes: plan.on ? 2 * total : total }
  }

  const toOperation = async (
    access: Access,
    checked: CheckedFile,
    entry: ImportEntry
  ): Promise<Operation<StoredRecords>> => {
    const { rows } = checked.file
    const { last } = await checked.staging.step({ after: null, rows, maxBytes: null })
    const operationOf = await planSteps(checked, access)
    return {
      ...(await operationOf({ after: null, last, rows }, entry.progress(access.table.id, rows))),
      change: { kind: 'import', count: rows, size: await sizeOf(checked) },
      result: toStoredRecords(hasUpdates(checked))
    }
  }

  type LogImport = (store: (entry: ImportEntry) => Promise<StoredRecords>) => Promise<StoredRecords>

  /**
   * Stores the records, or returns what an earlier request with the same key has stored. `check`: compares the file with the
   * stored records, which that request may have changed. `record`: adds a row to the list of imports.
   * @throws TOO_MUCH_WORK, and the errors of a create
   */
  return async (
    caller: Caller,
    access: Access,
    checked: CheckedFile,
    { check, record }: { readonly check: () => Promise<void>; readonly record: LogImport }
  ): Promise<StoredRecords> => {
    const { rows } = checked.file
    const [stored] = await once(
      caller,
      [{ table: access.table, shown: null, result: toStoredRecords(hasUpdates(checked)) }],
      async (commit) => {
        await check()
        if (rows === 0) return [{ rows, created: 0, updated: 0 }] as const
        const store = async (entry: ImportEntry) => {
          const operation = await toOperation(access, checked, entry)
          const [result] = await whenUnlocked(async () => {
            await caller.confirmRight()
            assertSameRecords(access.table, currentTable(access.table.id))
            return commit(caller, [operation])
          })
          return result
        }
        return [await record(store)] as const
      }
    )
    return stored
  }
}
