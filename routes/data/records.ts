import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { done, Envelope, OkSchema } from '../../schemas/envelope.ts'
import type { ErrorCode } from '../../schemas/error.ts'
import { RECORD_WRITE_ERRORS, SCAN_ERRORS } from '../../schemas/operation-errors.ts'
import {
  IncrementSchema,
  ListQuerySchema,
  PageSchema,
  RecordBodySchema,
  RecordSchema,
  TableParamsSchema,
  TableRecordParamsSchema
} from '../../schemas/record.ts'
import { assertRoomForResponse, okCreated, okText } from '../replies/json-text.ts'

const tags = ['data']
const credential = 'token'

const TABLE_ERRORS: readonly ErrorCode[] = ['ACTION_NOT_ALLOWED', 'TABLE_NOT_FOUND', 'TABLE_UNUSABLE', 'TABLE_CHANGED']
const READS = [...TABLE_ERRORS, ...SCAN_ERRORS]
const WRITES = [...TABLE_ERRORS, ...RECORD_WRITE_ERRORS, 'TABLE_READ_ONLY'] as const

const recordRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const {
    records,
    views: { tokenView }
  } = fastify

  fastify.get(
    '/:table',
    {
      schema: {
        operationId: 'listTableRecords',
        summary: 'List, sort and search records',
        tags,
        params: TableParamsSchema,
        querystring: ListQuerySchema,
        response: { 200: Envelope(PageSchema) }
      },
      config: { credential, action: 'read', errors: READS }
    },
    async ({ caller, table, query }, reply) => okText(reply, await records.list(caller, tokenView(table), query))
  )

  fastify.get(
    '/:table/records/:pk',
    {
      schema: {
        operationId: 'readTableRecord',
        summary: 'Read one record',
        tags,
        params: TableRecordParamsSchema,
        response: { 200: Envelope(RecordSchema) }
      },
      config: { credential, action: 'read', errors: [...READS, 'RECORD_NOT_FOUND'] }
    },
    async ({ caller, table, params }, reply) => okText(reply, await records.read(caller, tokenView(table), params.pk))
  )

  fastify.post(
    '/:table/records',
    {
      schema: {
        operationId: 'createTableRecord',
        summary: 'Create a record',
        tags,
        params: TableParamsSchema,
        body: RecordBodySchema,
        response: { 200: Envelope(RecordSchema) }
      },
      config: { credential, action: 'create', errors: WRITES }
    },
    async ({ caller, table, body }, reply) => {
      assertRoomForResponse(reply)
      return okCreated(reply, await records.create(caller, tokenView(table), body))
    }
  )

  fastify.put(
    '/:table/records/:pk',
    {
      schema: {
        operationId: 'updateTableRecord',
        summary: 'Change fields of a record',
        tags,
        params: TableRecordParamsSchema,
        body: RecordBodySchema,
        response: { 200: OkSchema }
      },
      config: { credential, action: 'update', errors: [...WRITES, 'RECORD_NOT_FOUND'] }
    },
    async ({ caller, table, params, body }) => {
      await records.update(caller, tokenView(table), params.pk, body)
      return done()
    }
  )

  fastify.delete(
    '/:table/records/:pk',
    {
      schema: {
        operationId: 'deleteTableRecord',
        summary: 'Delete a record',
        tags,
        params: TableRecordParamsSchema,
        response: { 200: OkSchema }
      },
      config: { credential, action: 'delete', errors: [...WRITES, 'RECORD_NOT_FOUND'] }
    },
    async ({ caller, table, params }) => {
      await records.remove(caller, tokenView(table), params.pk)
      return done()
    }
  )

  fastify.post(
    '/:table/incr',
    {
      schema: {
        operationId: 'incrementField',
        summary: 'Add to a numeric field',
        tags,
        params: TableParamsSchema,
        body: IncrementSchema,
        response: { 200: OkSchema }
      },
      config: {
        credential,
        action: 'update',
        errors: [...WRITES, 'RECORD_NOT_FOUND', 'NOT_INCREMENTABLE', 'INCREMENT_OVERFLOW']
      }
    },
    async ({ caller, table, body }) => {
      await records.increment(caller, tokenView(table), body)
      return done()
    }
  )
}

export default recordRoutes
