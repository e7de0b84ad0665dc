import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AggregateEnvelope, RecordAggregateSchema } from '../../schemas/aggregate.ts'
import { AGGREGATE_ERRORS, TOKEN_READ_ERRORS } from '../../schemas/operation-errors.ts'
import { MAX_QUERY_BYTES } from '../../schemas/query.ts'
import { TableParamsSchema } from '../../schemas/record.ts'
import { okText } from '../replies/json-text.ts'

const aggregateRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { records, accessOf } = fastify

  fastify.post(
    '/:table/aggregate',
    {
      schema: {
        operationId: 'aggregateRecords',
        summary: 'Compute counts, sums and other values',
        description:
          'Returns one row for each group of the matching records, with the computed values. Without `groupBy` and `by` there is one row.',
        tags: ['data'],
        params: TableParamsSchema,
        body: RecordAggregateSchema,
        response: { 200: AggregateEnvelope }
      },
      bodyLimit: Math.min(fastify.config.BODY_LIMIT, MAX_QUERY_BYTES),
      config: {
        credential: 'token',
        action: 'read',
        errors: [...TOKEN_READ_ERRORS, ...AGGREGATE_ERRORS]
      }
    },
    async ({ caller, table, body }, reply) =>
      okText(reply, await records.aggregate(caller, accessOf(caller, table), body))
  )
}

export default aggregateRoutes
