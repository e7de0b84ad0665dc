import '@fastify/swagger'
import { METHODS as NODE_METHODS } from 'node:http'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../services/errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Answers every other method of the known paths with 405 and `Allow`. Registered after all routes. */
    refuseOtherMethods: FastifyPluginAsync
  }
}

/** All that Node reads but CONNECT, which never becomes a request. */
const METHODS = NODE_METHODS.filter((method) => method !== 'CONNECT').sort()

const refuseWith = (allow: string) => async (request: FastifyRequest, reply: FastifyReply) => {
  reply.header('allow', allow)
  throw new DomainError('METHOD_NOT_ALLOWED', `${request.method} is not possible here. Allowed: ${allow}.`)
}

/** Fastify answers a known path with an unknown method as 404; HTTP has 405 for it (RFC 9110, 15.5.6). */
export default fp(
  async (fastify) => {
    for (const method of METHODS) if (!fastify.supportedMethods.includes(method)) fastify.addHttpMethod(method)

    const paths = new Set<string>()
    fastify.addHook('onRoute', ({ url }: RouteOptions) => {
      paths.add(url)
    })

    fastify.decorate('refuseOtherMethods', async (instance) => {
      for (const url of [...paths]) {
        // Asked of the router: Fastify adds some routes without telling (HEAD, the trailing slash of a prefix).
        const allowed = METHODS.filter((method) => instance.hasRoute({ url, method }))
        const refuse = refuseWith(allowed.join(', '))
        const method = METHODS.filter((one) => !allowed.includes(one))
        // In onRequest, so that no body is read first.
        instance.route({ url, method, schema: { hide: true }, onRequest: refuse, handler: refuse })
      }
    })
  },
  { name: 'allowed-methods' }
)
