import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../services/database/database.ts'
import { overloaded } from '../services/errors.ts'

declare module 'fastify' {
  /** A reply stands for who waits for it: services hand it on with what they ask of the database. */
  interface FastifyReply extends Caller {}
}

interface Waiting {
  readonly callerId: (request: FastifyRequest) => string
  /** Rejects where the caller may no longer have what it asked for. */
  readonly confirm: (reply: FastifyReply) => Promise<unknown>
}

/** Nobody reads it. */
const gone = () => overloaded('The connection has gone.', 1)

/** Makes each reply of a plugin a `Caller`, at no cost to those that wait for no reader thread. */
export const decorateCaller = (fastify: FastifyInstance, { callerId, confirm }: Waiting) => {
  fastify.decorateReply('callerId', {
    getter() {
      return callerId(this.request)
    }
  })
  fastify.decorateReply('confirm', async function (this: FastifyReply) {
    if (this.request.socket.destroyed) throw gone()
    await confirm(this)
  })
}
