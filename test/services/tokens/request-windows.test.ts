import t from 'tap'
import { createRequestWindows, tooManyRequests } from '../../../services/tokens/request-windows.ts'

const limit = { requests: 2, seconds: 10 }

t.test('a window begins with its first request, and ends after its seconds', async (t) => {
  let now = 5000
  const { count } = createRequestWindows(() => now)
  t.strictSame(count('a', limit), { limit, remaining: 1, resetsIn: 10, isAllowed: true })
  now += 4000
  t.strictSame(count('a', limit), { limit, remaining: 0, resetsIn: 6, isAllowed: true })
  t.strictSame(count('a', limit), { limit, remaining: 0, resetsIn: 6, isAllowed: false })
  t.match(count('b', limit), { isAllowed: true })
  now += 5999
  t.match(count('a', limit), { resetsIn: 1, isAllowed: false })
  now += 1
  t.match(count('a', limit), { remaining: 1, resetsIn: 10, isAllowed: true })
  count('a', limit)
  t.match(count('a', limit), { resetsIn: 10, isAllowed: false }, 'refused requests do not extend the window')
})

t.test('several requests are counted together, or not at all', async (t) => {
  const { count } = createRequestWindows(() => 0)
  t.match(count('a', limit), { remaining: 1, isAllowed: true })
  t.match(count('a', limit, 2), { remaining: 1, isAllowed: false })
  t.match(count('a', limit, 1), { remaining: 0, isAllowed: true })
})

t.test('a changed limit applies to the window that has begun', async (t) => {
  let now = 0
  const { count } = createRequestWindows(() => now)
  count('a', { requests: 9, seconds: 86_400 }, 2)
  t.match(count('a', { requests: 1, seconds: 10 }), { remaining: 0, resetsIn: 10, isAllowed: false })
  now = 10_000
  t.match(count('a', { requests: 1, seconds: 10 }), { remaining: 0, resetsIn: 10, isAllowed: true })
})

t.test('the error says when to try again, and how batches count', async (t) => {
  const quota = { limit, remaining: 0, resetsIn: 6, isAllowed: false }
  t.match(tooManyRequests(quota, 1), {
    code: 'TOO_MANY_REQUESTS',
    retryAfter: 6,
    message: 'Too many requests. Retry in 6 s.',
    hint: undefined
  })
  const hint = 'A batch counts as one request for each operation. Send at most 2 operations in 10 s.'
  t.match(tooManyRequests(quota, 2), { retryAfter: 6, hint })
  t.match(tooManyRequests(quota, 3), {
    message: 'The batch has more operations than the limit of requests, so it never succeeds.',
    retryAfter: 6,
    hint
  })
})

t.test('the number of windows is limited', async (t) => {
  const { count } = createRequestWindows(() => 0, 2)
  for (const key of ['a', 'a', 'b', 'c']) count(key, limit)
  t.match(count('a', limit), { isAllowed: true }, 'the oldest window was deleted')
})
