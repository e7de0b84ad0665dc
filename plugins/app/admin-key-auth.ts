import type { FastifyRequest, onRequestHookHandler, preHandlerHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import type { AdminScope } from '../../schemas/admin-key.ts'
import type { Caller } from '../../services/model/caller.ts'
import { disconnected } from '../../services/model/errors.ts'
import { assertScopes, type LiveAdminKey } from '../../services/tokens/admin-keys.ts'
import { CALLER } from '../http/caller.ts'
import { clientSignalOf } from '../http/client-signal.ts'
import { type SaveUsesOptions, saveUses } from './save-uses.ts'

type RequestHook = (request: FastifyRequest) => Promise<void>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope that an admin key needs. Absent: no admin key can use the route. */
    scope?: AdminScope
    /** Returns the scopes that an admin key needs besides `scope`. Called before the query is validated. */
    furtherScopes?: (request: FastifyRequest) => readonly AdminScope[]
  }
  interface FastifyInstance {
    /**
     * An onRequest hook: accepts an admin key, if the request has one and no session cookie. It runs before the body is
     * read, so that no body is read for a key without the right.
     */
    authenticateKey: onRequestHookHandler
    /** A preHandler hook: checks the key again, because it may have ended while a slow body arrived. */
    confirmKey: preHandlerHookHandler
    /** Returns a hook that runs only for requests without an admin key. */
    unlessKey: (hook: RequestHook) => RequestHook
  }
  interface FastifyRequest {
    [ADMIN_KEY]: LiveAdminKey | null
  }
}

const ADMIN_KEY: unique symbol = Symbol('admin key')

/** Returns the scopes that a request needs; undefined if no key can make it. */
const scopesOf = (request: FastifyRequest): readonly AdminScope[] | undefined => {
  const { scope, furtherActions, furtherScopes } = request.routeOptions.config
  if (scope === undefined) return undefined
  const further = furtherScopes?.(request) ?? []
  return furtherActions?.(request).includes('read') ? [scope, ...further, 'records:read'] : [scope, ...further]
}

/** Must be registered after the sessions, whose hooks it replaces for requests with an admin key. */
export default fp<SaveUsesOptions>(
  async (fastify, options) => {
    const { adminKeys } = fastify
    fastify.decorateRequest(ADMIN_KEY, null)

    const callerOf = (request: FastifyRequest, key: LiveAdminKey): Caller => {
      const confirmRight = async () => assertScopes(adminKeys.current(key), scopesOf(request))
      return {
        kind: 'key',
        id: key.id,
        name: key.name,
        requestId: request.id,
        integers: 'auto',
        address: request.ip,
        clientSignal: clientSignalOf(request),
        confirm: async () => {
          if (request.socket.destroyed) throw disconnected()
          await confirmRight()
        },
        confirmRight,
        mayRead: () => adminKeys.current(key).scopes.includes('records:read')
      }
    }

    fastify.decorate('authenticateKey', (request, _reply, done) => {
      const secret = request.adminKey
      if (secret === undefined || request.hasSessionCookie) return done()
      const key = adminKeys.authenticate(secret)
      assertScopes(key, scopesOf(request))
      request[ADMIN_KEY] = key
      request[CALLER] = callerOf(request, key)
      done()
    })

    fastify.decorate('confirmKey', (request, _reply, done) => {
      const key = request[ADMIN_KEY]
      if (key) assertScopes(adminKeys.current(key), scopesOf(request))
      done()
    })

    fastify.decorate('unlessKey', (hook) => async (request) => {
      if (!request[ADMIN_KEY]) await hook(request)
    })

    saveUses(fastify, { flush: adminKeys.flush, failure: 'The last uses of admin keys could not be saved.' }, options)
  },
  { name: 'admin-key-auth', dependencies: ['services', 'session'] }
)
