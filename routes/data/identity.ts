import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ok } from '../../schemas/envelope.ts'
import { TokenIdentityEnvelope } from '../../schemas/token.ts'
import { reachableTables } from '../../services/tables/token-access.ts'

const identityRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { tables } = fastify

  fastify.get(
    '/_me',
    {
      schema: {
        operationId: 'readIdentity',
        summary: 'Read the permissions of this token',
        description: 'Returns the name of the token of the request, and what it may use.',
        tags: ['data'],
        response: { 200: TokenIdentityEnvelope }
      },
      config: { credential: 'token', action: 'none', errors: [] }
    },
    async ({ token: { name, permissions, integers, expiresAt, scope } }) =>
      ok({
        name,
        permissions,
        integers,
        expires_at: expiresAt,
        tables: reachableTables(tables.all(), scope).map((table) => table.name)
      })
  )
}

export default identityRoutes
