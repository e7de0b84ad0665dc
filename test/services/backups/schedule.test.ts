import t from 'tap'
import { startSchedule } from '../../../services/backups/schedule.ts'

t.test('the task runs at the times of the expression, in the time zone', async (t) => {
  let runs = 0
  const run = async () => {
    runs += 1
  }
  const job = startSchedule({ expression: '0 3 * * *', timeZone: 'Asia/Tokyo' }, run)
  t.teardown(() => job.stop())
  t.equal(job.nextRun(new Date('2026-11-26T00:00:00Z'))?.toISOString(), '2026-11-26T18:00:00.000Z')
  await job.trigger()
  t.equal(runs, 1)
})

for (const [expression, timeZone, reason] of [
  ['every night', 'UTC', /'every night' in UTC is not/],
  ['0 3 * * *', 'Mars/Olympus', /'0 3 \* \* \*' in Mars\/Olympus is not/],
  ['0 0 30 2 *', 'UTC', /it has no next time/]
] as const)
  t.test(`'${expression}' in ${timeZone} is refused, with the name of the setting`, async (t) => {
    t.throws(() => startSchedule({ expression, timeZone }, async () => {}), { message: /^BACKUPS must be/ })
    t.throws(() => startSchedule({ expression, timeZone }, async () => {}), { message: reason })
  })
