import type { ChunkScan } from '../engine/database.ts'
import { INT64 } from '../model/literals.ts'
import type { SqlValue } from '../model/sql-value.ts'
import { exportByKey } from '../sql/exports.ts'
import type { Selection } from '../sql/lists.ts'
import type { RecordText } from '../sql/record-text.ts'
import type { Statement } from '../sql/statement.ts'

/** Target bytes of one step: large enough to be fast, small enough to keep the memory flat. */
const TARGET_STEP_BYTES = 256 * 1024
/** Maximum bytes of a step of more than one row: later rows may be wider. */
export const MAX_STEP_BYTES = 4 * TARGET_STEP_BYTES
const MAX_ROWS = 2000
/** Maximum factor by which the number of rows grows from one step to the next. */
const MAX_GROWTH = 8

/** Bytes are in memory that is overwritten two chunks later. */
export type Chunk = Uint8Array | string

const toChunk = (text: SqlValue | undefined): Chunk | null =>
  typeof text === 'string' || text instanceof Uint8Array ? text : null

/** Adjusts the number of rows of a step to the width of the rows. */
export const createStepSize = () => {
  let rows = 1
  return {
    get rows() {
      return rows
    },
    /** `count` and `bytes`: the rows of the last step and the bytes that they have. */
    adjust: (count: number, bytes: number) => {
      rows = Math.max(1, Math.min(MAX_ROWS, MAX_GROWTH * count, Math.floor((count * TARGET_STEP_BYTES) / bytes)))
    }
  }
}

/** Runs steps. `chunk` is null if a step has no rows, or too many bytes. */
export const readSteps = (scan: ChunkScan) => async (statement: Statement) => {
  const row = await scan(statement)
  return { chunk: toChunk(row?.text), count: Number(row?.count), bytes: Number(row?.bytes), last: row?.last }
}

/** Reads all rows in the order of an integer key, step by step. Each step begins behind the last key of the one before. */
export async function* walkKey(scan: ChunkScan, selection: Selection, text: RecordText): AsyncGenerator<Chunk> {
  const descending = selection.order[0]?.descending === true
  const end = descending ? INT64.first : INT64.last
  const size = createStepSize()
  const readStep = readSteps(scan)
  let from = descending ? INT64.last : INT64.first
  while (true) {
    const { rows } = size
    const step = { rows, maxBytes: MAX_STEP_BYTES }
    const { chunk, count, bytes, last } = await readStep(exportByKey(selection, text, from, step))
    if (count === 0) return
    if (chunk) {
      yield chunk
      const key = BigInt(String(last))
      if (count < rows || key === end) return
      from = descending ? key - 1n : key + 1n
    }
    size.adjust(count, bytes)
  }
}
