import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { preValidationHookHandler } from 'fastify'
import { READ_ONLY_ERRORS, RECORD_CHANGE_ERRORS, TOKEN_CHANGE_ERRORS } from '../../schemas/operation-errors.ts'
import {
  AdditionSchema,
  IfMatchHeadersSchema,
  IncrementSchema,
  RecordTaggedChangeSchema,
  ReturnQuerySchema,
  TableParamsSchema,
  TableRecordParamsSchema
} from '../../schemas/record.ts'
import { parentPath, pathKey } from '../path-key.ts'
import { actionsToReturn } from '../records/further-actions.ts'
import { changeOptions, okChanged } from '../replies/json-text.ts'
import { wideIntegersAsText } from './wide-integers.ts'

const schema = {
  description: 'Adds `count` in one atomic statement, so concurrent increments all count. null counts as 0.',
  tags: ['data'],
  querystring: ReturnQuerySchema,
  headers: IfMatchHeadersSchema,
  response: { 200: RecordTaggedChangeSchema }
}

const config = {
  credential: 'token',
  action: 'update',
  furtherActions: actionsToReturn,
  errors: [
    ...TOKEN_CHANGE_ERRORS,
    ...RECORD_CHANGE_ERRORS,
    ...READ_ONLY_ERRORS,
    'NOT_INCREMENTABLE',
    'INCREMENT_OVERFLOW'
  ],
  takesRetryKey: true
} as const

const preValidation: preValidationHookHandler = (request, _reply, done) => {
  wideIntegersAsText(request.body)
  done()
}

const incrementRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { records, accessOf } = fastify

  fastify.post(
    '/:table/incr',
    {
      schema: {
        ...schema,
        operationId: 'incrementRecord',
        summary: 'Increment a numeric field of a record',
        params: TableParamsSchema,
        body: IncrementSchema
      },
      preValidation,
      config
    },
    async ({ caller, table, actions, query, body }, reply) => {
      const options = changeOptions(reply, query)
      return okChanged(reply, await records.increment(caller, accessOf(caller, table, actions), body, options))
    }
  )

  fastify.post(
    '/:table/records/:pk/incr',
    {
      schema: {
        ...schema,
        operationId: 'addToRecord',
        summary: 'Increment a numeric field of the record with this key',
        params: TableRecordParamsSchema,
        body: AdditionSchema
      },
      preValidation,
      config
    },
    async ({ caller, table, actions, params, url, query, body }, reply) => {
      const options = changeOptions(reply, query)
      const pk = pathKey(table, params.pk, parentPath(url))
      return okChanged(
        reply,
        await records.increment(caller, accessOf(caller, table, actions), { ...body, pk }, options)
      )
    }
  )
}

export default incrementRoutes
