import type { BackupService, LastBackup } from '../backups/backups.ts'
import type { Metrics } from './metrics.ts'

const FIGURES: readonly (readonly [name: string, help: string, figureOf: (last: LastBackup) => number])[] = [
  ['rowhouse_last_backup_timestamp_seconds', 'When the last backup ended.', ({ at }) => at / 1000],
  ['rowhouse_last_backup_bytes', 'Size of the last backup. 0: it failed.', ({ bytes }) => bytes],
  ['rowhouse_last_backup_ok', '1: the last backup is whole. 0: it failed.', ({ ok }) => Number(ok)]
]

/** Adds the figures of the last backup. Without a backup they have no line. */
export const addBackupMetrics = (metrics: Metrics, { last }: Pick<BackupService, 'last'>) => {
  for (const [name, help, figureOf] of FIGURES) {
    const read = () => {
      const backup = last()
      return backup === null ? [] : figureOf(backup)
    }
    metrics.add({ type: 'gauge', name, help, read })
  }
}
