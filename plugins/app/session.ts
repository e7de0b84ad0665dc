import cookie from '@fastify/cookie'
import jwt from '@fastify/jwt'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Admin } from '../../schemas/admin.ts'
import { assertSecret, readOrCreateSecret } from '../../services/accounts/secret.ts'
import { authenticationRequired, type Session } from '../../services/accounts/sessions.ts'
import type { Caller } from '../../services/model/caller.ts'
import { DomainError, overloaded } from '../../services/model/errors.ts'

/** What the cookie says. The session row, read on every request, has the last word. */
interface SessionClaims {
  readonly sub: string
  readonly jti: string
  /** Epoch seconds. */
  readonly iat: number
  readonly exp: number
  readonly iss: string
  readonly aud: string
}

type RequestHook = (request: FastifyRequest) => Promise<void>

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: SessionClaims
    user: SessionClaims
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** An onRequest hook: a live session, or 401. */
    authenticateAdmin: RequestHook
    /** The session that was alive still is, or 401. */
    confirmSession: RequestHook
    /** A preHandler hook: the same, where a body, an empty one too, may have been waited for. */
    confirmAdmin: RequestHook
    /** An onRequest hook, after `authenticateAdmin`: with REQUIRE_PASSWORD_CHANGE, the password is one's own. */
    requirePasswordChange: RequestHook
    /** An onRequest hook: what changes something does not come from a page of another site. */
    refuseCrossSite: RequestHook
  }
  interface FastifyRequest {
    /** The session of the cookie. @throws AUTHENTICATION_REQUIRED on routes without `authenticateAdmin`. */
    readonly session: Session
    /** The administrator of the session. @throws AUTHENTICATION_REQUIRED on routes without `authenticateAdmin`. */
    readonly admin: Admin
    /** The caller of service functions. @throws AUTHENTICATION_REQUIRED on routes without `authenticateAdmin`. */
    readonly caller: Caller
    [SESSION]: Session | null
  }
  interface FastifyReply {
    setSessionCookie(session: Session): void
    clearSessionCookie(): void
  }
}

const SESSION: unique symbol = Symbol('session')

const ISSUER = 'rowhouse'
const AUDIENCE = 'rowhouse-admin'
const REQUIRED_CLAIMS = ['sub', 'jti', 'iat', 'exp', 'iss', 'aud']
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])
/** What a browser says of requests from our own pages, and of those that the user made without a page. */
const OWN_SITES = new Set(['same-origin', 'none'])

const isSecure = ({ protocol }: FastifyRequest) => protocol === 'https'

/**
 * Browsers take a __Host- cookie over https only, for this very host, and let no other page set it (RFC 6265bis,
 * 4.1.3.2).
 */
const cookieName = (request: FastifyRequest) => (isSecure(request) ? '__Host-rowhouse_session' : 'rowhouse_session')

const cookieAttributes = (request: FastifyRequest) =>
  ({ httpOnly: true, sameSite: 'strict', path: '/', secure: isSecure(request) }) as const

const toClaims = ({ id, admin, issuedAt, expiresAt }: Session): SessionClaims => ({
  sub: String(admin.id),
  jti: id,
  iat: issuedAt,
  exp: expiresAt,
  iss: ISSUER,
  aud: AUDIENCE
})

/** Fetch Metadata where the browser sends it, else the Origin; programs that are no browsers send neither. */
const isCrossSite = ({ headers, protocol, host }: FastifyRequest) => {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return !OWN_SITES.has(String(site))
  return headers.origin !== undefined && headers.origin !== `${protocol}://${host}`
}

const crossSiteRequest = () =>
  new DomainError('CROSS_SITE_REQUEST', 'A page of another site may not send this request.', {
    hint: 'An origin that may is listed in CORS_ORIGIN. Behind a proxy, set TRUST_PROXY.'
  })

const passwordChangeRequired = () =>
  new DomainError('PASSWORD_CHANGE_REQUIRED', 'The password has to be changed first.', { hint: 'PUT /auth/password.' })

export default fp(
  async (fastify) => {
    const { config, clock, sessions } = fastify
    const allowedOrigins = new Set(config.CORS_ORIGIN)
    if (config.JWT_SECRET !== undefined) assertSecret(config.JWT_SECRET, 'JWT_SECRET')

    await fastify.register(cookie)
    await fastify.register(jwt, {
      secret: config.JWT_SECRET ?? readOrCreateSecret(config.DATA_DIR),
      sign: { algorithm: 'HS256' },
      verify: {
        algorithms: ['HS256'],
        requiredClaims: REQUIRED_CLAIMS,
        allowedIss: ISSUER,
        allowedAud: AUDIENCE,
        onlyCookie: true,
        extractToken: (request) => request.cookies[cookieName(request)]
      }
    })

    fastify.decorateRequest(SESSION, null)
    fastify.decorateRequest('session', {
      getter() {
        if (!this[SESSION]) throw authenticationRequired()
        return this[SESSION]
      }
    })
    fastify.decorateRequest('admin', {
      getter() {
        return this.session.admin
      }
    })

    const verifyCookie = (request: FastifyRequest): Promise<SessionClaims> =>
      request.jwtVerify<SessionClaims>({ clockTimestamp: clock() }).catch(() => {
        throw authenticationRequired()
      })

    fastify.decorate('authenticateAdmin', async (request) => {
      const { jti, sub } = await verifyCookie(request)
      const session = await sessions.find(String(jti))
      if (session?.admin.id !== Number(sub)) throw authenticationRequired()
      request[SESSION] = session
    })

    const confirmSession = async (request: FastifyRequest) => {
      request[SESSION] = await sessions.find(request.session.id)
      if (!request[SESSION]) throw authenticationRequired()
    }

    fastify.decorate('confirmSession', confirmSession)

    fastify.decorateRequest('caller', {
      getter(): Caller {
        const { id, name } = this.admin
        const confirm = async () => {
          if (this.socket.destroyed) throw overloaded('The connection has gone.', 1)
          await confirmSession(this)
        }
        return { kind: 'admin', id, name, requestId: this.id, address: this.ip, confirm }
      }
    })

    fastify.decorate('confirmAdmin', async (request) => {
      if (!SAFE_METHODS.has(request.method)) await confirmSession(request)
    })

    fastify.decorate('requirePasswordChange', async ({ admin }) => {
      if (config.REQUIRE_PASSWORD_CHANGE && admin.mustChangePassword) throw passwordChangeRequired()
    })

    fastify.decorate('refuseCrossSite', async (request) => {
      const { method, headers } = request
      if (SAFE_METHODS.has(method) || (headers.origin && allowedOrigins.has(headers.origin))) return
      if (isCrossSite(request)) throw crossSiteRequest()
    })

    fastify.decorateReply('setSessionCookie', function (this: FastifyReply, session: Session) {
      const { request, server } = this
      const maxAge = session.expiresAt - session.issuedAt
      this.setCookie(cookieName(request), server.jwt.sign(toClaims(session)), { ...cookieAttributes(request), maxAge })
    })

    fastify.decorateReply('clearSessionCookie', function (this: FastifyReply) {
      this.clearCookie(cookieName(this.request), cookieAttributes(this.request))
    })
  },
  { name: 'session', dependencies: ['services'] }
)
