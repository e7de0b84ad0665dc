import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { RECORD_READ_ERRORS } from '../../schemas/operation-errors.ts'
import { ExportQuerySchema, ExportSchema } from '../../schemas/record.ts'
import { readListQuery } from '../list-query.ts'
import { sendExport } from '../replies/export.ts'
import { createUnreadParts } from '../replies/unread-parts.ts'
import type { RecordAreaOptions } from './area.ts'

const exportRoutes: FastifyPluginAsyncTypebox<RecordAreaOptions> = async (fastify, { area }) => {
  const { exports, readableBy, clock } = fastify
  const { credential, tags, paths, tableParams, recheckErrors, accessTo } = area

  fastify.get(
    `${paths.table}/export`,
    {
      schema: {
        operationId: { administrator: 'adminExportRecords', token: 'exportRecords' }[credential],
        summary: 'Export records as CSV or NDJSON',
        description: {
          administrator:
            'Exports all matching records, with the hidden fields, unless `page` or `size` is sent. Records that change during the export appear in the old or in the new state.',
          token:
            'Exports all matching records, without the hidden fields, unless `page` or `size` is sent. Records that change during the export appear in the old or in the new state. A token can run one sorted or filtered export at a time.'
        }[credential],
        tags,
        params: tableParams,
        querystring: ExportQuerySchema,
        response: { 200: ExportSchema }
      },
      config: { credential, action: 'read', scope: 'records:read', errors: [...recheckErrors, ...RECORD_READ_ERRORS] }
    },
    async (request, reply) => {
      const { caller, query } = request
      const access = accessTo(request)
      const parts = createUnreadParts(reply)
      const chunks = await exports.exportRecords(
        caller,
        access,
        readListQuery(query, { access, readable: readableBy(caller) }, ExportQuerySchema),
        parts.read
      )
      const file = { table: access.table.name, format: query.format, now: clock(), onSent: parts.sent }
      return sendExport(reply, file, chunks)
    }
  )
}

export default exportRoutes
