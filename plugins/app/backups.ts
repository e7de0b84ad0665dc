import { join } from 'node:path'
import fp from 'fastify-plugin'
import { databaseOf } from '../../config.ts'
import { type BackupService, createBackupService } from '../../services/backups/backups.ts'
import { openBackupDirectory } from '../../services/backups/directory.ts'
import { parseKeep } from '../../services/backups/keep.ts'
import { startSchedule } from '../../services/backups/schedule.ts'

declare module 'fastify' {
  interface FastifyInstance {
    backups: BackupService
    /** Runs the scheduled backup now. null: there is no schedule. */
    triggerBackup: (() => Promise<void>) | null
  }
}

const FAILED = 'The scheduled backup failed. Free space in BACKUP_DIR, or make it writable, then POST /admin/backups.'

/** Makes backups: on request, and at the times of BACKUPS. A scheduled one that fails is logged. */
export default fp(
  async (fastify) => {
    const { config, clock, database: db, log, auditRead, reloadAfterRestore: reload } = fastify
    const directory = openBackupDirectory({
      path: config.BACKUP_DIR ?? join(config.DATA_DIR, 'backups'),
      servedFile: databaseOf(config)
    })
    const keep = parseKeep(config.BACKUP_KEEP)
    const backups = createBackupService({ db, clock, directory, reload, auditRead, keep })
    fastify.decorate('backups', backups)
    fastify.decorate('triggerBackup', null)

    if (config.BACKUPS === '') return
    const run = () => backups.runScheduled().catch((error) => log.error({ err: error }, FAILED))
    const job = startSchedule({ expression: config.BACKUPS, timeZone: process.env.TZ || 'UTC' }, run)
    fastify.triggerBackup = () => job.trigger()
    fastify.addHook('onClose', async () => job.stop())
  },
  { name: 'backups', dependencies: ['services'] }
)
