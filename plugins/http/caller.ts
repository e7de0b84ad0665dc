import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Caller } from '../../services/model/caller.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller of this request: anonymous until a hook has accepted its credential. */
    readonly caller: Caller
    [CALLER]: Caller | null
  }
}

export const CALLER: unique symbol = Symbol('caller')

const anonymous = ({ id, ip }: FastifyRequest): Caller => ({
  kind: 'anonymous',
  id: 0,
  name: '',
  requestId: id,
  integers: 'auto',
  // A connection to the local socket has no address.
  address: ip ?? '',
  confirm: async () => {},
  confirmRight: async () => {},
  mayRead: () => false
})

/** Adds `request.caller`. */
export default fp(
  async (fastify) => {
    fastify.decorateRequest(CALLER, null)
    fastify.decorateRequest('caller', {
      getter() {
        this[CALLER] ??= anonymous(this)
        return this[CALLER]
      }
    })
  },
  { name: 'request-caller' }
)
