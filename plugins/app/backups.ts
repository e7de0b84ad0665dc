import fp from 'fastify-plugin'
import { backupDirectoryOf, databaseOf, timeZone } from '../../config.ts'
import { type BackupService, createBackupService } from '../../services/backups/backups.ts'
import { openBackupDirectory } from '../../services/backups/directory.ts'
import { parseKeep } from '../../services/backups/keep.ts'
import { createSchedule } from '../../services/backups/schedule.ts'

declare module 'fastify' {
  interface FastifyInstance {
    backups: BackupService
    /** Runs the scheduled backup now. Does nothing without a schedule. Tests call it. */
    triggerBackup: () => Promise<void>
  }
}

const FAILED = 'The scheduled backup was not made. Remove the cause in `err`, then POST /admin/backups.'

/** Makes backups: on request, and at the times of the setting `backups`. A scheduled one that fails is logged. */
export default fp(
  async (fastify) => {
    const { config, settings, clock, database: db, log, auditRead, reloadAfterRestore: reload } = fastify
    const directory = openBackupDirectory({
      path: backupDirectoryOf(config),
      servedFile: databaseOf(config)
    })
    const keep = () => parseKeep(settings.get('backupKeep'))
    const backups = createBackupService({ db, clock, directory, reload, auditRead, keep })
    fastify.decorate('backups', backups)

    const run = () => backups.runScheduled().catch((error) => log.error({ err: error }, FAILED))
    const schedule = createSchedule(timeZone(), run)
    // A file that was loaded into a cluster may have the setting.
    if (!db.replication) {
      schedule.set(settings.get('backups'))
      settings.onChange('backups', schedule.set)
    }
    fastify.decorate('triggerBackup', schedule.trigger)
    fastify.addHook('onClose', async () => schedule.stop())
  },
  { name: 'backups', dependencies: ['services'] }
)
