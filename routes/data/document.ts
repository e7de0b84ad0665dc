import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sendTagged } from '../../plugins/http/etag.ts'
import { DocumentHeadersSchema, DocumentQuerySchema, documentResponses } from '../../schemas/document.ts'
import { reachableTables } from '../../services/tables/token-access.ts'

const documentRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { tables, typedDocuments } = fastify

  fastify.get(
    '/_openapi.json',
    {
      schema: {
        operationId: 'readTokenDocument',
        summary: 'Read the OpenAPI document of this token',
        description:
          'Describes exactly the tables, fields and actions of the token, with the types of the fields. It changes with the next request after a change of them.',
        tags: ['data'],
        querystring: DocumentQuerySchema,
        headers: DocumentHeadersSchema,
        response: documentResponses
      },
      config: { credential: 'token', action: 'none', errors: [] }
    },
    async (request, reply) => {
      const { caller, key, query } = request
      const reachable = reachableTables(tables.all(), key.scope).filter((table) => !table.isOutdated)
      const document = await typedDocuments.forToken(key, reachable, query.openapi ?? '3.1')
      await caller.confirm()
      return sendTagged(request, reply, document)
    }
  )
}

export default documentRoutes
