import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { done, Envelope, IdParamsSchema, OkSchema, ok } from '../../schemas/envelope.ts'
import { IssuedTokenSchema, NewTokenSchema, TokenChangesSchema, TokenSchema } from '../../schemas/token.ts'

const tags = ['tokens']

const tokenRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { tokens } = fastify

  fastify.get(
    '',
    {
      schema: {
        operationId: 'listTokens',
        tags,
        summary: 'List the access tokens',
        response: { 200: Envelope(Type.Array(TokenSchema)) }
      }
    },
    async () => ok(tokens.list())
  )

  fastify.post(
    '',
    {
      schema: {
        operationId: 'issueToken',
        tags,
        summary: 'Issue an access token',
        description: 'The answer shows the secret, once. Keep it: only its digest is stored.',
        body: NewTokenSchema,
        response: { 200: Envelope(IssuedTokenSchema) }
      }
    },
    async ({ body }) => ok(await tokens.issue(body))
  )

  fastify.put(
    '/:id',
    {
      schema: {
        operationId: 'changeToken',
        tags,
        summary: 'Change an access token',
        description: 'Only what is sent changes, from the very next request on.',
        params: IdParamsSchema,
        body: TokenChangesSchema,
        response: { 200: OkSchema }
      }
    },
    async ({ params, body }) => {
      await tokens.change(params.id, body)
      return done()
    }
  )

  fastify.delete(
    '/:id',
    {
      schema: {
        operationId: 'revokeToken',
        tags,
        summary: 'Revoke an access token',
        params: IdParamsSchema,
        response: { 200: OkSchema }
      }
    },
    async ({ params }) => {
      await tokens.revoke(params.id)
      return done()
    }
  )
}

export default tokenRoutes
