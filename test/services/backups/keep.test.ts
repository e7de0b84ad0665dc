import t from 'tap'
import type { Backup, BackupKind } from '../../../schemas/backup.ts'
import { expiredOf, parseKeep } from '../../../services/backups/keep.ts'
import { nameOf } from '../../../services/backups/names.ts'

const backupAt = (time: string, kind: BackupKind = 'scheduled'): Backup => {
  const createdAt = Date.parse(time)
  return { name: nameOf({ kind, createdAt }), kind, createdAt, bytes: 1 }
}

/** Returns the times of the backups that are kept. `times`: the latest first. */
const keptTimes = (keep: string, times: readonly string[]) => {
  const backups = times.map((time) => backupAt(time))
  const expired = expiredOf(parseKeep(keep), backups)
  return times.filter((_, index) => !expired.includes(backups[index] as Backup))
}

t.test('the last backup of each of the last days is kept', async (t) => {
  const times = [
    '2026-11-26T15:00:00Z',
    '2026-11-26T03:00:00Z',
    '2026-11-25T23:59:59Z',
    '2026-11-25T00:00:00Z',
    '2026-11-20T03:00:00Z',
    '2026-11-19T03:00:00Z'
  ]
  t.strictSame(keptTimes('3d', times), ['2026-11-26T15:00:00Z', '2026-11-25T23:59:59Z', '2026-11-20T03:00:00Z'])
})

t.test('an ISO week begins on Monday', async (t) => {
  // 23 November 2026 is a Monday.
  const times = ['2026-11-29T23:00:00Z', '2026-11-23T00:00:00Z', '2026-11-22T23:59:59Z', '2026-11-16T00:00:00Z']
  t.strictSame(keptTimes('2w', times), ['2026-11-29T23:00:00Z', '2026-11-22T23:59:59Z'])
})

t.test('the last backup of each of the last months is kept, also across a year', async (t) => {
  const times = ['2027-01-31T03:00:00Z', '2027-01-01T03:00:00Z', '2026-12-31T03:00:00Z', '2026-01-31T03:00:00Z']
  t.strictSame(keptTimes('2m', times), ['2027-01-31T03:00:00Z', '2026-12-31T03:00:00Z'])
})

t.test('a backup is kept if one rule keeps it', async (t) => {
  const days = Array.from({ length: 400 }, (_, day) => new Date(Date.UTC(2026, 10, 26, 3) - day * 86_400_000))
  const times = days.map((date) => date.toISOString())
  const kept = keptTimes('7d,4w,6m', times).map((time) => time.slice(0, 10))
  t.strictSame(kept, [
    ...['2026-11-26', '2026-11-25', '2026-11-24', '2026-11-23', '2026-11-22', '2026-11-21', '2026-11-20'],
    ...['2026-11-15', '2026-11-08', '2026-10-31', '2026-09-30', '2026-08-31', '2026-07-31', '2026-06-30']
  ])
})

t.test('backups by hand and uploads never expire, and do not count as one of a day', async (t) => {
  const scheduled = backupAt('2026-11-26T03:00:00Z')
  const old = backupAt('2026-11-25T03:00:00Z')
  const backups = [
    backupAt('2026-11-26T05:00:00Z', 'manual'),
    backupAt('2026-11-26T04:00:00Z', 'upload'),
    scheduled,
    old,
    backupAt('2020-01-01T04:00:00Z', 'manual')
  ]
  t.strictSame(expiredOf(parseKeep('1d'), backups), [old])
})

t.test('without a rule, all backups are kept', async (t) => {
  t.strictSame(expiredOf(parseKeep(''), [backupAt('2020-01-01T04:00:00Z')]), [])
})
