import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ScanCaller as Caller } from '../services/engine/database.ts'
import { overloaded } from '../services/model/errors.ts'

interface Waiting {
  readonly identify: (request: FastifyRequest) => Pick<Caller, 'kind' | 'id'>
  /** Rejects where the caller may no longer have what it asked for. */
  readonly confirm: (reply: FastifyReply) => Promise<unknown>
}

/** Nobody reads it. */
const gone = () => overloaded('The connection has gone.', 1)

/** Makes the function by which the routes of an area say who waits for what they ask of the database. */
export const createCallerOf =
  ({ identify, confirm }: Waiting) =>
  (reply: FastifyReply): Caller => ({
    ...identify(reply.request),
    confirm: async () => {
      if (reply.request.socket.destroyed) throw gone()
      await confirm(reply)
    }
  })

/** The same for the routes under /admin. */
export const createAdminCallerOf = ({ confirmSession }: FastifyInstance) =>
  createCallerOf({
    identify: ({ admin: { id } }) => ({ kind: 'admin', id }),
    confirm: ({ request }) => confirmSession(request)
  })
