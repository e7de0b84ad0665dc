import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { done, Envelope, IdParamsSchema, OkSchema } from '../../schemas/envelope.ts'
import {
  CsvSchema,
  ExportQuerySchema,
  ListQuerySchema,
  PageSchema,
  RecordBodySchema,
  RecordParamsSchema,
  RecordSchema
} from '../../schemas/record.ts'
import { sendCsv } from '../replies/csv.ts'
import { okCreated, okText } from '../replies/json-text.ts'
import { createAdminCallerOf } from '../scan-caller.ts'

const tags = ['records']

const recordRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { records, exports, tables, views, clock } = fastify
  const viewOf = (id: number) => views.administratorView(tables.get(id))
  const callerOf = createAdminCallerOf(fastify)

  fastify.get(
    '/:id/data',
    {
      schema: {
        operationId: 'listRecords',
        summary: 'List, sort and search records',
        tags,
        params: IdParamsSchema,
        querystring: ListQuerySchema,
        response: { 200: Envelope(PageSchema) }
      }
    },
    async ({ params, query }, reply) => okText(reply, await records.list(viewOf(params.id), query, callerOf(reply)))
  )

  fastify.get(
    '/:id/export',
    {
      schema: {
        operationId: 'exportRecords',
        summary: 'Export records as CSV',
        tags,
        params: IdParamsSchema,
        querystring: ExportQuerySchema,
        response: { 200: CsvSchema }
      }
    },
    async ({ params, query }, reply) => {
      const view = viewOf(params.id)
      const chunks = await exports.exportCsv(view, query, callerOf(reply))
      return sendCsv(reply, view.table.name, clock(), chunks)
    }
  )

  fastify.get(
    '/:id/data/:pk',
    {
      schema: {
        operationId: 'readRecord',
        summary: 'Read one record',
        tags,
        params: RecordParamsSchema,
        response: { 200: Envelope(RecordSchema) }
      }
    },
    async ({ params }, reply) => okText(reply, await records.read(viewOf(params.id), params.pk, callerOf(reply)))
  )

  fastify.post(
    '/:id/data',
    {
      schema: {
        operationId: 'createRecord',
        summary: 'Create a record',
        tags,
        params: IdParamsSchema,
        body: RecordBodySchema,
        response: { 200: Envelope(RecordSchema) }
      }
    },
    ({ params, body }, reply) => okCreated(reply, () => records.create(viewOf(params.id), body))
  )

  fastify.put(
    '/:id/data/:pk',
    {
      schema: {
        operationId: 'updateRecord',
        summary: 'Change fields of a record',
        tags,
        params: RecordParamsSchema,
        body: RecordBodySchema,
        response: { 200: OkSchema }
      }
    },
    async ({ params, body }, reply) => {
      await records.update(viewOf(params.id), params.pk, body, callerOf(reply).confirm)
      return done()
    }
  )

  fastify.delete(
    '/:id/data/:pk',
    {
      schema: {
        operationId: 'deleteRecord',
        summary: 'Delete a record',
        tags,
        params: RecordParamsSchema,
        response: { 200: OkSchema }
      }
    },
    async ({ params }, reply) => {
      await records.remove(viewOf(params.id), params.pk, callerOf(reply).confirm)
      return done()
    }
  )
}

export default recordRoutes
