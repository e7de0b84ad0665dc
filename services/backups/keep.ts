import type { Backup } from '../../schemas/backup.ts'

const DAY_MS = 86_400_000

/** Returns the number of the day, the ISO week or the month of a time, in UTC. */
const periodOf = {
  d: (time: number) => Math.floor(time / DAY_MS),
  // 1 January 1970 was a Thursday, and ISO weeks begin on Monday.
  w: (time: number) => Math.floor((time / DAY_MS + 3) / 7),
  m: (time: number) => {
    const date = new Date(time)
    return date.getUTCFullYear() * 12 + date.getUTCMonth()
  }
}
type Unit = keyof typeof periodOf

export interface KeepRule {
  readonly unit: Unit
  readonly count: number
}

/** Returns the rules of BACKUP_KEEP, such as `7d,4w,6m`, which BACKUP_KEEP_PATTERN has checked. */
export const parseKeep = (text: string): readonly KeepRule[] =>
  text === '' ? [] : text.split(',').map((rule) => ({ unit: rule.slice(-1) as Unit, count: Number.parseInt(rule, 10) }))

/** Returns the last backup of each of the last periods that have one. `backups`: the latest first. */
const keptBy = ({ unit, count }: KeepRule, backups: readonly Backup[]) => {
  const last = new Map<number, Backup>()
  for (const backup of backups) {
    const period = periodOf[unit](backup.createdAt)
    if (!last.has(period)) last.set(period, backup)
  }
  return [...last.values()].slice(0, count)
}

/**
 * Returns the scheduled backups that no rule keeps. Without rules, all are kept. `backups`: the latest first.
 */
export const expiredOf = (rules: readonly KeepRule[], backups: readonly Backup[]): readonly Backup[] => {
  if (rules.length === 0) return []
  const scheduled = backups.filter(({ kind }) => kind === 'scheduled')
  const kept = new Set(rules.flatMap((rule) => keptBy(rule, scheduled)))
  return scheduled.filter((backup) => !kept.has(backup))
}
