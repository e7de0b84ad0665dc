import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { AdminAccountSchema, AdminChangesSchema, NewAdminSchema } from '../../schemas/admin.ts'
import { done, Envelope, IdParamsSchema, OkSchema, ok } from '../../schemas/envelope.ts'
import { READ_ERRORS, WRITE_ERRORS } from '../../schemas/operation-errors.ts'

const tags = ['admins']

const adminRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { admins } = fastify

  fastify.get(
    '',
    {
      schema: {
        operationId: 'listAdmins',
        tags,
        summary: 'List the administrators',
        response: { 200: Envelope(Type.Array(AdminAccountSchema)) }
      },
      config: { credential: 'administrator', errors: READ_ERRORS }
    },
    async () => ok(await admins.list())
  )

  fastify.post(
    '',
    {
      schema: {
        operationId: 'createAdmin',
        tags,
        summary: 'Create an administrator',
        description:
          'Sets `mustChangePassword`. With REQUIRE_PASSWORD_CHANGE, the new administrator cannot use /admin before changing the password.',
        body: NewAdminSchema,
        response: { 200: Envelope(AdminAccountSchema) }
      },
      config: { credential: 'administrator', errors: [...WRITE_ERRORS, 'ADMIN_EXISTS'] }
    },
    async ({ adminCaller, body }) => ok(await admins.create(adminCaller, body))
  )

  fastify.put(
    '/:id',
    {
      schema: {
        operationId: 'updateAdmin',
        tags,
        summary: 'Change an administrator',
        description:
          'A new password ends all sessions of this administrator and sets `mustChangePassword`. Change your own password with PUT /auth/password.',
        params: IdParamsSchema,
        body: AdminChangesSchema,
        response: { 200: OkSchema }
      },
      config: { credential: 'administrator', errors: [...WRITE_ERRORS, 'ADMIN_NOT_FOUND', 'OWN_PASSWORD'] }
    },
    async ({ adminCaller, params, body }) => {
      await admins.update(adminCaller, params.id, body)
      return done()
    }
  )

  fastify.delete(
    '/:id',
    {
      schema: {
        operationId: 'deleteAdmin',
        tags,
        summary: 'Delete an administrator',
        description: 'Ends all sessions of this administrator. The last administrator cannot be deleted.',
        params: IdParamsSchema,
        response: { 200: OkSchema }
      },
      config: { credential: 'administrator', errors: [...WRITE_ERRORS, 'ADMIN_NOT_FOUND', 'LAST_ADMIN'] }
    },
    async ({ adminCaller, params }) => {
      await admins.remove(adminCaller, params.id)
      return done()
    }
  )
}

export default adminRoutes
