import type {
  FastifyInstance,
  FastifyRequest,
  onRequestHookHandler,
  preHandlerHookHandler,
  RouteOptions
} from 'fastify'
import fp from 'fastify-plugin'
import type { Caller } from '../../services/model/caller.ts'
import { disconnected } from '../../services/model/errors.ts'
import type { RegisteredTable } from '../../services/model/table.ts'
import { assertSameRecords, openToTokens } from '../../services/tables/token-access.ts'
import { authorize } from '../../services/tokens/authorize.ts'
import type { NeededAction } from '../../services/tokens/permissions.ts'
import type { LiveToken } from '../../services/tokens/tokens.ts'
import { CALLER } from '../http/caller.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The action that a token needs on the table of the path, or of `body.name`. `none`: every valid token is accepted. */
    action?: NeededAction | 'none'
  }
  interface FastifyInstance {
    /** An onRequest hook: requires a valid bearer token, else 401. */
    authenticateToken: onRequestHookHandler
    /** An onRoute hook: adds the checks of the action that the route declares. @throws if it declares none */
    requireAction: (route: RouteOptions) => void
  }
  interface FastifyRequest {
    /** The bearer token. @throws on routes without `authenticateToken` */
    readonly token: LiveToken
    /** The table of the path. @throws on routes without an action, or without a table */
    readonly table: RegisteredTable
    [TOKEN]: LiveToken | null
    [TABLE]: RegisteredTable | null
    /** The action whose right was checked; null on routes without an action. */
    [ACTION]: NeededAction | null
  }
}

const TOKEN: unique symbol = Symbol('token')
const TABLE: unique symbol = Symbol('table')
const ACTION: unique symbol = Symbol('action')

const FLUSH_INTERVAL_MS = 60_000

export interface TokenAuthOptions {
  /** Milliseconds between two writes of last_used_at. */
  readonly flushInterval?: number
}

/** The boundary function that gives the validated path its type. */
const pathTable = (request: FastifyRequest) => (request.params as { readonly table?: string }).table

/** Gives the validated body of a new table its type. No other body names the table of its request. */
const bodyTable = (request: FastifyRequest) => (request.body as { readonly name: string }).name

const requireHook = <T>(value: T | null, hook: string): T => {
  if (value === null) throw new Error(`The route needs the hook '${hook}'.`)
  return value
}

/** The boundary function for the query, which is not validated yet when the right is checked the first time. */
const returnsRecord = (request: FastifyRequest) => (request.query as { readonly return?: unknown }).return === 'record'

/** Whether the request is an upsert: of one record, or of those of a file. */
const isUpsert = (request: FastifyRequest) => {
  const { upsert, mode } = request.query as { readonly upsert?: unknown; readonly mode?: unknown }
  return upsert !== undefined || mode === 'upsert'
}

/**
 * An update or a delete with `return=record` also reads the record, so it also needs the action `read`. An upsert may update
 * a record, so it also needs `update`.
 */
const authorizeAll = (request: FastifyRequest, token: LiveToken, action: NeededAction, table: string | undefined) => {
  authorize(token, action, table)
  if ((action === 'update' || action === 'delete') && returnsRecord(request)) authorize(token, 'read', table)
  if (action === 'create' && isUpsert(request)) authorize(token, 'update', table)
}

const isSafe = ({ method }: RouteOptions) => ['GET', 'HEAD'].includes(String(method))

/** Saves the uses of tokens at intervals and at the close. A failure is logged; the next flush saves them. */
const saveUses = (fastify: FastifyInstance, flushInterval: number) => {
  const { tokens, log } = fastify
  const flush = () =>
    tokens.flush().catch((error) => log.error({ err: error }, 'The last uses of tokens could not be saved.'))
  const timer = setInterval(flush, flushInterval).unref()

  fastify.addHook('onClose', async () => {
    clearInterval(timer)
    await flush()
  })
}

export default fp<TokenAuthOptions>(
  async (fastify, { flushInterval = FLUSH_INTERVAL_MS }) => {
    const { tokens, tables } = fastify

    fastify.decorateRequest(TOKEN, null)
    fastify.decorateRequest(TABLE, null)
    fastify.decorateRequest(ACTION, null)
    fastify.decorateRequest('token', {
      getter() {
        return requireHook(this[TOKEN], 'authenticateToken')
      }
    })
    fastify.decorateRequest('table', {
      getter() {
        return requireHook(this[TABLE], 'requireAction')
      }
    })

    fastify.decorate('authenticateToken', (request, _reply, done) => {
      request[TOKEN] = tokens.authenticate(request.headers.authorization)
      request[CALLER] = callerOf(request)
      done()
    })

    /** Checks the right to the action with the latest state of the token, and returns the latest state of the table. */
    const currentTable = (request: FastifyRequest, action: NeededAction): RegisteredTable | null => {
      const token = tokens.current(request.token)
      const name = pathTable(request)
      authorizeAll(request, token, action, name ?? bodyTable(request))
      request[TOKEN] = token
      return name === undefined ? null : openToTokens(tables.find(name), name, action !== 'read')
    }

    const callerOf = (request: FastifyRequest): Caller => ({
      kind: 'token',
      id: request.token.id,
      name: request.token.name,
      requestId: request.id,
      integers: request.token.integers,
      address: request.ip,
      confirm: async () => {
        if (request.socket.destroyed) throw disconnected()
        confirmRight(request)
      },
      confirmRight: async () => confirmRight(request),
      mayRead: (table) => tokens.current(request.token).scope.allows('read', table)
    })

    const confirmRight = (request: FastifyRequest) => {
      const action = request[ACTION]
      if (action === null) tokens.current(request.token)
      else confirmTable(request, action)
    }

    const confirmTable = (request: FastifyRequest, action: NeededAction) => {
      const before = request[TABLE]
      const now = currentTable(request, action)
      // Schema operations read the table again. Other operations hold an access to it, without its hidden fields.
      if (!before || !now || action === 'schema') return
      assertSameRecords(before, now)
    }

    /** Runs before the body is read, so that no body is read for a token without the right. */
    const authorizeEarly =
      (action: NeededAction): onRequestHookHandler =>
      (request, _reply, done) => {
        authorizeAll(request, request.token, action, pathTable(request))
        done()
      }

    /** Runs after the body was read: the token may have been revoked while a slow body arrived. */
    const authorizeRequest =
      (action: NeededAction): preHandlerHookHandler =>
      (request, _reply, done) => {
        request[TABLE] = currentTable(request, action)
        request[ACTION] = action
        done()
      }

    fastify.decorate('requireAction', (route) => {
      const action = route.config?.action
      if (action === undefined) throw new Error(`${route.method} ${route.url} must declare config.action.`)
      if (action === 'none') return
      route.preHandler = [authorizeRequest(action), route.preHandler ?? []].flat()
      if (!isSafe(route)) route.onRequest = [authorizeEarly(action), route.onRequest ?? []].flat()
    })

    saveUses(fastify, flushInterval)
  },
  { name: 'token-auth', dependencies: ['services', 'request-caller'] }
)
