import type { RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { ErrorCode } from '../../schemas/error.ts'
import { type Credential, errorsOf } from '../../schemas/operation-errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The credential that the route requires. */
    credential?: Credential
    /** The error codes of the route, besides those that follow from its method, schema and credential: see `errorsOf`. */
    errors?: readonly ErrorCode[]
  }
}

type DeclaringRoute = Pick<RouteOptions, 'method' | 'url' | 'config' | 'schema'>

/** Returns the error codes of a route, sorted. @throws if the route does not declare its credential and errors */
export const declaredErrors = ({ method, url, config, schema }: DeclaringRoute) => {
  const { credential, errors } = config ?? {}
  if (!credential || !errors) throw new Error(`${method} ${url} must declare config.credential and config.errors.`)
  return errorsOf({
    method: String(method),
    credential,
    takesBody: schema?.body !== undefined,
    hasParameters: url.includes(':'),
    errors
  })
}

/** Stops the start if an operation does not declare its credential and errors. Must be registered before all routes. */
export default fp(
  async (fastify) => {
    fastify.addHook('onRoute', (route) => {
      if (route.schema?.operationId !== undefined) declaredErrors(route)
    })
  },
  { name: 'declarations' }
)
