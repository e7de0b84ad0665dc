import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  AdminKeyEnvelope,
  AdminKeysEnvelope,
  IssuedAdminKeyEnvelope,
  NewAdminKeySchema
} from '../../schemas/admin-key.ts'
import { AdminKeyIdParamsSchema, done, OkSchema, ok } from '../../schemas/envelope.ts'
import { WRITE_ERRORS } from '../../schemas/operation-errors.ts'

const tags = ['keys']

/** No route has a scope: a key must not issue keys. */
const adminKeyRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { adminKeys } = fastify

  fastify.get(
    '',
    {
      schema: {
        operationId: 'adminListKeys',
        tags,
        summary: 'List the admin keys',
        description: 'Lists all keys. Only the response to POST /admin/keys contains a secret.',
        response: { 200: AdminKeysEnvelope }
      },
      config: { credential: 'administrator', errors: [] }
    },
    async () => ok(adminKeys.list())
  )

  fastify.post(
    '',
    {
      schema: {
        operationId: 'adminIssueKey',
        tags,
        summary: 'Issue an admin key',
        description:
          'Scripts send the key as a bearer to /admin, instead of a session. Only this response contains the secret. Keep it: Rowhouse stores its hash only.',
        body: NewAdminKeySchema,
        response: { 200: IssuedAdminKeyEnvelope }
      },
      config: { credential: 'administrator', errors: WRITE_ERRORS }
    },
    async ({ caller, body }) => ok(await adminKeys.issue(caller, body))
  )

  fastify.get(
    '/:id',
    {
      schema: {
        operationId: 'adminReadKey',
        tags,
        summary: 'Read an admin key',
        description: 'Returns one key, in the form of the list, without its secret.',
        params: AdminKeyIdParamsSchema,
        response: { 200: AdminKeyEnvelope }
      },
      config: { credential: 'administrator', errors: ['ADMIN_KEY_NOT_FOUND'] }
    },
    async ({ params }) => ok(adminKeys.read(params.id))
  )

  fastify.delete(
    '/:id',
    {
      schema: {
        operationId: 'adminRevokeKey',
        tags,
        summary: 'Revoke an admin key',
        description: 'Deletes the key, with effect from the next request.',
        params: AdminKeyIdParamsSchema,
        response: { 200: OkSchema }
      },
      config: { credential: 'administrator', errors: [...WRITE_ERRORS, 'ADMIN_KEY_NOT_FOUND'] }
    },
    async ({ caller, params }) => {
      await adminKeys.revoke(caller, params.id)
      return done()
    }
  )
}

export default adminKeyRoutes
