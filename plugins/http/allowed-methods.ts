import { METHODS } from 'node:http'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction, HTTPMethods, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import findMyWay from 'find-my-way'
import { otherMethods } from '../../schemas/other-names.ts'
import { DomainError } from '../../services/model/errors.ts'
import { hintOfPath, routeNotFound } from './errors.ts'

/** Returns a router of paths, for all methods. */
const createPaths = (urls: ReadonlySet<string>) => {
  const paths = findMyWay({ maxParamLength: Number.MAX_SAFE_INTEGER })
  for (const url of urls) if (!paths.hasRoute('GET', url)) paths.on('GET', url, () => {}, url)
  return paths
}

/**
 * Responds with 405 and `Allow` when a path exists, but not for this method (RFC 9110, 15.5.6). Fastify's own response
 * is 404. Both 404 and 405 are sent in onRequest, before Fastify would parse the body.
 * Must be registered before all routes, because it collects their paths.
 */
export default fp(
  async (fastify) => {
    const urls = new Set<string>()
    fastify.addHook('onRoute', ({ url }: RouteOptions) => {
      urls.add(url)
    })
    /** Only a request that no route takes needs them. */
    let paths: ReturnType<typeof createPaths> | undefined

    /** Queries the router: Fastify adds some routes, such as HEAD, without an onRoute event. */
    const allowedMethods = (url: string) =>
      METHODS.filter((method) => fastify.hasRoute({ url, method: method as HTTPMethods })).sort()

    const refuseUnknownRoute = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => {
      if (!request.is404) return done()
      paths ??= createPaths(urls)
      const path = paths.find('GET', request.url)
      if (!path) throw routeNotFound(request)
      const allow = allowedMethods(path.store).join(', ')
      reply.header('allow', allow)
      throw new DomainError('METHOD_NOT_ALLOWED', `${request.method} is not allowed here. Allowed: ${allow}.`, {
        hint: hintOfPath(request, otherMethods)
      })
    }
    fastify.addHook('onRequest', refuseUnknownRoute)
  },
  { name: 'allowed-methods', dependencies: ['errors'] }
)
