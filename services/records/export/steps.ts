import type { ChunkScan } from '../../engine/database.ts'
import type { SqlValue } from '../../model/sql-value.ts'
import type { Statement } from '../../sql/statement.ts'

/** Target size of one step, in bytes: large enough for speed, small enough to limit the memory. */
const TARGET_STEP_BYTES = 256 * 1024
/** Maximum bytes of a step with more than one row. Later rows may be wider than those that set its number of rows. */
export const MAX_STEP_BYTES = 4 * TARGET_STEP_BYTES
const MAX_ROWS = 2000
/** Maximum factor by which the number of rows grows from one step to the next. */
const MAX_GROWTH = 8

/** Bytes are in a buffer that the second chunk after this one overwrites. */
export type Chunk = Uint8Array | string

const toChunk = (text: SqlValue | undefined): Chunk | null =>
  typeof text === 'string' || text instanceof Uint8Array ? text : null

/** Creates the number of rows of a step, which is adjusted to the width of the rows. It begins at 1. */
export const createStepSize = () => {
  let rows = 1
  return {
    get rows() {
      return rows
    },
    /** `count`, `bytes`: the rows of the previous step, and their size. */
    adjust: (count: number, bytes: number) => {
      rows = Math.max(1, Math.min(MAX_ROWS, MAX_GROWTH * count, Math.floor((count * TARGET_STEP_BYTES) / bytes)))
    }
  }
}

/** Returns a function that runs one step. Its `chunk` is null if the step has no rows, or too many bytes. */
export const createStepReader = (scan: ChunkScan) => async (statement: Statement) => {
  const row = await scan(statement)
  return { chunk: toChunk(row?.text), count: Number(row?.count), bytes: Number(row?.bytes), last: row?.last }
}
