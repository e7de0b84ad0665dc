import type { Row } from '../../model/sql-value.ts'
import { fromJsonRows } from '../../sql/json-rows.ts'
import { checkedColumns, selectWrong } from '../../sql/staged-checks.ts'
import { type ReadRange, type StorePlan, storeStaged } from '../../sql/staged-units.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Staging } from '../database.ts'
import type { StagingFiles } from '../loop/staging-files.ts'
import { createStagingThreads } from '../loop/staging-threads.ts'
import { errorsOfRows, type ImportErrors, joinErrors, MAX_IMPORT_ERRORS } from '../staging/import-errors.ts'
import type { StagedCheck, StagedStep, StagingRequest } from '../staging/protocol.ts'

/** Records that are compared with the stored ones together, and their bytes. */
const ROWS_OF_COMPARISON = 5000
const BYTES_OF_COMPARISON = 4 * 2 ** 20

const NO_ERRORS: ImportErrors = { total: 0, first: [] }
const NO_ROWS = '[]'

interface ClusterStagingsOptions {
  readonly stagingFiles: StagingFiles
  /** Runs statements that only read, in one snapshot. */
  readonly query: (
    statements: readonly Statement[],
    options: { readonly isScan: boolean }
  ) => Promise<readonly (readonly Row[])[]>
}

type StagingThread = ReturnType<ReturnType<typeof createStagingThreads>['start']>

const namesOf = (columns: readonly { readonly name: string }[]) => columns.map(({ name }) => name)

/** Returns the function that reads ranges of records as JSON, which units contain. */
const readAsJson =
  ({ call }: StagingThread): ReadRange =>
  async (columns, range) =>
    fromJsonRows(namesOf(columns), await call('rows', { columns, condition: 'TRUE', ...range }))

/** Yields the ranges of the staged records in their order. */
async function* rangesOf({ step }: StagingThread) {
  let range: StagedStep = { last: null, rows: 0 }
  while (true) {
    const after = range.last
    range = await step({ after, rows: ROWS_OF_COMPARISON, maxBytes: BYTES_OF_COMPARISON })
    if (range.rows === 0) return
    yield { after, last: range.last }
  }
}

/**
 * Stages the files of imports for a cluster, which cannot read them. Units contain the values of the records. Checks compare
 * the values of one range of records after the other with the stored ones.
 */
export const createClusterStagings = ({ stagingFiles, query }: ClusterStagingsOptions) => {
  const threads = createStagingThreads(stagingFiles)

  /** Runs the checks of a range in one snapshot. */
  const compare = async (
    { call }: StagingThread,
    checks: readonly StagedCheck[],
    range: Parameters<ReadRange>[1]
  ): Promise<readonly ImportErrors[]> => {
    const texts = await Promise.all(
      checks.map((check) => call('rows', { columns: checkedColumns(check), condition: check.inFile, ...range }))
    )
    const pending = checks
      .map((check, index) => ({ check, json: texts[index] as string }))
      .filter(({ json }) => json !== NO_ROWS)
    if (pending.length === 0) return []
    const statements = pending.map(({ check, json }) =>
      selectWrong(check, fromJsonRows(namesOf(checkedColumns(check)), json), MAX_IMPORT_ERRORS)
    )
    const results = await query(statements, { isScan: true })
    return pending.map(({ check }, index) => errorsOfRows(check, results[index] as readonly Row[]))
  }

  const checkStored = async (thread: StagingThread, checks: readonly StagedCheck[]): Promise<ImportErrors> => {
    let errors = NO_ERRORS
    if (checks.length === 0) return errors
    for await (const range of rangesOf(thread)) errors = joinErrors([errors, ...(await compare(thread, checks, range))])
    return errors
  }

  const stage = (request: StagingRequest): Staging => {
    const thread = threads.start(request, null)
    const { call, write, end, step, close } = thread
    return {
      write,
      end,
      step,
      check: async (checks) => {
        const inFile = await call(
          'check',
          checks.filter(({ stored }) => stored === null)
        )
        const compared = checks.filter(({ stored }) => stored !== null)
        return joinErrors([inFile, await checkStored(thread, compared)])
      },
      store: async (plan: StorePlan) => storeStaged(plan, readAsJson(thread)),
      close: () => close()
    }
  }

  return { stage, close: threads.close, counts: threads.counts }
}
