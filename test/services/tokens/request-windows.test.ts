import t from 'tap'
import { createRequestWindows } from '../../../services/tokens/request-windows.ts'

const limit = { requests: 2, seconds: 10 }

t.test('a window begins with its first request, and ends after its seconds', async (t) => {
  let now = 5000
  const { count } = createRequestWindows(() => now)
  count('a', limit)
  now += 4000
  count('a', limit)
  const refused = () => count('a', limit)
  t.throws(refused, { code: 'TOO_MANY_REQUESTS', retryAfter: 6, message: 'Too many requests. Try again in 6 s.' })
  count('b', limit)
  now += 5999
  t.throws(refused, { code: 'TOO_MANY_REQUESTS', retryAfter: 1 })
  now += 1
  count('a', limit)
  count('a', limit)
  t.throws(refused, { code: 'TOO_MANY_REQUESTS', retryAfter: 10 }, 'refused requests do not extend the window')
})

t.test('the number of windows is limited', async (t) => {
  const { count } = createRequestWindows(() => 0, 2)
  for (const key of ['a', 'a', 'b', 'c']) count(key, limit)
  t.doesNotThrow(() => count('a', limit), 'the oldest window was deleted')
})
