import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AuditPageEnvelope, AuditQuerySchema } from '../../schemas/audit.ts'
import { ok } from '../../schemas/envelope.ts'
import { READ_ERRORS } from '../../schemas/operation-errors.ts'

const tags = ['audit']

const auditRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit } = fastify

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
      config: { credential: 'administrator', errors: [...READ_ERRORS, 'SCAN_TIMEOUT'] }
    },
    async ({ caller, query }) => ok(await audit.list(caller, query))
  )
}

export default auditRoutes
