import t from 'tap'
import { createSchedule } from '../../../services/backups/schedule.ts'

t.test('the task runs at the times of the expression, in the time zone, until it is replaced', async (t) => {
  let runs = 0
  const schedule = createSchedule('Asia/Tokyo', async () => {
    runs += 1
  })
  t.teardown(schedule.stop)
  const next = () => schedule.next(new Date('2026-11-26T00:00:00Z'))?.toISOString()
  t.equal(next(), undefined, 'there is no expression yet')
  await schedule.trigger()
  t.equal(runs, 0)
  schedule.set('0 3 * * *')
  t.equal(next(), '2026-11-26T18:00:00.000Z')
  await schedule.trigger()
  t.equal(runs, 1)
  schedule.set('0 4 * * *')
  t.equal(next(), '2026-11-26T19:00:00.000Z')
  schedule.set('')
  t.equal(next(), undefined)
})
