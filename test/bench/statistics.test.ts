import t from 'tap'
import { median, medianOf } from '../../bench/statistics.ts'

t.test('the median is the middle value, whatever the order', async (t) => {
  t.equal(median([9, 1, 5]), 5)
  t.equal(median([10, 9]), 9.5)
})

t.test('an empty list has no median', async (t) => {
  t.throws(() => median([]), { message: 'An empty list has no median.' })
})

t.test('the median of samples is that of one of their figures', async (t) => {
  const samples = [
    { p99: 3, p50: 1 },
    { p99: 1, p50: 1 },
    { p99: 2, p50: 1 }
  ]
  t.equal(medianOf(samples, 'p99'), 2)
})
