import { METHODS } from 'node:http'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction, HTTPMethods, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import findMyWay from 'find-my-way'
import { DomainError } from '../../services/model/errors.ts'
import { routeNotFound } from './errors.ts'

/** The path of a wildcard that answers for every unknown path: @fastify/cors has one for OPTIONS. */
const ANY_PATH = '*'

/** Fastify makes `routeOptions` anew each time that it is asked for them. */
const isFound = (request: FastifyRequest) =>
  !request.is404 && (request.method !== 'OPTIONS' || request.routeOptions.url !== ANY_PATH)

/**
 * Fastify answers a known path with another method as 404; HTTP has 405 for it, with the methods that there are
 * (RFC 9110, 15.5.6). Both are said before a body is read: Fastify would parse it first. Registered before all routes,
 * whose paths it notes; asked only where no route was found.
 */
export default fp(
  async (fastify) => {
    const paths = findMyWay({ maxParamLength: Number.MAX_SAFE_INTEGER })
    fastify.addHook('onRoute', ({ url }: RouteOptions) => {
      if (url !== ANY_PATH && !paths.hasRoute('GET', url)) paths.on('GET', url, () => {}, url)
    })

    /** Asked of the router: Fastify adds some routes without telling, HEAD among them. */
    const allowedAt = (url: string) =>
      METHODS.filter((method) => fastify.hasRoute({ url, method: method as HTTPMethods })).sort()

    const refuseUnknown = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => {
      if (isFound(request)) return done()
      const known = paths.find('GET', request.url)
      if (!known) throw routeNotFound(request)
      const allow = allowedAt(known.store).join(', ')
      reply.header('allow', allow)
      throw new DomainError('METHOD_NOT_ALLOWED', `${request.method} is not possible here. Allowed: ${allow}.`)
    }
    fastify.addHook('onRequest', refuseUnknown)
  },
  { name: 'allowed-methods', dependencies: ['errors'] }
)
