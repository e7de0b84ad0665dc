import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createBulkWrites } from '../../../../services/engine/loop/bulk-writes.ts'

/** The milliseconds that the writer of these tests takes for a unit. */
const WRITE_MS = 40
const LONG_WRITE_MS = 60

const unit = [{ sql: 'SELECT 1', params: [] }]

/** Returns bulk writes to a slow writer, and the times at which it began each unit. `pending`: the units of others. */
const start = (pending: number, writeMs = WRITE_MS) => {
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
  return { ...createBulkWrites({ write, counts: () => ({ pending }) }), gaps, most: () => most }
}

t.test('large units are written one at a time, also after a failure', async (t) => {
  const { writeBulk, gaps, most } = start(0)
  const results = await Promise.allSettled([writeBulk(unit), writeBulk(unit), writeBulk(unit)])
  t.strictSame(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled']
  )
  t.equal(most(), 1)
  t.equal(gaps().length, 2)
})

t.test('while others write, each one waits as long as the one before took', async (t) => {
  const { writeBulk, gaps } = start(5)
  await Promise.allSettled([writeBulk(unit), writeBulk(unit), writeBulk(unit)])
  for (const gap of gaps()) t.ok(gap > 1.8 * WRITE_MS, `${gap} ms`)
})

t.test('after a unit that took long, the next one waits four times as long', async (t) => {
  const { writeBulk, gaps } = start(5, LONG_WRITE_MS)
  await Promise.allSettled([writeBulk(unit), writeBulk(unit)])
  for (const gap of gaps()) t.ok(gap > 4.8 * LONG_WRITE_MS, `${gap} ms`)
})

t.test('the number of waiting units is limited', async (t) => {
  const { writeBulk, counts } = start(0)
  const results = Array.from({ length: 32 }, () => writeBulk(unit))
  await t.rejects(writeBulk(unit), { code: 'OVERLOADED', retryAfter: 1 })
  t.strictSame(counts(), { waiting: 31, refused: 1 })
  await Promise.allSettled(results)
  await t.resolves(writeBulk(unit))
})
