import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  QUERY_ERRORS,
  RECORD_CHANGE_ERRORS,
  RECORD_CREATE_ERRORS,
  RECORD_READ_ERRORS,
  TOKEN_READ_ERRORS,
  TOKEN_TABLE_ERRORS
} from '../../schemas/operation-errors.ts'
import {
  CreateHeadersSchema,
  CreateQuerySchema,
  IfMatchHeadersSchema,
  IfNoneMatchHeadersSchema,
  IncrementSchema,
  ListQuerySchema,
  PageEnvelope,
  RecordBodySchema,
  RecordChangedSchema,
  RecordEnvelope,
  ReturnQuerySchema,
  recordResponses,
  TableParamsSchema,
  TableRecordParamsSchema
} from '../../schemas/record.ts'
import { actionsToReturn, actionsToUpsert } from '../further-actions.ts'
import { readListQuery } from '../list-query.ts'
import { pathKey } from '../path-key.ts'
import { onlyCreates, refuseIfNoneMatch } from '../preconditions.ts'
import {
  assertRoomForResponse,
  changeOptions,
  okChanged,
  okRecord,
  okStored,
  okText,
  okUpserted
} from '../replies/json-text.ts'
import { wideIntegersAsText } from './wide-integers.ts'

const tags = ['data']
const credential = 'token'

const READ = [...TOKEN_READ_ERRORS, ...RECORD_READ_ERRORS] as const
const CHANGE = [...TOKEN_READ_ERRORS, ...RECORD_CHANGE_ERRORS, 'TABLE_READ_ONLY'] as const

const recordRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { records, accessOf } = fastify

  fastify.get(
    '/:table',
    {
      schema: {
        operationId: 'listRecords',
        summary: 'List, sort and search records',
        description: 'Returns one page of the matching records, sorted by the key unless `order` is sent.',
        tags,
        params: TableParamsSchema,
        querystring: ListQuerySchema,
        response: { 200: PageEnvelope }
      },
      config: { credential, action: 'read', errors: [...READ, ...QUERY_ERRORS] }
    },
    async ({ caller, token, table, query }, reply) => {
      const request = readListQuery(query, token.integers === 'number')
      return okText(reply, await records.list(caller, accessOf(caller, table), request))
    }
  )

  fastify.get(
    '/:table/records/:pk',
    {
      schema: {
        operationId: 'readRecord',
        summary: 'Read one record',
        description: 'Returns the record with this key, without the hidden fields.',
        tags,
        params: TableRecordParamsSchema,
        headers: IfNoneMatchHeadersSchema,
        response: recordResponses
      },
      config: { credential, action: 'read', errors: [...READ, 'RECORD_NOT_FOUND'] }
    },
    async ({ caller, table, params, url }, reply) => {
      const pk = pathKey(table, params.pk, url)
      return okRecord(reply, await records.read(caller, accessOf(caller, table), pk))
    }
  )

  fastify.post(
    '/:table/records',
    {
      schema: {
        operationId: 'createRecord',
        summary: 'Create a record',
        description: 'Stores a record and returns it, with its key and its defaults.',
        tags,
        params: TableParamsSchema,
        querystring: CreateQuerySchema,
        headers: CreateHeadersSchema,
        body: RecordBodySchema,
        response: { 200: RecordEnvelope }
      },
      config: {
        takesRetryKey: true,
        credential,
        action: 'create',
        furtherActions: actionsToUpsert,
        errors: [...TOKEN_TABLE_ERRORS, ...RECORD_CREATE_ERRORS, 'TABLE_READ_ONLY', 'PRECONDITION_FAILED']
      }
    },
    async ({ caller, table, query, headers, body }, reply) => {
      assertRoomForResponse(reply)
      const access = accessOf(caller, table)
      if (query.upsert === undefined) {
        refuseIfNoneMatch(headers)
        return okStored(reply, await records.create(caller, access, body))
      }
      const upsert = { on: query.upsert.split(','), values: body, onlyCreates: onlyCreates(headers) }
      return okUpserted(reply, await records.upsert(caller, access, upsert))
    }
  )

  fastify.put(
    '/:table/records/:pk',
    {
      schema: {
        operationId: 'updateRecord',
        summary: 'Update a record',
        description: 'Changes only the fields that are sent. The key cannot change.',
        tags,
        params: TableRecordParamsSchema,
        querystring: ReturnQuerySchema,
        headers: IfMatchHeadersSchema,
        body: RecordBodySchema,
        response: { 200: RecordChangedSchema }
      },
      config: { credential, action: 'update', furtherActions: actionsToReturn, errors: CHANGE, takesRetryKey: true }
    },
    async ({ caller, table, params, url, query, body }, reply) => {
      const pk = pathKey(table, params.pk, url)
      const options = changeOptions(reply, query)
      return okChanged(reply, await records.update(caller, accessOf(caller, table), pk, body, options))
    }
  )

  fastify.delete(
    '/:table/records/:pk',
    {
      schema: {
        operationId: 'deleteRecord',
        summary: 'Delete a record',
        description: 'Deletes the record with this key. With `return=record`, returns it as it was.',
        tags,
        params: TableRecordParamsSchema,
        querystring: ReturnQuerySchema,
        headers: IfMatchHeadersSchema,
        response: { 200: RecordChangedSchema }
      },
      config: { credential, action: 'delete', furtherActions: actionsToReturn, errors: CHANGE, takesRetryKey: true }
    },
    async ({ caller, table, params, url, query }, reply) => {
      const pk = pathKey(table, params.pk, url)
      const options = changeOptions(reply, query)
      return okChanged(reply, await records.remove(caller, accessOf(caller, table), pk, options))
    }
  )

  fastify.post(
    '/:table/incr',
    {
      schema: {
        operationId: 'incrementRecord',
        summary: 'Increment a numeric field of a record',
        description: 'Adds `count` in one atomic statement, so concurrent increments all count. null counts as 0.',
        tags,
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
        credential,
        action: 'update',
        furtherActions: actionsToReturn,
        takesRetryKey: true,
        errors: [...CHANGE, 'NOT_INCREMENTABLE', 'INCREMENT_OVERFLOW']
      }
    },
    async ({ caller, table, query, body }, reply) => {
      const options = changeOptions(reply, query)
      return okChanged(reply, await records.increment(caller, accessOf(caller, table), body, options))
    }
  )
}

export default recordRoutes
