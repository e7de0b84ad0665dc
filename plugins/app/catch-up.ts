import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Credential } from '../../schemas/operation-errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** When memory was compared with the cluster for this request, by `performance.now()`. */
    caughtUpAt: number
  }
}

/** The credentials of the routes that use what the service has in memory: see `changesMemory`. */
const NEED_MEMORY: ReadonlySet<Credential | undefined> = new Set(['token', 'session', 'administrator'])

/** After this time, tables and tokens are compared again: a token may have been revoked while the body arrived. */
const SLOW_BODY_MS = 250

/**
 * Several services may serve one cluster. Before each request that needs a credential, this service reloads what it has in
 * memory if another one has changed it. For a file there is nothing to do.
 */
export default fp(
  async (fastify) => {
    const { catchUp } = fastify.database
    if (!catchUp) return
    fastify.decorateRequest('caughtUpAt', 0)
    const catchUpFor = async (request: FastifyRequest) => {
      if (!NEED_MEMORY.has(request.routeOptions.config.credential)) return
      await catchUp()
      request.caughtUpAt = performance.now()
    }
    fastify.addHook('onRequest', catchUpFor)
    fastify.addHook('preValidation', async (request) => {
      if (performance.now() - request.caughtUpAt > SLOW_BODY_MS) await catchUpFor(request)
    })
  },
  { name: 'catch-up', dependencies: ['services'] }
)
