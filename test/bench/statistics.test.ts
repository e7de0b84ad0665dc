import t from 'tap'
import { median, medianInterval, medianOf } from '../../bench/statistics.ts'

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

const numbersTo = (count: number) => Array.from({ length: count }, (_, index) => count - index)

t.test('the interval of a median excludes as many values at both ends as the sign test allows', async (t) => {
  t.strictSame(medianInterval(numbersTo(6)), { lower: 1, upper: 6 })
  t.strictSame(medianInterval(numbersTo(8)), { lower: 1, upper: 8 })
  t.strictSame(medianInterval(numbersTo(9)), { lower: 2, upper: 8 })
  t.strictSame(medianInterval(numbersTo(24)), { lower: 7, upper: 18 })
})

t.test('the interval of few values is their range', async (t) => {
  t.strictSame(medianInterval([5, 1, 3]), { lower: 1, upper: 5 })
})
