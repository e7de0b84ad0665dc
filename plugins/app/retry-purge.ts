import fp from 'fastify-plugin'
import { createRetryPurge } from '../../services/records/change/retries.ts'

interface RetryPurgeOptions {
  /** Milliseconds between two purges. */
  readonly interval?: number
}

const INTERVAL_MS = 10 * 60 * 1000

/** Deletes expired Idempotency-Keys at intervals: their results contain records. A failure is logged; the next purge retries. */
export default fp<RetryPurgeOptions>(
  async (fastify, { interval = INTERVAL_MS }) => {
    const { database: db, clock, log } = fastify
    const purge = createRetryPurge({ db, clock })
    const run = () => purge().catch((error) => log.error({ err: error }, 'Expired retry keys could not be deleted.'))
    const timer = setInterval(run, interval).unref()
    fastify.addHook('onClose', async () => clearInterval(timer))
  },
  { name: 'retry-purge' }
)
