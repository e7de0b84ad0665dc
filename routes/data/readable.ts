import type { FastifyInstance } from 'fastify'
import type { Readable } from '../../services/records/read/expansions.ts'
import type { LiveToken } from '../../services/tokens/tokens.ts'

/** Returns the tables that a token can read, by its latest state. */
export const readableBy = ({ tables, tokens, views }: FastifyInstance, token: LiveToken): Readable => ({
  mayRead: (name) => tokens.current(token).scope.allows('read', name),
  viewOf: (name) => {
    const table = tables.find(name)
    return table?.isPublished && !table.isOutdated ? views.tokenView(table, token.integers) : undefined
  }
})
