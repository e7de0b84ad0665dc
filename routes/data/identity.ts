import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ok } from '../../schemas/envelope.ts'
import { TokenIdentityEnvelope } from '../../schemas/token.ts'
import type { KeyRole } from '../../services/model/caller.ts'
import { reachableTables } from '../../services/tables/token-access.ts'

const identityRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { tables, roles, keyRights } = fastify

  /** Returns the published tables that the role opens less than it lists. */
  const closedTables = (role: KeyRole) =>
    tables.all().flatMap((table) => {
      const closed = table.isPublished ? keyRights.closedBy(role, table) : undefined
      return closed ? [{ table: table.name, reason: closed.forToken }] : []
    })

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
    async ({ key: { name, permissions, role, integers, expiresAt, scope } }) =>
      ok({
        name,
        permissions,
        role: role && roles.nameOf(role.id),
        claims: role?.claims ?? {},
        integers,
        expires_at: expiresAt,
        tables: reachableTables(tables.all(), scope).map((table) => table.name),
        closed: role ? closedTables(role) : []
      })
  )
}

export default identityRoutes
