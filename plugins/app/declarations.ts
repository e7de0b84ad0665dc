import type { RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { ErrorCode } from '../../schemas/error.ts'
import { type Credential, errorsOf } from '../../schemas/operation-errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The credential that the route takes. */
    credential?: Credential
    /** The errors of the route, besides those that its method, parameters and credential imply. */
    errors?: readonly ErrorCode[]
  }
}

/** Returns the error codes of a route. @throws if the route does not declare its credential and errors */
export const declaredErrors = ({ method, url, config }: Pick<RouteOptions, 'method' | 'url' | 'config'>) => {
  const { credential, errors } = config ?? {}
  if (!credential || !errors) throw new Error(`${method} ${url} must declare config.credential and config.errors.`)
  return errorsOf({ method: String(method), credential, hasParameters: url.includes(':'), errors })
}

/** Stops the start if an operation of the API declares no credential or no errors. Register it before all routes. */
export default fp(
  async (fastify) => {
    fastify.addHook('onRoute', (route) => {
      if (route.schema?.operationId !== undefined) declaredErrors(route)
    })
  },
  { name: 'declarations' }
)
