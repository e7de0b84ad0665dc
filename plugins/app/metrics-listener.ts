import Fastify, { type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import errors, { onFrameworkError } from '../http/errors.ts'
import { createLogController } from '../http/logging.ts'
import { createRequestIds } from '../http/request-id.ts'
import { addMetricsRoute } from './metrics-route.ts'

interface MetricsListener {
  /** Has no route but `/metrics`. It does not listen yet. */
  readonly server: FastifyInstance
  readonly port: number
}

declare module 'fastify' {
  interface FastifyInstance {
    /** null: METRICS_PORT is not set. */
    metricsListener: MetricsListener | null
  }
}

const build = async ({ config, log, metrics }: FastifyInstance): Promise<FastifyInstance> => {
  const listener: FastifyInstance = Fastify({
    loggerInstance: log,
    genReqId: createRequestIds(config.TRUST_PROXY),
    logController: createLogController(false),
    frameworkErrors: onFrameworkError
  })
  await listener.register(errors)
  addMetricsRoute(listener, { metrics, token: config.METRICS_TOKEN })
  return listener
}

export default fp(
  async (fastify) => {
    const { METRICS_PORT: port } = fastify.config
    const listener = port === undefined ? null : { server: await build(fastify), port }
    fastify.decorate('metricsListener', listener)
    if (!listener) return
    // Its log is a child, which keeps its own level.
    fastify.settings.onChange('logLevel', () => {
      listener.server.log.level = fastify.log.level
    })
    fastify.addHook('onClose', () => listener.server.close())
  },
  { name: 'metrics-listener', dependencies: ['metrics'] }
)
