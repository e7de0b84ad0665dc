import type { ChunkScan } from '../../engine/database.ts'
import { INT64 } from '../../model/literals.ts'
import { exportByKey, type RecordLines } from '../../sql/exports.ts'
import type { Selection } from '../../sql/selections.ts'
import { type Chunk, createStepReader, createStepSize, MAX_STEP_BYTES } from './steps.ts'

/** Reads all rows in the order of an integer key, step by step. Each step starts after the last key of the previous one. */
export async function* walkKey(scan: ChunkScan, selection: Selection, lines: RecordLines): AsyncGenerator<Chunk> {
  const descending = selection.order[0]?.descending === true
  const end = descending ? INT64.first : INT64.last
  const size = createStepSize()
  const readStep = createStepReader(scan)
  let from = descending ? INT64.last : INT64.first
  while (true) {
    const { rows } = size
    const step = { from, rows, maxBytes: MAX_STEP_BYTES }
    const { chunk, count, bytes, last } = await readStep(exportByKey(selection, lines, step))
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
