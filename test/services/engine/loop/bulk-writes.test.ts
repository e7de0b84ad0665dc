import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createBulkWrites } from '../../../../services/engine/loop/bulk-writes.ts'

/** The milliseconds that the writer of these tests takes for a unit. */
const WRITE_MS = 40
const LONG_WRITE_MS = 60

const unit = [{ sql: 'SELECT 1', params: [] }]
const ANN = { kind: 'token', id: 1, name: 'Ann' } as const
const BOB = { kind: 'token', id: 2, name: 'Bob' } as const

/** Returns bulk writes to a slow writer, and the times at which it began each unit. `pending`: the units of others. */
const start = (pending: number, writeMs = WRITE_MS) => {
  // A pause does not keep the process running.
  const running = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(running))
  const begun: number[] = []
  let inFlight = 0
  let most = 0
  const write = async () => {
    begun.push(performance.now())
    inFlight += 1
    most = Math.max(most, inFlight)
    await delay(writeMs)
    inFlight -= 1
    if (begun.length === 2) throw new Error('failed')
    return []
  }
  const gaps = () => begun.slice(1).map((time, index) => time - Number(begun[index]))
  return { ...createBulkWrites({ write, counts: () => ({ accepted: 0, pending }) }), gaps, most: () => most }
}

t.test('large units are written one at a time, also after a failure', async (t) => {
  const { writeBulk, gaps, most } = start(0)
  const results = await Promise.allSettled([writeBulk(ANN, unit), writeBulk(ANN, unit), writeBulk(ANN, unit)])
  t.strictSame(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled']
  )
  t.equal(most(), 1)
  t.equal(gaps().length, 2)
})

t.test('while others write, each one waits as long as the one before took', async (t) => {
  const { writeBulk, gaps } = start(5)
  await Promise.allSettled([writeBulk(ANN, unit), writeBulk(ANN, unit), writeBulk(ANN, unit)])
  for (const gap of gaps()) t.ok(gap > 1.8 * WRITE_MS, `${gap} ms`)
})

t.test('after a unit that took long, the next one of its caller waits ten times as long', async (t) => {
  const { writeBulk, gaps } = start(5, LONG_WRITE_MS)
  await Promise.allSettled([writeBulk(ANN, unit), writeBulk(ANN, unit)])
  for (const gap of gaps()) t.ok(gap > 10.8 * LONG_WRITE_MS, `${gap} ms`)
})

t.test('a unit that took long does not delay other callers for longer than it took', async (t) => {
  const { writeBulk, gaps } = start(5, LONG_WRITE_MS)
  await Promise.allSettled([writeBulk(ANN, unit), writeBulk(ANN, unit), writeBulk(BOB, unit)])
  const [other, own] = gaps()
  t.ok(Number(other) < 3 * LONG_WRITE_MS, `${other} ms`)
  t.ok(Number(other) + Number(own) > 10.8 * LONG_WRITE_MS, `${own} ms`)
})

t.test('the callers are served in rotation', async (t) => {
  const { writeBulk } = start(0)
  const order: string[] = []
  const add = (caller: typeof ANN | typeof BOB) =>
    writeBulk(caller, unit)
      .catch(() => {})
      .finally(() => order.push(caller.name))
  await Promise.all([add(ANN), add(ANN), add(ANN), add(BOB)])
  t.strictSame(order, ['Ann', 'Ann', 'Bob', 'Ann'])
})

t.test('the number of waiting units is limited', async (t) => {
  const { writeBulk, counts } = start(0)
  const results = Array.from({ length: 33 }, () => writeBulk(ANN, unit))
  await t.rejects(writeBulk(ANN, unit), { code: 'OVERLOADED', retryAfter: 1 })
  t.strictSame(counts(), { waiting: 32, refused: 1 })
  await Promise.allSettled(results)
  await t.resolves(writeBulk(ANN, unit))
})
