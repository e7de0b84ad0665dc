import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  AdminEnvelope,
  AdminSessionsEnvelope,
  LoginEnvelope,
  LoginSchema,
  PasswordChangeSchema,
  SessionIdParamsSchema
} from '../schemas/admin.ts'
import { done, OkSchema, ok } from '../schemas/envelope.ts'
import { READ_ERRORS, WRITE_ERRORS } from '../schemas/operation-errors.ts'

const tags = ['auth']

/** A login needs no credential, so its body is small. The largest valid one fits, with each character escaped. */
const MAX_LOGIN_BYTES = 32 * 1024

/** Without `requirePasswordChange`: an administrator changes a required password here. */
const authRoutes: FastifyPluginAsyncTypebox = async (fastify) => {
  const { admins, sessions, authenticateAdmin, config } = fastify
  fastify.addHook('onRequest', fastify.refuseCrossSite)

  fastify.post(
    '/login',
    {
      schema: {
        operationId: 'logIn',
        tags,
        summary: 'Log in',
        description:
          'Sets the session cookie. After ten failed logins in 15 minutes with one name from one address, further ones get 429. On a full disk, the session ends when the service stops.',
        body: LoginSchema,
        response: { 200: LoginEnvelope }
      },
      config: {
        credential: 'none',
        errors: [...READ_ERRORS, 'OUTCOME_UNKNOWN', 'INVALID_CREDENTIALS', 'TOO_MANY_ATTEMPTS', 'CROSS_SITE_REQUEST']
      },
      bodyLimit: Math.min(MAX_LOGIN_BYTES, config.BODY_LIMIT)
    },
    async ({ caller, body, headers }, reply) => {
      const session = await sessions.logIn(caller, body, headers['user-agent'])
      reply.setSessionCookie(session)
      return ok({ admin: session.admin, mustChangePassword: session.admin.mustChangePassword })
    }
  )

  fastify.get(
    '/me',
    {
      schema: {
        operationId: 'readOwnAccount',
        tags,
        summary: 'Read your own account',
        description: 'Returns the administrator of the session.',
        response: { 200: AdminEnvelope }
      },
      config: { credential: 'session', errors: [] },
      onRequest: authenticateAdmin
    },
    async ({ session }) => ok(session.admin)
  )

  fastify.get(
    '/sessions',
    {
      schema: {
        operationId: 'listOwnSessions',
        tags,
        summary: 'List your own sessions',
        description:
          'Returns the sessions of your account that have not ended: the latest 100, the latest login first.',
        response: { 200: AdminSessionsEnvelope }
      },
      config: { credential: 'session', errors: READ_ERRORS },
      onRequest: authenticateAdmin
    },
    async ({ adminCaller }) => ok(await sessions.list(adminCaller))
  )

  fastify.delete(
    '/sessions/:id',
    {
      schema: {
        operationId: 'endOwnSession',
        tags,
        summary: 'End one of your own sessions',
        description: 'Logs out the browser or program that has opened the session.',
        params: SessionIdParamsSchema,
        response: { 200: OkSchema }
      },
      config: { credential: 'session', errors: [...WRITE_ERRORS, 'SESSION_NOT_FOUND'] },
      onRequest: authenticateAdmin
    },
    async ({ adminCaller, params }) => {
      await sessions.endOwn(adminCaller, params.id)
      return done()
    }
  )

  fastify.put(
    '/password',
    {
      schema: {
        operationId: 'changeOwnPassword',
        tags,
        summary: 'Change your own password',
        description: 'Ends all other sessions of the administrator.',
        body: PasswordChangeSchema,
        response: { 200: OkSchema }
      },
      config: { credential: 'session', errors: [...WRITE_ERRORS, 'WRONG_PASSWORD', 'TOO_MANY_ATTEMPTS'] },
      onRequest: authenticateAdmin
    },
    async ({ adminCaller, body }) => {
      await admins.changeOwnPassword(adminCaller, body)
      return done()
    }
  )

  fastify.post(
    '/logout',
    {
      schema: {
        operationId: 'logOut',
        tags,
        summary: 'Log out',
        description: 'Ends the session. Copies of its cookie are invalid from then on.',
        response: { 200: OkSchema }
      },
      config: { credential: 'session', errors: WRITE_ERRORS },
      onRequest: authenticateAdmin
    },
    async ({ adminCaller }, reply) => {
      await sessions.end(adminCaller)
      reply.clearSessionCookie()
      return done()
    }
  )
}

export default authRoutes
