import type { FastifyInstance } from 'fastify'
import type { Readable } from '../../services/records/read/expansions.ts'

/** Returns the tables that an administrator can read: all that are registered. */
export const createReadable = ({ tables, views }: FastifyInstance): Readable => ({
  mayRead: () => true,
  viewOf: (name) => {
    const table = tables.find(name)
    return table?.structure && !table.isOutdated ? views.administratorView(table) : undefined
  }
})
