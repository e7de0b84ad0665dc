import { isDeepStrictEqual } from 'node:util'
import type { FastifyReply, FastifyRequest, onRequestHookHandler, preHandlerHookHandler, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { TableAction } from '../../services/model/actions.ts'
import type { Caller, KeyRole } from '../../services/model/caller.ts'
import { DomainError, disconnected } from '../../services/model/errors.ts'
import type { RegisteredTable } from '../../services/model/table.ts'
import { assertSameRecords, openToTokens, reachableTables } from '../../services/tables/token-access.ts'
import { authorize, refuseView } from '../../services/tokens/authorize.ts'
import { isToken, type LiveKey } from '../../services/tokens/keys.ts'
import { type Quota, tooManyRequests } from '../../services/tokens/request-windows.ts'
import { CALLER } from '../http/caller.ts'
import { clientSignalOf } from '../http/client-signal.ts'
import { type SaveUsesOptions, saveUses } from './save-uses.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The action that a token needs on the table of the path, or of `body.name`. `none`: every valid token is accepted. */
    action?: TableAction | 'none'
    /** Returns the actions that the request needs besides `action`. Also called before the query is validated. */
    furtherActions?: FurtherActions
  }
  interface FastifyInstance {
    /** An onRequest hook: requires a valid bearer, or with PUBLIC_ROLE none, else 401. */
    authenticateToken: onRequestHookHandler
    /** Counts the operations of a batch as requests, after the first one, which is the request. @throws TOO_MANY_REQUESTS */
    countOperations: (reply: FastifyReply, operations: number) => void
    /** An onRoute hook: adds the checks of the action that the route declares. @throws if it declares none */
    requireAction: (route: RouteOptions) => void
  }
  interface FastifyRequest {
    /** The key of the request. @throws on routes without `authenticateToken` */
    readonly key: LiveKey
    /** The table of the path. @throws on routes without an action, or without a table */
    readonly table: RegisteredTable
    [KEY]: LiveKey | null
    [TABLE]: RegisteredTable | null
    /** All actions that the request needs on its table. @throws on routes without an action */
    readonly actions: readonly TableAction[]
    /** The actions whose rights were checked; null before the check, and on routes without an action. */
    [ACTIONS]: RouteActions | null
  }
}

const KEY: unique symbol = Symbol('key')
const TABLE: unique symbol = Symbol('table')
const ACTIONS: unique symbol = Symbol('actions')

type FurtherActions = (request: FastifyRequest) => readonly TableAction[]

/** The actions that a route declares. */
interface RouteActions {
  readonly action: TableAction
  readonly furtherActions: FurtherActions
}

/** The boundary function that gives the validated path its type. */
const pathTable = (request: FastifyRequest) => (request.params as { readonly table?: string }).table

/** Gives the validated body of a new table its type. No other body names the table of its request. */
const bodyTable = (request: FastifyRequest) => (request.body as { readonly name: string }).name

const requireHook = <T>(value: T | null, hook: string): T => {
  if (value === null) throw new Error(`The route needs the hook '${hook}'.`)
  return value
}

const noActions: FurtherActions = () => []

/** The name of the table that a request needs, and its name in the request. undefined: not read yet. */
interface TableNames {
  readonly stored: string | undefined
  readonly requested: string | undefined
}

const UNKNOWN: TableNames = { stored: undefined, requested: undefined }

const namesInBody = (request: FastifyRequest): TableNames => {
  const name = bodyTable(request)
  return { stored: name, requested: name }
}

const neededBy = (request: FastifyRequest, { action, furtherActions }: RouteActions) => [
  action,
  ...furtherActions(request)
]

/** Checks the rights to all actions that the request needs. @throws ACTION_NOT_ALLOWED */
const authorizeAll = (
  request: FastifyRequest,
  key: LiveKey,
  actions: RouteActions,
  { stored, requested }: TableNames
) => {
  for (const needed of neededBy(request, actions)) authorize(key, needed, stored, requested)
}

const roleChanged = () =>
  new DomainError('ACTION_NOT_ALLOWED', 'The role of the token, or its claims, changed during the request.', {
    hint: 'Send the request again.'
  })

/** The headers of https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ */
const setQuota = (reply: FastifyReply, { limit, remaining, resetsIn }: Quota) => {
  reply.header('ratelimit-policy', `"default";q=${limit.requests};w=${limit.seconds}`)
  reply.header('ratelimit', `"default";r=${remaining};t=${resetsIn}`)
}

const isSafe = ({ method }: RouteOptions) => ['GET', 'HEAD'].includes(String(method))

