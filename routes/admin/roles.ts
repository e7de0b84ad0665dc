import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { done, OkSchema, ok, RoleIdParamsSchema } from '../../schemas/envelope.ts'
import { WRITE_ERRORS } from '../../schemas/operation-errors.ts'
import { NewRoleSchema, type Role, RoleChangesSchema, RoleEnvelope, RolesEnvelope } from '../../schemas/role.ts'
import type { LiveRole } from '../../services/roles/roles.ts'

const tags = ['roles']

const roleRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { roles, roleNames, tokens } = fastify

  const show = (role: LiveRole, counts = tokens.countByRole()): Role => ({
    id: role.id,
    name: role.name,
    grants: [...role.grants],
    tokens: counts.get(role.id) ?? 0,
    warnings: roleNames.warningsOf(role),
    created_at: role.createdAt,
    updated_at: role.updatedAt
  })

  fastify.get(
    '',
    {
      schema: {
        operationId: 'adminListRoles',
        tags,
        summary: 'List the roles',
        description: 'Lists all roles, in the order of their creation.',
        response: { 200: RolesEnvelope }
      },
      config: { credential: 'administrator', scope: 'roles', errors: [] }
    },
    async () => {
      const counts = tokens.countByRole()
      return ok(roles.list().map((role) => show(role, counts)))
    }
  )

  fastify.post(
    '',
    {
      schema: {
        operationId: 'adminCreateRole',
        tags,
        summary: 'Create a role',
        description: 'Tokens can then have the role, instead of permissions of their own.',
        body: NewRoleSchema,
        response: { 200: RoleEnvelope }
      },
      config: { credential: 'administrator', scope: 'roles', errors: [...WRITE_ERRORS, 'ROLE_EXISTS'] }
    },
    async ({ caller, body }) => ok(show(await roles.create(caller, body)))
  )

  fastify.get(
    '/:id',
    {
      schema: {
        operationId: 'adminReadRole',
        tags,
        summary: 'Read a role',
        description: 'Returns one role, in the form of the list.',
        params: RoleIdParamsSchema,
        response: { 200: RoleEnvelope }
      },
      config: { credential: 'administrator', scope: 'roles', errors: ['ROLE_NOT_FOUND'] }
    },
    async ({ params }) => ok(show(roles.read(params.id)))
  )

  fastify.put(
    '/:id',
    {
      schema: {
        operationId: 'adminUpdateRole',
        tags,
        summary: 'Change a role',
        description:
          'Changes only the properties that are sent, for all tokens with the role, with effect from the next request.',
        params: RoleIdParamsSchema,
        body: RoleChangesSchema,
        response: { 200: RoleEnvelope }
      },
      config: {
        credential: 'administrator',
        scope: 'roles',
        errors: [...WRITE_ERRORS, 'ROLE_NOT_FOUND', 'ROLE_EXISTS']
      }
    },
    async ({ caller, params, body }) => ok(show(await roles.change(caller, params.id, body)))
  )

  fastify.delete(
    '/:id',
    {
      schema: {
        operationId: 'adminDeleteRole',
        tags,
        summary: 'Delete a role',
        description: 'Refused while tokens have the role.',
        params: RoleIdParamsSchema,
        response: { 200: OkSchema }
      },
      config: {
        credential: 'administrator',
        scope: 'roles',
        errors: [...WRITE_ERRORS, 'ROLE_NOT_FOUND', 'ROLE_IN_USE']
      }
    },
    async ({ caller, params }) => {
      await roles.remove(caller, params.id)
      return done()
    }
  )
}

export default roleRoutes
