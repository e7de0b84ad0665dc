import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { TableIdParamsSchema } from '../../schemas/envelope.ts'
import { QUERY_ERRORS, TABLE_ERRORS } from '../../schemas/operation-errors.ts'
import { MAX_QUERY_BYTES, QueryPageEnvelope, RecordQuerySchema } from '../../schemas/query.ts'
import { okText } from '../replies/json-text.ts'

const queryRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { records, tables, accessOf } = fastify

  fastify.post(
    '/:id/query',
    {
      schema: {
        operationId: 'adminQueryRecords',
        summary: 'Find records by a filter',
        description:
          'Returns one page of the matching records, with the hidden fields. `next` is the cursor of the next page. Without `order`, the records are sorted by the key.',
        tags: ['records'],
        params: TableIdParamsSchema,
        body: RecordQuerySchema,
        response: { 200: QueryPageEnvelope }
      },
      bodyLimit: Math.min(fastify.config.BODY_LIMIT, MAX_QUERY_BYTES),
      config: { credential: 'administrator', errors: [...TABLE_ERRORS, ...QUERY_ERRORS] }
    },
    async ({ caller, params, body }, reply) =>
      okText(reply, await records.query(caller, accessOf(caller, tables.get(params.id)), body))
  )
}

export default queryRoutes
