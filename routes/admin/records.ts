import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { TableIdParamsSchema } from '../../schemas/envelope.ts'
import {
  QUERY_ERRORS,
  RECORD_CHANGE_ERRORS,
  RECORD_CREATE_ERRORS,
  RECORD_READ_ERRORS,
  TABLE_ERRORS
} from '../../schemas/operation-errors.ts'
import {
  CreateHeadersSchema,
  CreateQuerySchema,
  ExportQuerySchema,
  ExportSchema,
  IfMatchHeadersSchema,
  IfNoneMatchHeadersSchema,
  ListQuerySchema,
  PageEnvelope,
  RecordBodySchema,
  RecordChangedSchema,
  RecordEnvelope,
  RecordParamsSchema,
  ReturnQuerySchema,
  recordResponses
} from '../../schemas/record.ts'
import type { Caller } from '../../services/model/caller.ts'
import { readListQuery } from '../list-query.ts'
import { pathKey } from '../path-key.ts'
import { onlyCreates, refuseIfNoneMatch } from '../preconditions.ts'
import { sendExport } from '../replies/export.ts'
import {
  assertRoomForResponse,
  changeOptions,
  okChanged,
  okRecord,
  okStored,
  okText,
  okUpserted
} from '../replies/json-text.ts'

const tags = ['records']

const READ = [...TABLE_ERRORS, ...RECORD_READ_ERRORS]
const CHANGE = [...TABLE_ERRORS, ...RECORD_CHANGE_ERRORS, 'TABLE_READ_ONLY'] as const

const recordRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { records, exports, tables, accessOf, clock } = fastify
  const accessTo = (caller: Caller, id: number) => accessOf(caller, tables.get(id))

  fastify.get(
    '/:id/data',
    {
      schema: {
        operationId: 'adminListRecords',
        summary: 'List, sort and search records',
        description:
          'Returns one page of the matching records, with the hidden fields. Without `order`, the records are sorted by the key.',
        tags,
        params: TableIdParamsSchema,
        querystring: ListQuerySchema,
        response: { 200: PageEnvelope }
      },
      config: { credential: 'administrator', errors: [...READ, ...QUERY_ERRORS] }
    },
    async ({ caller, params, query }, reply) =>
      okText(reply, await records.list(caller, accessTo(caller, params.id), readListQuery(query)))
  )

  fastify.get(
    '/:id/export',
    {
      schema: {
        operationId: 'adminExportRecords',
        summary: 'Export records as CSV or NDJSON',
        description:
          'Exports all matching records, with the hidden fields, unless `page` or `size` is sent. Records that change during the export appear in the old or in the new state.',
        tags,
        params: TableIdParamsSchema,
        querystring: ExportQuerySchema,
        response: { 200: ExportSchema }
      },
      config: { credential: 'administrator', errors: READ }
    },
    async ({ caller, params, query }, reply) => {
      const access = accessTo(caller, params.id)
      const chunks = await exports.exportRecords(caller, access, readListQuery(query))
      return sendExport(reply, { table: access.table.name, format: query.format, now: clock() }, chunks)
    }
  )

  fastify.get(
    '/:id/data/:pk',
    {
      schema: {
        operationId: 'adminReadRecord',
        summary: 'Read one record',
        description: 'Returns the record with this key, with the hidden fields.',
        tags,
        params: RecordParamsSchema,
        headers: IfNoneMatchHeadersSchema,
        response: recordResponses
      },
      config: { credential: 'administrator', errors: [...READ, 'RECORD_NOT_FOUND'] }
    },
    async ({ caller, params, url }, reply) => {
      const access = accessTo(caller, params.id)
      return okRecord(reply, await records.read(caller, access, pathKey(access.table, params.pk, url)))
    }
  )

  fastify.post(
    '/:id/data',
    {
      schema: {
        operationId: 'adminCreateRecord',
        summary: 'Create a record',
        description: 'Stores a record and returns it, with its key and its defaults.',
        tags,
        params: TableIdParamsSchema,
        querystring: CreateQuerySchema,
        headers: CreateHeadersSchema,
        body: RecordBodySchema,
        response: { 200: RecordEnvelope }
      },
      config: {
        takesRetryKey: true,
        credential: 'administrator',
        errors: [...TABLE_ERRORS, ...RECORD_CREATE_ERRORS, 'TABLE_READ_ONLY', 'PRECONDITION_FAILED']
      }
    },
    async ({ caller, params, query, headers, body }, reply) => {
      assertRoomForResponse(reply)
      const access = accessTo(caller, params.id)
      if (query.upsert === undefined) {
        refuseIfNoneMatch(headers)
        return okStored(reply, await records.create(caller, access, body))
      }
      const upsert = { on: query.upsert.split(','), values: body, onlyCreates: onlyCreates(headers) }
      return okUpserted(reply, await records.upsert(caller, access, upsert))
    }
  )

  fastify.put(
    '/:id/data/:pk',
    {
      schema: {
        operationId: 'adminUpdateRecord',
        summary: 'Update a record',
        description: 'Changes only the fields that are sent. The key cannot change.',
        tags,
        params: RecordParamsSchema,
        querystring: ReturnQuerySchema,
        headers: IfMatchHeadersSchema,
        body: RecordBodySchema,
        response: { 200: RecordChangedSchema }
      },
      config: { credential: 'administrator', errors: CHANGE, takesRetryKey: true }
    },
    async ({ caller, params, url, query, body }, reply) => {
      const access = accessTo(caller, params.id)
      const pk = pathKey(access.table, params.pk, url)
      const options = changeOptions(reply, query)
      return okChanged(reply, await records.update(caller, access, pk, body, options))
    }
  )

  fastify.delete(
    '/:id/data/:pk',
    {
      schema: {
        operationId: 'adminDeleteRecord',
        summary: 'Delete a record',
        description: 'Deletes the record with this key. With `return=record`, returns it as it was.',
        tags,
        params: RecordParamsSchema,
        querystring: ReturnQuerySchema,
        headers: IfMatchHeadersSchema,
        response: { 200: RecordChangedSchema }
      },
      config: { credential: 'administrator', errors: CHANGE, takesRetryKey: true }
    },
    async ({ caller, params, url, query }, reply) => {
      const access = accessTo(caller, params.id)
      const pk = pathKey(access.table, params.pk, url)
      const options = changeOptions(reply, query)
      return okChanged(reply, await records.remove(caller, access, pk, options))
    }
  )
}

export default recordRoutes
