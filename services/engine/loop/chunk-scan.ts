import type { Row } from '../../model/sql-value.ts'
import type { Statement } from '../../sql/statement.ts'
import type { ChunkScan } from '../database.ts'
import type { ScanRequest } from '../reader/scan.ts'

/** Bytes; a larger text is copied. */
const BUFFER_SIZE = 512 * 1024

/**
 * Returns a `ChunkScan` with two buffers that the reader thread fills in alternation: one can leave while the other is
 * filled. Copied texts would pile up in both threads until their garbage is collected.
 */
export const createChunkScan = (scan: (request: ScanRequest) => Promise<readonly Row[]>): ChunkScan => {
  let [free, used] = [new SharedArrayBuffer(BUFFER_SIZE), new SharedArrayBuffer(BUFFER_SIZE)]

  return async (statement: Statement) => {
    const [row] = await scan({ ...statement, textBuffer: free })
    if (typeof row?.text !== 'number') return row
    ;[free, used] = [used, free]
    return { ...row, text: Buffer.from(used, 0, row.text) }
  }
}
