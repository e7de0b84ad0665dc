import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { RECORD_CHANGE_ERRORS, TOKEN_READ_ERRORS } from '../../schemas/operation-errors.ts'
import {
  IfMatchHeadersSchema,
  IncrementSchema,
  RecordChangedSchema,
  ReturnQuerySchema,
  TableParamsSchema
} from '../../schemas/record.ts'
import { actionsToReturn } from '../records/further-actions.ts'
import { changeOptions, okChanged } from '../replies/json-text.ts'
import { wideIntegersAsText } from './wide-integers.ts'

const incrementRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { records, accessOf } = fastify

  fastify.post(
    '/:table/incr',
    {
      schema: {
        operationId: 'incrementRecord',
        summary: 'Increment a numeric field of a record',
        description: 'Adds `count` in one atomic statement, so concurrent increments all count. null counts as 0.',
        tags: ['data'],
        params: TableParamsSchema,
        querystring: ReturnQuerySchema,
        headers: IfMatchHeadersSchema,
        body: IncrementSchema,
        response: { 200: RecordChangedSchema }
      },
      preValidation: (request, _reply, done) => {
        wideIntegersAsText(request.body)
        done()
      },
      config: {
        credential: 'token',
        action: 'update',
        furtherActions: actionsToReturn,
        errors: [
          ...TOKEN_READ_ERRORS,
          ...RECORD_CHANGE_ERRORS,
          'TABLE_READ_ONLY',
          'NOT_INCREMENTABLE',
          'INCREMENT_OVERFLOW'
        ],
        takesRetryKey: true
      }
    },
    async ({ caller, table, query, body }, reply) => {
      const options = changeOptions(reply, query)
      return okChanged(reply, await records.increment(caller, accessOf(caller, table), body, options))
    }
  )
}

export default incrementRoutes
