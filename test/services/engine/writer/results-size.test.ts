import t from 'tap'
import { createResultsCheck, sizeOfRows } from '../../../../services/engine/writer/results-size.ts'

const resultOf = (...texts: readonly string[]) => ({ changes: 1, rows: texts.map((text) => ({ text })) })

const HALF = 'x'.repeat(4 * 2 ** 20)

t.test('the size of rows is that of their texts and BLOBs', async (t) => {
  t.equal(sizeOfRows({ changes: 1, rows: [{ a: 'abc', b: Buffer.alloc(2), c: 1, d: null }, { a: 'd' }] }), 6)
})

t.test('the rows of a unit may have 8 MiB, and one record may be larger', async (t) => {
  const check = createResultsCheck()
  check(resultOf(HALF))
  check(resultOf(HALF))
  check(resultOf())
  t.throws(() => check(resultOf('x')), { code: 'RESULTS_TOO_LARGE' })

  t.doesNotThrow(() => createResultsCheck()(resultOf(`${HALF}${HALF}x`)))
})
