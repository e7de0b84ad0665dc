import t from 'tap'
import { createCsvReader } from '../../../../services/engine/staging/csv-records.ts'

const BYTE_ORDER_MARK = '\u{FEFF}'

t.test('a chunk keeps the byte order mark that a cell begins with', async (t) => {
  const read: (readonly [number, readonly string[]])[] = []
  const reader = createCsvReader(',', (line, cells) => read.push([line, cells.map(({ text }) => text)]))
  await reader.write(Buffer.from('a,b\n'))
  await reader.write(Buffer.from(`${BYTE_ORDER_MARK}c,d\n`))
  await reader.end()
  t.same(read, [
    [1, ['a', 'b']],
    [2, [`${BYTE_ORDER_MARK}c`, 'd']]
  ])
})
