import type { FastifyInstance } from 'fastify'
import type { Readable } from '../../services/records/expansions.ts'
import type { LiveToken } from '../../services/tokens/tokens.ts'

/** Returns the tables that a token can read. */
export const readableBy = ({ tables, views }: FastifyInstance, { scope, integers }: LiveToken): Readable => ({
  mayRead: (name) => scope.allows('read', name),
  viewOf: (name) => {
    const table = tables.find(name)
    return table?.isPublished && !table.isOutdated ? views.tokenView(table, integers) : undefined
  }
})
