import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AdminAccountEnvelope, AdminAccountsEnvelope, AdminChangesSchema, NewAdminSchema } from '../../schemas/admin.ts'
import { AdminIdParamsSchema, done, OkSchema, ok } from '../../schemas/envelope.ts'
import { READ_ERRORS, WRITE_ERRORS } from '../../schemas/operation-errors.ts'

const tags = ['admins']

const adminRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { admins } = fastify

  fastify.get(
    '',
    {
      schema: {
        operationId: 'adminListAccounts',
        tags,
        summary: 'List the administrators',
        description: 'Lists all administrators, without their passwords.',
        response: { 200: AdminAccountsEnvelope }
      },
      config: { credential: 'administrator', errors: READ_ERRORS }
    },
    async () => ok(await admins.list())
  )

  fastify.post(
    '',
    {
      schema: {
        operationId: 'adminCreateAccount',
        tags,
        summary: 'Create an administrator',
        description:
          'Sets `mustChangePassword`. With REQUIRE_PASSWORD_CHANGE, the new administrator cannot use /admin before changing the password.',
        body: NewAdminSchema,
        response: { 200: AdminAccountEnvelope }
      },
      config: { credential: 'administrator', errors: [...WRITE_ERRORS, 'ADMIN_EXISTS'] }
    },
    async ({ administrator, body }) => ok(await admins.create(administrator, body))
  )

  fastify.get(
    '/:id',
    {
      schema: {
        operationId: 'adminReadAccount',
        tags,
        summary: 'Read an administrator',
        description: 'Returns one administrator, in the form of the list.',
        params: AdminIdParamsSchema,
        response: { 200: AdminAccountEnvelope }
      },
      config: { credential: 'administrator', errors: [...READ_ERRORS, 'ADMIN_NOT_FOUND'] }
    },
    async ({ params }) => ok(await admins.read(params.id))
  )

  fastify.put(
    '/:id',
    {
      schema: {
        operationId: 'adminUpdateAccount',
        tags,
        summary: 'Change an administrator',
        description:
          'A new password ends all sessions of this administrator and sets `mustChangePassword`. Change your own password with PUT /auth/password.',
        params: AdminIdParamsSchema,
        body: AdminChangesSchema,
        response: { 200: OkSchema }
      },
      config: { credential: 'administrator', errors: [...WRITE_ERRORS, 'ADMIN_NOT_FOUND', 'OWN_PASSWORD'] }
    },
    async ({ administrator, params, body }) => {
      await admins.update(administrator, params.id, body)
      return done()
    }
  )

  fastify.delete(
    '/:id',
    {
      schema: {
        operationId: 'adminDeleteAccount',
        tags,
        summary: 'Delete an administrator',
        description: 'Ends all sessions of this administrator. The last administrator cannot be deleted.',
        params: AdminIdParamsSchema,
        response: { 200: OkSchema }
      },
      config: { credential: 'administrator', errors: [...WRITE_ERRORS, 'ADMIN_NOT_FOUND', 'LAST_ADMIN'] }
    },
    async ({ administrator, params }) => {
      await admins.remove(administrator, params.id)
      return done()
    }
  )
}

export default adminRoutes
