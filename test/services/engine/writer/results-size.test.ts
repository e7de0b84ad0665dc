import t from 'tap'
import { sizeOfRows } from '../../../../services/engine/shared/size.ts'
import { createUnreadText, MAX_UNREAD, MIN_COUNTED_CHARACTERS } from '../../../../services/engine/shared/unread-text.ts'
import { createResultsCheck } from '../../../../services/engine/writer/results-size.ts'

const resultOf = (...texts: readonly string[]) => ({ changes: 1, rows: texts.map((text) => ({ text })) })

const HALF = 'x'.repeat(4 * 2 ** 20)

t.test('the size of rows is that of their texts and BLOBs', async (t) => {
  t.equal(sizeOfRows([{ a: 'abc', b: Buffer.alloc(2), c: 1, d: null }, { a: 'd' }]), 6)
})

t.test('the rows of a unit may have 8 MiB, and one record may be larger', async (t) => {
  const check = createResultsCheck(createUnreadText())
  check(resultOf(HALF))
  check(resultOf(HALF))
  check(resultOf())
  t.throws(() => check(resultOf('x')), { code: 'RESULTS_TOO_LARGE' })

  t.doesNotThrow(() => createResultsCheck(createUnreadText())(resultOf(`${HALF}${HALF}x`)))
})

t.test('large rows are refused while clients have not read too much, and small rows are not', async (t) => {
  const unread = createUnreadText()
  unread.add(MAX_UNREAD - MIN_COUNTED_CHARACTERS)
  t.throws(() => createResultsCheck(unread)(resultOf('x'.repeat(MIN_COUNTED_CHARACTERS + 1))), {
    code: 'TOO_MUCH_UNREAD'
  })
  t.doesNotThrow(() => createResultsCheck(unread)(resultOf('x'.repeat(MIN_COUNTED_CHARACTERS))))
  unread.add(-1)
  t.doesNotThrow(() => createResultsCheck(unread)(resultOf('x'.repeat(MIN_COUNTED_CHARACTERS + 1))))
})
