import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { RECORD_READ_ERRORS, TOKEN_READ_ERRORS } from '../../schemas/operation-errors.ts'
import { ExportQuerySchema, ExportSchema, TableParamsSchema } from '../../schemas/record.ts'
import { readListQuery } from '../list-query.ts'
import { sendExport } from '../replies/export.ts'

const exportRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { exports, clock, accessOf } = fastify

  fastify.get(
    '/:table/export',
    {
      schema: {
        operationId: 'exportRecords',
        summary: 'Export records as CSV or NDJSON',
        description:
          'Exports all matching records, without the hidden fields, unless `page` or `size` is sent. Records that change during the export appear in the old or in the new state. A token can run one sorted or filtered export at a time.',
        tags: ['data'],
        params: TableParamsSchema,
        querystring: ExportQuerySchema,
        response: { 200: ExportSchema }
      },
      config: { credential: 'token', action: 'read', errors: [...TOKEN_READ_ERRORS, ...RECORD_READ_ERRORS] }
    },
    async ({ caller, token, table, query }, reply) => {
      const request = readListQuery(query, token.integers === 'number')
      const chunks = await exports.exportRecords(caller, accessOf(caller, table), request)
      return sendExport(reply, { table: table.name, format: query.format, now: clock() }, chunks)
    }
  )
}

export default exportRoutes
