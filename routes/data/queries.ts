import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { QUERY_ERRORS, TOKEN_READ_ERRORS } from '../../schemas/operation-errors.ts'
import { MAX_QUERY_BYTES, QueryPageEnvelope, RecordQuerySchema } from '../../schemas/query.ts'
import { TableParamsSchema } from '../../schemas/record.ts'
import { okText } from '../replies/json-text.ts'

const tags = ['data']
const credential = 'token'

const queryRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { records, accessOf } = fastify

  fastify.post(
    '/:table/query',
    {
      schema: {
        operationId: 'queryRecords',
        summary: 'Find records by a filter',
        description:
          'Returns one page of the matching records, sorted by the key unless `order` is sent. `next` is the cursor of the next page.',
        tags,
        params: TableParamsSchema,
        body: RecordQuerySchema,
        response: { 200: QueryPageEnvelope }
      },
      bodyLimit: Math.min(fastify.config.BODY_LIMIT, MAX_QUERY_BYTES),
      config: { credential, action: 'read', errors: [...TOKEN_READ_ERRORS, ...QUERY_ERRORS] }
    },
    async ({ caller, table, body }, reply) => okText(reply, await records.query(caller, accessOf(caller, table), body))
  )
}

export default queryRoutes
