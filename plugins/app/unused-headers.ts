import type { preHandlerHookHandler, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { invalid } from '../../services/model/errors.ts'

/** Headers that protect a change, with what to do where they have no effect. */
const HINTS = {
  'idempotency-key':
    'It is for creates, updates, upserts, deletes, increments, batches, and imports with `atomic=true`.',
  'if-match':
    'It is for an update, a delete or an increment of one record. In a batch, send `ifMatch` in the operation.',
  'if-none-match': "It is for a read, and as 'If-None-Match: *' for an upsert of one record."
} as const

type Header = keyof typeof HINTS

const NAMES: Record<Header, string> = {
  'idempotency-key': 'Idempotency-Key',
  'if-match': 'If-Match',
  'if-none-match': 'If-None-Match'
}

const headers = Object.keys(HINTS) as Header[]

const takes = ({ schema, config }: RouteOptions, header: Header) => {
  if (header === 'idempotency-key') return config?.takesRetryKey === true
  const { properties = {} } = (schema?.headers ?? {}) as { properties?: object }
  return Object.hasOwn(properties, NAMES[header])
}

/** Without an error, the client would expect a protection that it does not have. */
const refuse =
  (unused: readonly Header[]): preHandlerHookHandler =>
  (request, _reply, done) => {
    const sent = unused.find((header) => request.headers[header] !== undefined)
    if (sent === undefined) return done()
    const message = `This route takes no '${NAMES[sent]}'.`
    return done(invalid([{ path: `/${sent}`, code: 'unknown', message }], HINTS[sent]))
  }

/** Refuses the headers of `HINTS` on each route that can change something and does not declare them. */
export default fp(
  async (fastify) => {
    fastify.addHook('onRoute', (route) => {
      if (route.schema?.operationId === undefined || route.method === 'GET' || route.method === 'HEAD') return
      const unused = headers.filter((header) => !takes(route, header))
      if (unused.length > 0) route.preHandler = [refuse(unused), route.preHandler ?? []].flat()
    })
  },
  { name: 'unused-headers' }
)
