import t from 'tap'
import { createQuotedCells } from '../../../../services/engine/staging/quoted-cells.ts'

t.test('a record has at most 100,000 cells', async (t) => {
  const read = (delimiters: number) => createQuotedCells(',')(Buffer.from(`${','.repeat(delimiters)}\n`), true)
  t.equal(read(99_999).failure, undefined)
  t.match(read(100_001).failure, { message: /more than 100000 cells/ })
})
