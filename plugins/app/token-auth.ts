import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  onRequestHookHandler,
  preHandlerHookHandler
} from 'fastify'
import fp from 'fastify-plugin'
import { DomainError, excerpt } from '../../services/model/errors.ts'
import type { RegisteredTable } from '../../services/model/table.ts'
import { openToTokens } from '../../services/tables/token-access.ts'
import type { NeededAction } from '../../services/tokens/permissions.ts'
import type { LiveToken } from '../../services/tokens/tokens.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** An onRequest hook: a valid bearer token, or 401. */
    authenticateToken: onRequestHookHandler
    /** Makes a preHandler: the token may do this to the table of the path (or, without one, of `body.name`). */
    allow: (action: NeededAction) => preHandlerHookHandler
  }
  interface FastifyRequest {
    /** The bearer token. @throws on routes without `authenticateToken`. */
    readonly token: LiveToken
    /** The table of the path. @throws on routes without `allow`. */
    readonly table: RegisteredTable
    [TOKEN]: LiveToken | null
    [TABLE]: RegisteredTable | null
  }
}

const TOKEN: unique symbol = Symbol('token')
const TABLE: unique symbol = Symbol('table')

const FLUSH_INTERVAL_MS = 60_000

export interface TokenAuthOptions {
  /** Milliseconds between two writes of last_used_at. */
  readonly flushInterval?: number
}

/** What the token lacks: the action, or this table among those that it has the action on. */
const actionNotAllowed = ({ scope }: LiveToken, action: NeededAction, table: string | undefined) => {
  const needed = action === 'read' ? "'read'" : `'${action}' (or 'write')`
  const object = table === undefined ? 'the table that it is to make' : `the table '${excerpt(table)}'`
  const message = scope.grants(action)
    ? `The token does not name ${object} among its tables.`
    : `The token needs the action ${needed} on ${object}.`
  return new DomainError('ACTION_NOT_ALLOWED', message, {
    hint: 'An administrator can change the permissions: PUT /admin/tokens/:id.'
  })
}

/** `table`: undefined where it is not known yet. @throws ACTION_NOT_ALLOWED */
const assertAllowed = (token: LiveToken, action: NeededAction, table: string | undefined) => {
  const { scope } = token
  const isAllowed = table === undefined ? scope.grants(action) : scope.allows(action, table)
  if (!isAllowed) throw actionNotAllowed(token, action, table)
}

/** The boundary where the validated path gets its type. */
const pathTable = (request: FastifyRequest) => (request.params as { readonly table?: string }).table

/** The same for the one body that names a table, that of a table to create. */
const bodyTable = (request: FastifyRequest) => (request.body as { readonly name: string }).name

const established = <T>(value: T | null, hook: string): T => {
  if (value === null) throw new Error(`The route lacks the hook '${hook}'.`)
  return value
}

/** RFC 6750, 3: a 401 says which kind of credential is wanted. */
const orChallenge = (reply: FastifyReply, check: () => LiveToken) => {
  try {
    return check()
  } catch (error) {
    reply.header('www-authenticate', 'Bearer')
    throw error
  }
}

/** The disk follows the uses in memory. A failure is logged, and ends no process. */
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
    fastify.decorateRequest('token', {
      getter() {
        return established(this[TOKEN], 'authenticateToken')
      }
    })
    fastify.decorateRequest('table', {
      getter() {
        return established(this[TABLE], 'allow')
      }
    })

    fastify.decorate('authenticateToken', (request, reply, done) => {
      request[TOKEN] = orChallenge(reply, () => tokens.authenticate(request.headers.authorization))
      done()
    })

    const needs = new Map<unknown, NeededAction>()

    // Before a body is read, which may cost more than to refuse it.
    fastify.addHook('onRoute', (route) => {
      const action = needs.get(route.preHandler)
      if (action === undefined || action === 'read') return
      const guard = (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) => {
        assertAllowed(request.token, action, pathTable(request))
        done()
      }
      route.onRequest = [route.onRequest, guard].flat().filter((hook) => hook !== undefined)
    })

    // Token and table are looked up when the body has arrived: a slow body must not outlive a revocation.
    fastify.decorate('allow', (action) => {
      const isWrite = action !== 'read'
      const guard: preHandlerHookHandler = (request, reply, done) => {
        const token = orChallenge(reply, () => tokens.current(request.token))
        const existing = pathTable(request)
        assertAllowed(token, action, existing ?? bodyTable(request))
        request[TOKEN] = token
        if (existing !== undefined) request[TABLE] = openToTokens(tables.find(existing), existing, isWrite)
        done()
      }
      needs.set(guard, action)
      return guard
    })

    saveUses(fastify, flushInterval)
  },
  { name: 'token-auth', dependencies: ['services'] }
)
