import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AuditExportSchema, AuditFilterSchema, AuditPageEnvelope, AuditQuerySchema } from '../../schemas/audit.ts'
import { ok } from '../../schemas/envelope.ts'
import { READ_ERRORS } from '../../schemas/operation-errors.ts'
import { sendExport } from '../replies/export.ts'

const tags = ['audit']

const auditRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, clock } = fastify

  fastify.get(
    '',
    {
      schema: {
        operationId: 'adminListAudit',
        tags,
        summary: 'List who changed what',
        description:
          'Lists logins and changes of tables, fields, indexes, tokens and administrators, imports and exports, the latest first. Changes of single records are not listed.',
        querystring: AuditQuerySchema,
        response: { 200: AuditPageEnvelope }
      },
      config: { credential: 'administrator', scope: 'audit', errors: [...READ_ERRORS, 'SCAN_TIMEOUT'] }
    },
    async ({ caller, query }) => ok(await audit.list(caller, query))
  )

  fastify.get(
    '/export',
    {
      schema: {
        operationId: 'adminExportAudit',
        tags,
        summary: 'Export who changed what',
        description: 'Exports the matching rows as NDJSON, the latest first. The export itself has a row, too.',
        querystring: AuditFilterSchema,
        response: { 200: AuditExportSchema }
      },
      config: { credential: 'administrator', scope: 'audit', errors: [...READ_ERRORS, 'SCAN_TIMEOUT'] }
    },
    async ({ caller, query }, reply) => {
      const lines = await audit.exportRows(caller, query)
      return sendExport(reply, { table: 'audit', format: 'ndjson', now: clock() }, lines)
    }
  )
}

export default auditRoutes
