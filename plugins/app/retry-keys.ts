import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest, preHandlerHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { RETRY_KEY_PATTERN } from '../../schemas/retry.ts'
import type { Caller, RetryKey } from '../../services/model/caller.ts'
import { invalid } from '../../services/model/errors.ts'
import { PUBLIC_KEY_NAME } from '../../services/tokens/keys.ts'
import { BODY_DIGEST } from '../http/body-parser.ts'
import { CALLER } from '../http/caller.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A request with an Idempotency-Key that is repeated has no second effect. */
    takesRetryKey?: boolean
  }
}

const HEADER = 'idempotency-key'

const KEY = new RegExp(RETRY_KEY_PATTERN)

const isHeader = (name: string) => name.length === HEADER.length && name.toLowerCase() === HEADER

const refuse = (code: string, rule: string) =>
  invalid([{ path: `/${HEADER}`, code, message: `'${HEADER}' must ${rule}.` }])

/** Returns the key. Node joins the values of several lines. @throws VALIDATION_FAILED */
const checkKey = (key: string, { rawHeaders }: IncomingMessage) => {
  const lines = rawHeaders.filter((name, index) => index % 2 === 0 && isHeader(name))
  if (lines.length > 1) throw refuse('duplicate', 'be sent once')
  if (!KEY.test(key)) throw refuse('format', 'have 1 to 255 printable ASCII characters')
  return key
}

/** Includes the conditions of the request, and the claims and grants of a role: a stored result shows what these open. */
const digestOf = ({ method, url, headers, server, caller: { role }, [BODY_DIGEST]: body }: FastifyRequest) => {
  const parts = [method, url, body, headers['if-match'], headers['if-none-match']]
  const rights = role ? server.roles.rightsOf(role) : []
  return hash('sha256', JSON.stringify([...parts, ...rights]))
}

const retryKeyOf = (request: FastifyRequest, reply: FastifyReply, key: string): RetryKey => ({
  key,
  digest: digestOf(request),
  onReplay: () => {
    reply.header('idempotency-replayed', 'true')
  }
})

/** All clients without a credential are one caller: its keys would be those of other clients, too. */
const refusePublic = ({ kind, id, name }: Caller) => {
  if (kind === 'token' && id === 0 && name === PUBLIC_KEY_NAME) throw refuse('public', 'be sent with a credential')
}

/** Adds the key to the caller, behind the checks of its credential. */
const readRetryKey: preHandlerHookHandler = (request, reply, done) => {
  const key = request.headers[HEADER]
  if (key === undefined) return done()
  refusePublic(request.caller)
  const checked = checkKey(String(key), request.raw)
  request[CALLER] = { ...request.caller, retryKey: retryKeyOf(request, reply, checked) }
  done()
}

/** Reads the Idempotency-Key of the routes that take one. Must be registered before them. */
export default fp(
  async (fastify) => {
    fastify.addHook('onRoute', (route) => {
      if (route.config?.takesRetryKey) route.preHandler = [route.preHandler ?? [], readRetryKey].flat()
    })
  },
  { name: 'retry-keys', dependencies: ['request-caller', 'services', 'validation'] }
)
