import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sendTagged } from '../../plugins/http/etag.ts'
import { DocumentHeadersSchema, documentResponses, TablesDocumentQuerySchema } from '../../schemas/document.ts'
import { tableNotFound } from '../../services/model/errors.ts'
import type { RegisteredTable } from '../../services/model/table.ts'
import { tableOutdated, tableUnusable } from '../../services/tables/failures.ts'

const documentRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { tables, typedDocuments } = fastify

  const usableTables = () =>
    tables.all().filter((table): table is RegisteredTable => table.structure !== null && !table.isOutdated)

  const tableNamed = (name: string): RegisteredTable => {
    const table = tables.find(name)
    if (!table) throw tableNotFound(name)
    if (table.structure === null) throw tableUnusable(name)
    if (table.isOutdated) throw tableOutdated(name)
    return table
  }

  fastify.get(
    '',
    {
      schema: {
        operationId: 'adminReadDocument',
        summary: 'Read the OpenAPI document of the tables',
        description:
          'Describes the records of the registered tables with the types of their fields, hidden fields too. It changes with the next request after a change of them.',
        tags: ['tables'],
        querystring: TablesDocumentQuerySchema,
        headers: DocumentHeadersSchema,
        response: documentResponses
      },
      config: {
        credential: 'administrator',
        scope: 'tables:read',
        errors: ['TABLE_NOT_FOUND', 'TABLE_UNUSABLE', 'STRUCTURE_CHANGED']
      }
    },
    async (request, reply) => {
      const { tables: names, openapi = '3.1' } = request.query
      const usable = usableTables()
      const chosen = names === undefined ? usable : [...new Set(names.split(',').map(tableNamed))]
      return sendTagged(request, reply, await typedDocuments.forAdministrator(chosen, usable, openapi))
    }
  )
}

export default documentRoutes
