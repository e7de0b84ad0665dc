import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { MetricsSchema } from '../../schemas/metrics.ts'
import type { Metrics } from '../../services/metrics/metrics.ts'
import { createMetricsTokenCheck } from '../../services/metrics/metrics-token.ts'
import { routeNotFound } from '../http/errors.ts'

interface MetricsRouteOptions {
  /** null: the route responds as if it did not exist. */
  readonly metrics: Metrics | null
  /** undefined: the route needs no token. */
  readonly token: string | undefined
}

const requireToken = (token: string): onRequestHookHandler => {
  const check = createMetricsTokenCheck(token)
  return (request, _reply, done) => {
    check(request.headers.authorization)
    done()
  }
}

const schema = {
  operationId: 'readMetrics',
  tags: ['service'],
  summary: 'Read metrics for Prometheus',
  description:
    'Requests, writes, scans, caches, memory and files of the service. No label contains a table, a token or a key. Without the setting METRICS_TOKEN, the route responds 404.',
  response: { 200: MetricsSchema }
}

/** Adds `GET /metrics`. */
export const addMetricsRoute = (fastify: FastifyInstance, { metrics, token }: MetricsRouteOptions) => {
  fastify.get(
    '/metrics',
    {
      schema,
      onRequest: token === undefined ? [] : requireToken(token),
      config: { credential: 'metrics', errors: ['ROUTE_NOT_FOUND'], evenUnderPressure: true }
    },
    async (request, reply) => {
      if (metrics === null) throw routeNotFound(request)
      return reply.type(metrics.contentType).send(Buffer.from(await metrics.read()))
    }
  )
}

export default fp(
  async (fastify) => {
    const { METRICS_TOKEN: token } = fastify.config
    // With METRICS_PORT alone, the metrics are on that port only.
    addMetricsRoute(fastify, { metrics: token === undefined ? null : fastify.metrics, token })
  },
  { name: 'metrics-route', dependencies: ['metrics', 'openapi'] }
)
