import t from 'tap'
import { median, medianOf } from '../../bench/statistics.ts'

t.test('the median is the middle value, whatever the order', async (t) => {
  t.equal(median([9, 1, 5]), 5)
  t.equal(median([10, 9]), 9.5)
})

t.test('nothing has no median', async (t) => {
  t.throws(() => median([]), { message: 'There is no median of nothing.' })
})

t.test('one figure of several samples has a median', async (t) => {
  const samples = [
    { p99: 3, p50: 1 },
    { p99: 1, p50: 1 },
    { p99: 2, p50: 1 }
  ]
  t.equal(medianOf(samples, 'p99'), 2)
})
