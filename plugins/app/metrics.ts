import fp from 'fastify-plugin'
import { addBackupMetrics } from '../../services/metrics/backup-metrics.ts'
import { addEngineMetrics } from '../../services/metrics/engine-metrics.ts'
import { createMetrics, type Metrics } from '../../services/metrics/metrics.ts'
import { createRequestMetrics } from '../../services/metrics/request-metrics.ts'
import { ERROR_CODE } from '../http/errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** null: metrics are switched off. */
    metrics: Metrics | null
  }
}

/** Must be registered before all routes whose requests it counts. Without a setting for metrics, no hook runs. */
export default fp(
  async (fastify) => {
    const { METRICS_PORT, METRICS_TOKEN } = fastify.config
    const isOn = METRICS_TOKEN !== undefined || METRICS_PORT !== undefined
    const metrics = isOn ? await createMetrics() : null
    fastify.decorate('metrics', metrics)
    if (metrics === null) return
    addEngineMetrics(metrics, fastify.database)
    if (!fastify.database.replication) addBackupMetrics(metrics, fastify.backups)
    const record = createRequestMetrics(metrics)
    metrics.add({
      type: 'counter',
      name: 'rowhouse_http_requests_aborted_total',
      help: 'Requests that were ended because their clients had disconnected.',
      read: () => fastify.errorCounts.aborted
    })
    fastify.addHook('onResponse', (request, reply, done) => {
      record({
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        seconds: reply.elapsedTime / 1000,
        code: request[ERROR_CODE]
      })
      done()
    })
  },
  { name: 'metrics', dependencies: ['errors', 'database', 'backups'] }
)
