import type { FastifyRequest } from 'fastify'
import { furtherActionsOf } from '../../services/model/actions.ts'

interface ChangeQuery {
  readonly return?: unknown
  readonly upsert?: unknown
  readonly mode?: unknown
}

/** The boundary function for the query, which is not validated yet when the right is checked the first time. */
const queryOf = (request: FastifyRequest) => request.query as ChangeQuery

/** For routes that update or delete a record. */
export const actionsToReturn = (request: FastifyRequest) =>
  furtherActionsOf({ showsRecords: queryOf(request).return === 'record' })

/** For routes that create a record, or import a file. */
export const actionsToUpsert = (request: FastifyRequest) => {
  const { upsert, mode } = queryOf(request)
  return furtherActionsOf({ isUpsert: upsert !== undefined || mode === 'upsert' })
}
