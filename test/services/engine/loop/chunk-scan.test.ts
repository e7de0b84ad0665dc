import t from 'tap'
import { createChunkScan } from '../../../../services/engine/loop/chunk-scan.ts'
import type { ScanRequest } from '../../../../services/engine/reader/scan.ts'
import type { Row } from '../../../../services/model/sql-value.ts'
import { sql } from '../engine.ts'

const encoder = new TextEncoder()

/** A reader thread that puts each text into the buffer. */
const scanIntoBuffer = async ({ params, textBuffer }: ScanRequest): Promise<readonly Row[]> => {
  const { written } = encoder.encodeInto(String(params[0]), new Uint8Array(textBuffer as SharedArrayBuffer))
  return [{ text: written, count: 1 }]
}

t.test('a chunk stays unchanged during the next scan', async (t) => {
  const scanChunk = createChunkScan(scanIntoBuffer)
  const first = await scanChunk(sql('', 'one'))
  const second = await scanChunk(sql('', 'other'))
  t.equal(String(first?.text), 'one')
  t.equal(String(second?.text), 'other')
  t.equal(second?.count, 1)
  await scanChunk(sql('', 'new'))
  t.equal(String(first?.text), 'new', 'and is overwritten by the one after it')
})

t.test('a row whose text is not in the buffer is returned unchanged', async (t) => {
  for (const row of [{ text: 'small' }, { text: null }, undefined]) {
    const scanChunk = createChunkScan(async () => (row ? [row] : []))
    t.strictSame(await scanChunk(sql('')), row)
  }
})
