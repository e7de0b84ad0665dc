import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { AdminAccountSchema, AdminChangesSchema, NewAdminSchema } from '../../schemas/admin.ts'
import { done, Envelope, IdParamsSchema, OkSchema, ok } from '../../schemas/envelope.ts'

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
      }
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
          'The new administrator is to change the password given here: `mustChangePassword` says so, and with REQUIRE_PASSWORD_CHANGE nothing else is open until then.',
        body: NewAdminSchema,
        response: { 200: Envelope(AdminAccountSchema) }
      }
    },
    async ({ body, session, ip }) => ok(await admins.create(body, { session, address: ip }))
  )

  fastify.put(
    '/:id',
    {
      schema: {
        operationId: 'updateAdmin',
        tags,
        summary: 'Change an administrator',
        description:
          'A password set here ends the sessions of its owner, who is to change it: see `createAdmin`. Your own is changed through PUT /auth/password.',
        params: IdParamsSchema,
        body: AdminChangesSchema,
        response: { 200: OkSchema }
      }
    },
    async ({ params, body, session, ip }) => {
      await admins.update(params.id, body, { session, address: ip })
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
        description: 'Ends the sessions of the administrator. The last one cannot be deleted.',
        params: IdParamsSchema,
        response: { 200: OkSchema }
      }
    },
    async ({ params, session, ip }) => {
      await admins.remove(params.id, { session, address: ip })
      return done()
    }
  )
}

export default adminRoutes
