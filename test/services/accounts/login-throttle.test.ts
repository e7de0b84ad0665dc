import { mock } from 'node:test'
import t from 'tap'
import { createLoginThrottle, type LoginThrottle } from '../../../services/accounts/login-throttle.ts'

const attempt = { name: 'admin', address: '192.0.2.1' }
const WINDOW_MS = 15 * 60 * 1000

const fail = async (throttle: LoginThrottle, times: number, name = (_: number) => attempt.name) => {
  for (let count = 0; count < times; count += 1) await throttle.recordFailure({ ...attempt, name: name(count) })
}

t.test('after nine failures a tenth attempt is allowed', async (t) => {
  const throttle = createLoginThrottle()
  await fail(throttle, 9)
  await t.resolves(throttle.assertAllowed(attempt))
})

t.test('ten failures block the name for the address, and the error has the remaining time', async (t) => {
  const throttle = createLoginThrottle()
  await fail(throttle, 10)
  const error = await throttle.assertAllowed(attempt).catch((error) => error)
  t.match(error, { code: 'TOO_MANY_ATTEMPTS', kind: 'throttled' })
  t.ok(error.retryAfter > 890 && error.retryAfter <= 900)
})

t.test('names that differ only in ASCII case share a counter', async (t) => {
  const throttle = createLoginThrottle()
  await fail(throttle, 10, (count) => (count % 2 === 0 ? 'Admin' : 'ADMIN'))
  await t.rejects(throttle.assertAllowed(attempt), { code: 'TOO_MANY_ATTEMPTS' })
})

t.test('names that differ in non-ASCII case have two counters, because they are two accounts', async (t) => {
  const throttle = createLoginThrottle()
  await fail(throttle, 10, () => 'JOSÉ')
  await throttle.recordSuccess({ ...attempt, name: 'josé' })
  await t.resolves(throttle.assertAllowed({ ...attempt, name: 'josé' }))
  await t.rejects(throttle.assertAllowed({ ...attempt, name: 'JOSÉ' }), { code: 'TOO_MANY_ATTEMPTS' })
  await t.rejects(throttle.assertAllowed({ ...attempt, name: 'josÉ' }), { code: 'TOO_MANY_ATTEMPTS' }, 'ASCII folds')
})

t.test('failures from one address do not block the name for other addresses', async (t) => {
  const throttle = createLoginThrottle()
  await fail(throttle, 10)
  await t.resolves(throttle.assertAllowed({ ...attempt, address: '192.0.2.2' }))
})

t.test('failures of one name do not block other names from the same address', async (t) => {
  const throttle = createLoginThrottle()
  await fail(throttle, 10)
  await t.resolves(throttle.assertAllowed({ ...attempt, name: 'somebody' }))
})

t.test('a success resets the counter of its name', async (t) => {
  const throttle = createLoginThrottle()
  await fail(throttle, 9)
  await throttle.recordSuccess(attempt)
  await fail(throttle, 9)
  await t.resolves(throttle.assertAllowed(attempt))
})

t.test('200 failures of any names block the address', async (t) => {
  const throttle = createLoginThrottle()
  await fail(throttle, 199, (count) => `name ${count}`)
  await t.resolves(throttle.assertAllowed(attempt))
  await throttle.recordFailure({ ...attempt, name: 'one more' })
  await t.rejects(throttle.assertAllowed(attempt), { code: 'TOO_MANY_ATTEMPTS' })
  await t.resolves(throttle.assertAllowed({ ...attempt, address: '192.0.2.2' }))
})

t.test('a success does not reset the counter of its address', async (t) => {
  const throttle = createLoginThrottle()
  await fail(throttle, 200, (count) => `name ${count}`)
  await throttle.recordSuccess(attempt)
  await t.rejects(throttle.assertAllowed(attempt), { code: 'TOO_MANY_ATTEMPTS' })
})

t.test('the name is allowed again 15 minutes after the first failure', async (t) => {
  mock.timers.enable({ apis: ['Date', 'setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const throttle = createLoginThrottle()
  await fail(throttle, 10)
  mock.timers.tick(WINDOW_MS - 1)
  await t.rejects(throttle.assertAllowed(attempt), { code: 'TOO_MANY_ATTEMPTS', retryAfter: 1 })
  mock.timers.tick(1)
  await t.resolves(throttle.assertAllowed(attempt))
})
