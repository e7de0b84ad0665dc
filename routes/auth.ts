import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AdminSchema, LoginResultSchema, LoginSchema, PasswordChangeSchema } from '../schemas/admin.ts'
import { done, Envelope, OkSchema, ok } from '../schemas/envelope.ts'

const tags = ['auth']

/** Bytes, for those who have no session yet: the longest name and password, each character of them escaped, fit in. */
const LARGEST_LOGIN = 32 * 1024

/** Open to administrators who still have to change their password: these routes are how they do it. */
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
          'Sets the session cookie. Ten failures in 15 minutes from an address close the name to it for a while.',
        body: LoginSchema,
        response: { 200: Envelope(LoginResultSchema) }
      },
      bodyLimit: Math.min(LARGEST_LOGIN, config.BODY_LIMIT)
    },
    async ({ body, ip }, reply) => {
      const session = await sessions.logIn(body, ip)
      reply.setSessionCookie(session)
      return ok({ admin: session.admin, mustChangePassword: session.admin.mustChangePassword })
    }
  )

  fastify.get(
    '/me',
    {
      schema: {
        operationId: 'readMe',
        tags,
        summary: 'Read one’s own account',
        response: { 200: Envelope(AdminSchema) }
      },
      onRequest: authenticateAdmin
    },
    async ({ admin }) => ok(admin)
  )

  fastify.put(
    '/password',
    {
      schema: {
        operationId: 'changeMyPassword',
        tags,
        summary: 'Change one’s own password',
        description: 'Ends every other session of the administrator.',
        body: PasswordChangeSchema,
        response: { 200: OkSchema }
      },
      onRequest: authenticateAdmin
    },
    async ({ session, body, ip }) => {
      await admins.changeOwnPassword(body, { session, address: ip })
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
        description: 'Ends the session, wherever its cookie may have been copied to.',
        response: { 200: OkSchema }
      },
      onRequest: authenticateAdmin
    },
    async ({ session }, reply) => {
      await sessions.end(session.id)
      reply.clearSessionCookie()
      return done()
    }
  )
}

export default authRoutes
