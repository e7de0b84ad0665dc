import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../services/database/database.ts'
import { overloaded } from '../services/errors.ts'

interface Waiting {
  readonly callerId: (request: FastifyRequest) => string
  /** Rejects where the caller may no longer have what it asked for. */
  readonly confirm: (reply: FastifyReply) => Promise<unknown>
}

/** Nobody reads it. */
const gone = () => overloaded('The connection has gone.', 1)

/** Makes the function by which the routes of an area say who waits for what they ask of the database. */
export const createCallerOf =
  ({ callerId, confirm }: Waiting) =>
  (reply: FastifyReply): Caller => ({
    callerId: callerId(reply.request),
    confirm: async () => {
      if (reply.request.socket.destroyed) throw gone()
      await confirm(reply)
    }
  })

/** The same for the routes under /admin. */
export const createAdminCallerOf = ({ confirmSession }: FastifyInstance) =>
  createCallerOf({ callerId: ({ admin }) => `admin ${admin.id}`, confirm: ({ request }) => confirmSession(request) })
