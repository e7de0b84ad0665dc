import t from 'tap'
import { timed } from '../../../../services/engine/loop/timed.ts'

t.test('reports the time of a scan, also if it fails', async (t) => {
  const times: number[] = []
  const onTime = (milliseconds: number) => times.push(milliseconds)
  t.equal(await timed(Promise.resolve(7), onTime), 7)
  await t.rejects(timed(Promise.reject(new Error('stopped')), onTime), { message: 'stopped' })
  t.equal(times.length, 2)
  t.ok(times.every((milliseconds) => milliseconds >= 0))
})
