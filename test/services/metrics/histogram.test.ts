import t from 'tap'
import { createHistogram, linesOf } from '../../../services/metrics/histogram.ts'

t.test('a value belongs to the first bucket whose bound it does not exceed', async (t) => {
  const { observe, read } = createHistogram([1, 5])
  for (const value of [0, 1, 1.5, 5, 5.5, 100]) observe(value)
  t.strictSame(read(), { bounds: [1, 5], counts: [2, 2, 2], sum: 113 })
})

t.test('in the lines of Prometheus, each bucket also counts those below it', async (t) => {
  const labels = { route: '/health' }
  t.strictSame(linesOf('seconds', labels, { bounds: [1, 5], counts: [2, 3, 4], sum: 60 }), [
    { labels: { ...labels, le: 1 }, value: 2, metricName: 'seconds_bucket' },
    { labels: { ...labels, le: 5 }, value: 5, metricName: 'seconds_bucket' },
    { labels: { ...labels, le: '+Inf' }, value: 9, metricName: 'seconds_bucket' },
    { labels, value: 60, metricName: 'seconds_sum' },
    { labels, value: 9, metricName: 'seconds_count' }
  ])
})
