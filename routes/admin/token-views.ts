import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ok, TokenIdParamsSchema } from '../../schemas/envelope.ts'
import { RECORD_READ_ERRORS, WRITE_ERRORS } from '../../schemas/operation-errors.ts'
import { ExplanationEnvelope, ExplanationRequestSchema } from '../../schemas/token-explanation.ts'
import { ViewEnvelope } from '../../schemas/token-view.ts'
import { scopeMissing } from '../../services/tokens/admin-keys.ts'

const tags = ['tokens']

/** What a token sees, for administrators. */
const tokenViewRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { explain, views } = fastify

  fastify.post(
    '/:id/explain',
    {
      schema: {
        operationId: 'adminExplainToken',
        tags,
        summary: 'Explain what a token may do',
        description:
          'Returns whether the token may perform an action on a table, which grant decides, and with which records and fields. With `key`, for which an admin key also needs `records:read`, also whether the token can use this record. Changes nothing.',
        params: TokenIdParamsSchema,
        body: ExplanationRequestSchema,
        response: { 200: ExplanationEnvelope }
      },
      config: {
        credential: 'administrator',
        scope: 'tokens',
        errors: [...RECORD_READ_ERRORS, 'TOKEN_NOT_FOUND', 'TABLE_NOT_FOUND']
      }
    },
    async ({ caller, params, body }) => {
      // It shows whether a record exists, also of a table that no token can read.
      if (body.key !== undefined && !caller.mayRead(body.table)) throw scopeMissing('records:read')
      return ok(await explain(caller, params.id, body))
    }
  )

  fastify.post(
    '/:id/view',
    {
      schema: {
        operationId: 'adminViewToken',
        tags,
        summary: 'See what a token sees',
        description:
          'Returns a bearer that reads in /data what the token reads, for ten minutes, and changes nothing. It ends with the token, and records no use of it.',
        params: TokenIdParamsSchema,
        response: { 200: ViewEnvelope }
      },
      config: { credential: 'administrator', scope: 'tokens', errors: [...WRITE_ERRORS, 'TOKEN_NOT_FOUND'] }
    },
    async ({ caller, params }) => ok(await views.issue(caller, params.id))
  )
}

export default tokenViewRoutes
