import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AggregateEnvelope, RecordAggregateSchema } from '../../schemas/aggregate.ts'
import { TableIdParamsSchema } from '../../schemas/envelope.ts'
import { AGGREGATE_ERRORS, TABLE_ERRORS } from '../../schemas/operation-errors.ts'
import { MAX_QUERY_BYTES } from '../../schemas/query.ts'
import { okText } from '../replies/json-text.ts'

const aggregateRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { records, tables, accessOf } = fastify

  fastify.post(
    '/:id/aggregate',
    {
      schema: {
        operationId: 'adminAggregateRecords',
        summary: 'Compute counts, sums and other values',
        description:
          'Returns one row for each group of the matching records, with the computed values. Hidden fields can be used. Without `groupBy` and `by` there is one row.',
        tags: ['records'],
        params: TableIdParamsSchema,
        body: RecordAggregateSchema,
        response: { 200: AggregateEnvelope }
      },
      bodyLimit: Math.min(fastify.config.BODY_LIMIT, MAX_QUERY_BYTES),
      config: { credential: 'administrator', errors: [...TABLE_ERRORS, ...AGGREGATE_ERRORS] }
    },
    async ({ caller, params, body }, reply) =>
      okText(reply, await records.aggregate(caller, accessOf(caller, tables.get(params.id)), body))
  )
}

export default aggregateRoutes
