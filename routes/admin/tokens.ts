import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { done, OkSchema, ok, TokenIdParamsSchema } from '../../schemas/envelope.ts'
import { WRITE_ERRORS } from '../../schemas/operation-errors.ts'
import { suggestName } from '../../schemas/similar-names.ts'
import {
  ChangedTokenEnvelope,
  IssuedTokenEnvelope,
  NewTokenSchema,
  type Permissions,
  RotatedTokenEnvelope,
  RotationSchema,
  type Token,
  TokenChangesSchema,
  TokenEnvelope,
  TokensEnvelope
} from '../../schemas/token.ts'
import { MAX_TOKENS, TokensQuerySchema } from '../../schemas/token-list.ts'
import { TokenUsesEnvelope } from '../../schemas/token-use.ts'
import { excerpt } from '../../services/model/errors.ts'
import { missingClaims } from '../../services/roles/claims.ts'
import { unknownTables } from '../../services/tokens/permissions.ts'

const tags = ['tokens']

const tokenRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { tokens, dailyUses, tables, roles } = fastify

  /** A path also finds a table by its client name. Permissions have only its stored name. */
  const suggestTable = (name: string) => {
    const named = tables.findByPath(name)?.name
    const names = tables.all().map((table) => table.name)
    return named === undefined ? suggestName(name, names) : `Did you mean '${named}'?`
  }

  /** Returns a sentence for each claim that the role of the token compares, and that the token does not have. */
  const claimWarnings = ({ role, claims }: Token) => {
    const grants = roles.list().flatMap((other) => (other.name === role ? other.grants : []))
    return missingClaims(grants, claims).map(
      (name) => `The role '${role}' compares the claim '${excerpt(name)}', which the token does not have.`
    )
  }

  const warningsFor = (id: number, permissions: Permissions | undefined) => {
    const isRegistered = (name: string) => tables.find(name) !== undefined
    const unknown = permissions ? unknownTables(permissions, isRegistered, suggestTable) : []
    const warnings = [...unknown, ...claimWarnings(tokens.read(id))]
    return warnings.length > 0 ? { warnings } : {}
  }

  fastify.get(
    '',
    {
      schema: {
        operationId: 'adminListTokens',
        tags,
        summary: 'List the access tokens',
        description:
          'Lists tokens, in the order of their ids. A page with fewer than `limit` tokens is the last one. Only the responses to POST /admin/tokens and POST /admin/tokens/{id}/rotate contain a secret.',
        querystring: TokensQuerySchema,
        response: { 200: TokensEnvelope }
      },
      config: { credential: 'administrator', scope: 'tokens', errors: [] }
    },
    async ({ query }) => ok(tokens.list({ limit: MAX_TOKENS, ...query }))
  )

  fastify.post(
    '',
    {
      schema: {
        operationId: 'adminIssueToken',
        tags,
        summary: 'Issue an access token',
        description: 'Only this response contains the secret. Keep it: Rowhouse stores its hash only.',
        body: NewTokenSchema,
        response: { 200: IssuedTokenEnvelope }
      },
      config: { credential: 'administrator', scope: 'tokens', errors: WRITE_ERRORS }
    },
    async ({ caller, body }) => {
      const issued = await tokens.issue(caller, body)
      return ok({ ...issued, ...warningsFor(issued.id, body.permissions) })
    }
  )

  fastify.get(
    '/:id',
    {
      schema: {
        operationId: 'adminReadToken',
        tags,
        summary: 'Read an access token',
        description: 'Returns one token, in the form of the list, without its secret.',
        params: TokenIdParamsSchema,
        response: { 200: TokenEnvelope }
      },
      config: { credential: 'administrator', scope: 'tokens', errors: ['TOKEN_NOT_FOUND'] }
    },
    async ({ params }) => ok(tokens.read(params.id))
  )

  fastify.get(
    '/:id/uses',
    {
      schema: {
        operationId: 'adminListTokenUses',
        tags,
        summary: 'List the uses of an access token by day',
        description:
          'Lists the days of the last 90 days, in UTC, on which the token was used, the latest first. Each service of a cluster adds its uses once a minute.',
        params: TokenIdParamsSchema,
        response: { 200: TokenUsesEnvelope }
      },
      config: { credential: 'administrator', scope: 'tokens', errors: ['TOKEN_NOT_FOUND'] }
    },
    async ({ params }) => ok(await dailyUses.list(tokens.read(params.id).id))
  )

  fastify.put(
    '/:id',
    {
      schema: {
        operationId: 'adminUpdateToken',
        tags,
        summary: 'Change an access token',
        description: 'Changes only the properties that are sent, with effect from the next request.',
        params: TokenIdParamsSchema,
        body: TokenChangesSchema,
        response: { 200: ChangedTokenEnvelope }
      },
      config: { credential: 'administrator', scope: 'tokens', errors: [...WRITE_ERRORS, 'TOKEN_NOT_FOUND'] }
    },
    async ({ caller, params, body }) => {
      await tokens.change(caller, params.id, body)
      return ok({ success: true as const, ...warningsFor(params.id, body.permissions) })
    }
  )

  fastify.post(
    '/:id/rotate',
    {
      schema: {
        operationId: 'adminRotateToken',
        tags,
        summary: 'Give an access token a new secret',
        description:
          'Only this response contains the new secret. The previous one is accepted until the overlap ends, so that programs can change to the new one. Another rotation ends the previous secret.',
        params: TokenIdParamsSchema,
        body: RotationSchema,
        response: { 200: RotatedTokenEnvelope }
      },
      config: { credential: 'administrator', scope: 'tokens', errors: [...WRITE_ERRORS, 'TOKEN_NOT_FOUND'] }
    },
    async ({ caller, params, body }) => ok(await tokens.rotate(caller, params.id, body.overlapSeconds))
  )

  fastify.delete(
    '/:id',
    {
      schema: {
        operationId: 'adminRevokeToken',
        tags,
        summary: 'Revoke an access token',
        description: 'Deletes the token, with effect from the next request.',
        params: TokenIdParamsSchema,
        response: { 200: OkSchema }
      },
      config: { credential: 'administrator', scope: 'tokens', errors: [...WRITE_ERRORS, 'TOKEN_NOT_FOUND'] }
    },
    async ({ caller, params }) => {
      await tokens.revoke(caller, params.id)
      return done()
    }
  )
}

export default tokenRoutes
