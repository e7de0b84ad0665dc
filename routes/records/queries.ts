import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AggregateEnvelope, RecordAggregateSchema } from '../../schemas/aggregate.ts'
import { AGGREGATE_ERRORS, QUERY_ERRORS } from '../../schemas/operation-errors.ts'
import { MAX_QUERY_BYTES, QueryPageEnvelope, RecordQuerySchema } from '../../schemas/query.ts'
import { okText } from '../replies/json-text.ts'
import type { RecordAreaOptions } from './area.ts'

const queryRoutes: FastifyPluginAsyncTypebox<RecordAreaOptions> = async (fastify, { area }) => {
  const { records, config } = fastify
  const { credential, tags, paths, tableParams, recheckErrors, accessTo } = area
  const bodyLimit = Math.min(config.BODY_LIMIT, MAX_QUERY_BYTES)

  fastify.post(
    `${paths.table}/query`,
    {
      schema: {
        operationId: { administrator: 'adminQueryRecords', token: 'queryRecords' }[credential],
        summary: 'Find records by a filter',
        description: {
          administrator:
            'Returns one page of the matching records, with the hidden fields. `next` is the cursor of the next page. Without `order`, the records are sorted by the key.',
          token:
            'Returns one page of the matching records, sorted by the key unless `order` is sent. `next` is the cursor of the next page.'
        }[credential],
        tags,
        params: tableParams,
        body: RecordQuerySchema,
        response: { 200: QueryPageEnvelope }
      },
      bodyLimit,
      config: { credential, action: 'read', scope: 'records:read', errors: [...recheckErrors, ...QUERY_ERRORS] }
    },
    async (request, reply) => {
      const { caller, body } = request
      return okText(reply, await records.query(caller, accessTo(request), body))
    }
  )

  fastify.post(
    `${paths.table}/aggregate`,
    {
      schema: {
        operationId: { administrator: 'adminAggregateRecords', token: 'aggregateRecords' }[credential],
        summary: 'Compute counts, sums and other values',
        description: {
          administrator:
            'Returns one row for each group of the matching records, with the computed values. Hidden fields can be used. Without `groupBy` and `by` there is one row.',
          token:
            'Returns one row for each group of the matching records, with the computed values. Without `groupBy` and `by` there is one row.'
        }[credential],
        tags,
        params: tableParams,
        body: RecordAggregateSchema,
        response: { 200: AggregateEnvelope }
      },
      bodyLimit,
      config: { credential, action: 'read', scope: 'records:read', errors: [...recheckErrors, ...AGGREGATE_ERRORS] }
    },
    async (request, reply) => {
      const { caller, body } = request
      return okText(reply, await records.aggregate(caller, accessTo(request), body))
    }
  )
}

export default queryRoutes
