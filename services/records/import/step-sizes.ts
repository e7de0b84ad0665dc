import type { StagedFile } from '../../engine/staging/protocol.ts'
import type { RegisteredTable } from '../../model/table.ts'
import type { RowCosts } from '../change/row-costs.ts'
import { MAX_MEASURED_MS } from '../change/work.ts'
import type { ImportPlan } from './plan.ts'

/** A file with at most this many records and bytes is stored in one transaction. */
export const MAX_ROWS_OF_ONE_STEP = 5000
const MAX_BYTES_OF_STEP = 4 * 2 ** 20
/** Of a table with a search index, which takes about 0.5 µs for a byte of text. */
const MAX_BYTES_WITH_SEARCH_INDEX = 128 * 1024

const MIN_ROWS = 200
const MAX_ROWS = 50_000
/** Of a costly table without a measured cost. */
const UNMEASURED_ROWS = 50
/** Other writes wait for a step. */
const STEP_MS = 15
/** Of a costly table: shorter steps would mostly wait for the disk. */
const STEP_MS_OF_COSTLY = 40

type Named = Pick<RegisteredTable, 'name'>

/** Stored rows, and the milliseconds of their commit, with its wait in the queue. */
interface StoredStep {
  readonly rows: number
  readonly took: number
}

export const maxBytesOf = ({ access }: ImportPlan) =>
  access.table.searchIndex.state === 'off' ? MAX_BYTES_OF_STEP : MAX_BYTES_WITH_SEARCH_INDEX

/** Creates the functions that decide how many records of a file are stored in one transaction. */
export const createStepSizes = ({ isCostly, costOf }: RowCosts) => {
  /** Returns null for rows of unknown cost. On a cluster, no cost is known. */
  const measuredRows = (table: Named, ms: number) => {
    const cost = costOf(table, 'import') ?? costOf(table, 'create')
    if (cost === undefined) return null
    return Math.min(MAX_ROWS_OF_ONE_STEP, Math.max(1, Math.floor(ms / cost)))
  }

  const rowsIn = (table: Named, ms: number) => measuredRows(table, ms) ?? UNMEASURED_ROWS

  return {
    /** Whether all records of the file are stored in one transaction. */
    isOneStep: (plan: ImportPlan, { rows, bytes }: StagedFile) => {
      const { table } = plan.access
      const maxRows = isCostly(table) ? rowsIn(table, MAX_MEASURED_MS) : MAX_ROWS_OF_ONE_STEP
      return plan.options.isAtomic || (rows <= maxRows && bytes <= maxBytesOf(plan))
    },
    firstRows: (table: Named) => (isCostly(table) ? rowsIn(table, STEP_MS_OF_COSTLY) : MAX_ROWS_OF_ONE_STEP),
    /** Returns the number of rows for the next step, at most twice as many. */
    nextRows: (table: Named, { rows, took }: StoredStep) => {
      const measured = isCostly(table) ? measuredRows(table, STEP_MS_OF_COSTLY) : null
      if (measured !== null) return Math.min(measured, rows * 2)
      const wanted = Math.floor((rows * STEP_MS) / Math.max(took, 1))
      // Only rows that run triggers can take so long that fewer are better.
      const min = isCostly(table) ? 1 : Math.min(MIN_ROWS, rows)
      return Math.min(MAX_ROWS, Math.max(min, Math.min(wanted, rows * 2)))
    }
  }
}

export type StepSizes = ReturnType<typeof createStepSizes>
