import fp from 'fastify-plugin'
import { createAuditPurge } from '../../services/audit/purge.ts'

interface AuditOptions {
  /** Milliseconds between two writes of failed logins. */
  readonly flushInterval?: number
  /** Milliseconds between two purges. */
  readonly purgeInterval?: number
}

const FLUSH_INTERVAL_MS = 60_000
const PURGE_INTERVAL_MS = 10 * 60 * 1000
const DAY_MS = 24 * 60 * 60 * 1000

/** Returns the milliseconds of a setting such as `400d`. */
const toMilliseconds = (days: string) => Number.parseInt(days, 10) * DAY_MS

/**
 * Stores failed logins at intervals and at the close, and deletes rows that are older than the setting
 * `auditKeep`, also when it changes. A failure is logged; the next interval retries.
 */
export default fp<AuditOptions>(
  async (fastify, { flushInterval = FLUSH_INTERVAL_MS, purgeInterval = PURGE_INTERVAL_MS }) => {
    const { database: db, clock, settings, failedLogins, log } = fastify
    const purge = createAuditPurge({ db, clock, keep: () => toMilliseconds(settings.get('auditKeep')) })
    const flush = () =>
      failedLogins
        .flush()
        .catch((error) => log.error({ err: error }, 'Failed logins could not be stored in the audit.'))
    const runPurge = () =>
      purge().catch((error) => log.error({ err: error }, 'Old rows of the audit could not be deleted.'))
    settings.onChange('auditKeep', runPurge)
    const timers = [setInterval(flush, flushInterval).unref(), setInterval(runPurge, purgeInterval).unref()]

    fastify.addHook('onClose', async () => {
      for (const timer of timers) clearInterval(timer)
      await flush()
    })
  },
  { name: 'audit', dependencies: ['services'] }
)