export default fp<SaveUsesOptions>(
  async (fastify, options) => {
    const { tokens, dailyUses, keys, tables, roles } = fastify

    fastify.decorateRequest(KEY, null)
    fastify.decorateRequest(TABLE, null)
    fastify.decorateRequest(ACTIONS, null)
    fastify.decorateRequest('key', {
      getter() {
        return requireHook(this[KEY], 'authenticateToken')
      }
    })
    fastify.decorateRequest('table', {
      getter() {
        return requireHook(this[TABLE], 'requireAction')
      }
    })

    fastify.decorateRequest('actions', {
      getter() {
        return neededBy(this, requireHook(this[ACTIONS], 'requireAction'))
      }
    })

    const count = (reply: FastifyReply, requests: number, operations: number) => {
      const { key, ip: address = '' } = reply.request
      const quota = keys.count(key, address, requests)
      if (!quota) return
      setQuota(reply, quota)
      if (!quota.isAllowed) throw tooManyRequests(quota, operations)
    }
    fastify.decorate('countOperations', (reply, operations) => {
      if (operations > 1) count(reply, operations - 1, operations)
    })

    const accept = (reply: FastifyReply, key: LiveKey) => {
      const { request } = reply
      request[KEY] = key
      request[CALLER] = callerOf(request)
      if (isToken(key)) dailyUses.countRequest(key.id)
      count(reply, 1, 1)
    }

    fastify.addHook('onResponse', (request, { statusCode }, done) => {
      const key = request[KEY]
      if (key && isToken(key)) dailyUses.countStatus(key.id, statusCode)
      done()
    })

    fastify.decorate('authenticateToken', (request, reply, done) => {
      // A connection to the local socket has no address.
      const { ip: address = '', headers } = request
      const key = keys.authenticate({ header: headers.authorization, address })
      if (!(key instanceof Promise)) {
        accept(reply, key)
        return done()
      }
      key.then((verified) => accept(reply, verified)).then(() => done(), done)
    })

    /** The name in a path may be the client name of the table. */
    const namesInPath = (requested: string): TableNames => ({
      stored: tables.findByPath(requested)?.name ?? requested,
      requested
    })

    /** Checks the rights with the latest state of the key, and returns the latest state of the table. */
    const currentTable = (request: FastifyRequest, actions: RouteActions): RegisteredTable | null => {
      const key = keys.current(request.key)
      const name = pathTable(request)
      authorizeAll(request, key, actions, name === undefined ? namesInBody(request) : namesInPath(name))
      request[KEY] = key
      if (name === undefined) return null
      const reachable = () => reachableTables(tables.all(), key.scope)
      return openToTokens(tables.findByPath(name), name, { isWrite: actions.action !== 'read', reachable })
    }

    const rightsOf = (role: KeyRole | null) => role && roles.rightsOf(role)

    const callerOf = (request: FastifyRequest): Caller => {
      const { key } = request
      const { id, integers, role } = key
      // The audit and the log must not name the token for what an administrator reads with a view of it.
      const name = 'onlyReads' in key ? `view of ${key.name}` : key.name
      const rights = rightsOf(role)
      /** An access that was opened under other rights must not be used. */
      const confirmRight = async () => {
        if (!isDeepStrictEqual(rightsOf(keys.current(request.key).role), rights)) throw roleChanged()
        confirmActions(request)
      }
      return {
        kind: 'token',
        id,
        name,
        requestId: request.id,
        integers,
        address: request.ip,
        clientSignal: clientSignalOf(request),
        confirm: async () => {
          if (request.socket.destroyed) throw disconnected()
          await confirmRight()
        },
        confirmRight,
        ...(role && { role }),
        mayRead: (table) => keys.current(request.key).scope.allows('read', table)
      }
    }

    const confirmActions = (request: FastifyRequest) => {
      const actions = request[ACTIONS]
      if (actions === null) keys.current(request.key)
      else confirmTable(request, actions)
    }

    const confirmTable = (request: FastifyRequest, actions: RouteActions) => {
      const before = request[TABLE]
      const now = currentTable(request, actions)
      // Schema operations read the table again. Other operations hold an access to it, without its hidden fields.
      if (!before || !now || actions.action === 'schema') return
      assertSameRecords(before, now)
    }

    const refuseViews: onRequestHookHandler = ({ key }, _reply, done) => {
      refuseView(key)
      done()
    }

    /** Runs before the body is read, so that no body is read for a token without the right. */
    const authorizeEarly =
      (actions: RouteActions): onRequestHookHandler =>
      (request, _reply, done) => {
        const name = pathTable(request)
        authorizeAll(request, request.key, actions, name === undefined ? UNKNOWN : namesInPath(name))
        done()
      }

    /** Runs after the body was read: the token may have been revoked while a slow body arrived. */
    const authorizeRequest =
      (actions: RouteActions): preHandlerHookHandler =>
      (request, _reply, done) => {
        request[TABLE] = currentTable(request, actions)
        request[ACTIONS] = actions
        done()
      }

    fastify.decorate('requireAction', (route) => {
      const { action, furtherActions = noActions } = route.config ?? {}
      if (action === undefined) throw new Error(`${route.method} ${route.url} must declare config.action.`)
      // A route without an action checks rights in its handler. Refuse a view before, because it must not change anything.
      if (action === 'none' && !isSafe(route)) route.onRequest = [refuseViews, route.onRequest ?? []].flat()
      if (action === 'none') return
      const actions = { action, furtherActions }
      route.preHandler = [authorizeRequest(actions), route.preHandler ?? []].flat()
      if (!isSafe(route)) route.onRequest = [authorizeEarly(actions), route.onRequest ?? []].flat()
    })

    saveUses(fastify, { flush: tokens.flush, failure: 'The last uses of tokens could not be saved.' }, options)
    saveUses(fastify, { flush: dailyUses.flush, failure: 'The requests of tokens by day could not be saved.' }, options)
  },
  { name: 'token-auth', dependencies: ['services', 'request-caller'] }
)
