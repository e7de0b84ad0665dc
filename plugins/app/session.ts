import cookie from '@fastify/cookie'
import jwt from '@fastify/jwt'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { originsOf } from '../../config.ts'
import { readSecret } from '../../services/accounts/secret.ts'
import {
  authenticationRequired,
  type Session,
  sessionRequired,
  twoCredentials
} from '../../services/accounts/sessions.ts'
import { type AdminCaller, type Administrator, type LocalCaller, serviceCaller } from '../../services/model/caller.ts'
import { DomainError, disconnected } from '../../services/model/errors.ts'
import { adminKeyOf } from '../../services/tokens/admin-keys.ts'
import { CALLER } from '../http/caller.ts'
import { clientSignalOf } from '../http/client-signal.ts'
import { isLocal } from '../http/local-connections.ts'

/** The claims of the cookie's JWT. The session's row, read on every request, decides. */
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
    /** An onRequest hook: requires a session, or a connection to the local socket, else 401. */
    authenticateAdmin: RequestHook
    /** A preHandler hook: reads the session again, because it may have ended while a slow body arrived. */
    confirmAdmin: RequestHook
    /** An onRequest hook, after `authenticateAdmin`: with REQUIRE_PASSWORD_CHANGE, refuses passwords set by others. */
    requirePasswordChange: RequestHook
    /** An onRequest hook: refuses changes that a page of another site sends. */
    refuseCrossSite: RequestHook
  }
  interface FastifyRequest {
    /** The session of the cookie. @throws AUTHENTICATION_REQUIRED on routes without `authenticateAdmin` */
    readonly session: Session
    /** The administrator of the session, as a caller. @throws AUTHENTICATION_REQUIRED without `authenticateAdmin` */
    readonly adminCaller: AdminCaller
    /** The administrator, or the operator of the machine. @throws as `adminCaller` does */
    readonly administrator: Administrator
    /** Whether the request has a session cookie, which may be invalid. */
    readonly hasSessionCookie: boolean
    /** The bearer that begins like an admin key; undefined without one, and on the local socket. */
    readonly adminKey: string | undefined
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
/** Values of Sec-Fetch-Site: a page of this service; no page, such as an address that the user has entered. */
const OWN_SITES = new Set(['same-origin', 'none'])

const isSecure = ({ protocol }: FastifyRequest) => protocol === 'https'

/** Browsers accept a __Host- cookie over https only, for exactly this host (RFC 6265bis, 4.1.3.2). */
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

/** Checks Fetch Metadata if the browser sends it, else the Origin. Programs other than browsers send neither. */
const isCrossSite = ({ headers, protocol, host }: FastifyRequest) => {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return !OWN_SITES.has(String(site))
  return headers.origin !== undefined && headers.origin !== `${protocol}://${host}`
}

const crossSiteRequest = () =>
  new DomainError('CROSS_SITE_REQUEST', 'This request comes from a page of another site.', {
    hint: 'Add the origin of the page to CORS_ORIGIN. Behind a proxy, set TRUST_PROXY.'
  })

const passwordChangeRequired = () =>
  new DomainError('PASSWORD_CHANGE_REQUIRED', 'Change your password first.', { hint: 'PUT /auth/password.' })

export default fp(
  async (fastify) => {
    const { config, settings, clock, sessions } = fastify
    let allowedOrigins = new Set(originsOf(settings.get('corsOrigins')))
    settings.onChange('corsOrigins', (list) => {
      allowedOrigins = new Set(originsOf(list))
    })

    await fastify.register(cookie)
    await fastify.register(jwt, {
      secret: readSecret(config),
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
    fastify.decorateRequest('adminCaller', {
      getter() {
        return adminCallerOf(this)
      }
    })

    fastify.decorateRequest('administrator', {
      getter() {
        return isLocal(this) ? localCallerOf(this) : adminCallerOf(this)
      }
    })

    fastify.decorateRequest('hasSessionCookie', {
      getter() {
        return this.cookies[cookieName(this)] !== undefined
      }
    })

    fastify.decorateRequest('adminKey', {
      getter() {
        return isLocal(this) ? undefined : adminKeyOf(this.headers.authorization)
      }
    })

    const confirmSession = async (request: FastifyRequest) => {
      request[SESSION] = await sessions.find(request.session.id)
      if (!request[SESSION]) throw authenticationRequired()
    }

    const adminCallerOf = (request: FastifyRequest): AdminCaller => ({
      kind: 'admin',
      id: request.session.admin.id,
      name: request.session.admin.name,
      sessionId: request.session.id,
      requestId: request.id,
      integers: 'auto',
      address: request.ip,
      clientSignal: clientSignalOf(request),
      confirm: async () => {
        if (request.socket.destroyed) throw disconnected()
        await confirmSession(request)
      },
      confirmRight: () => confirmSession(request),
      mayRead: () => true
    })

    /** Its right does not end: who can open the socket can open the file. */
    const localCallerOf = (request: FastifyRequest): LocalCaller => ({
      ...serviceCaller,
      kind: 'local',
      name: 'local',
      requestId: request.id,
      clientSignal: clientSignalOf(request)
    })

    const verifyCookie = (request: FastifyRequest): Promise<SessionClaims> =>
      request.jwtVerify<SessionClaims>({ clockTimestamp: clock() }).catch(() => {
        throw request.headers.authorization === undefined ? authenticationRequired() : sessionRequired()
      })

    const findSession = async (request: FastifyRequest) => {
      if (request.hasSessionCookie && request.adminKey !== undefined) throw twoCredentials()
      const { jti, sub } = await verifyCookie(request)
      const session = await sessions.find(String(jti))
      if (session?.admin.id !== Number(sub)) throw authenticationRequired()
      request[SESSION] = session
    }

    fastify.decorate('authenticateAdmin', async (request) => {
      if (!isLocal(request)) await findSession(request)
      request[CALLER] = request.administrator
    })

    fastify.decorate('confirmAdmin', async (request) => {
      if (!SAFE_METHODS.has(request.method) && !isLocal(request)) await confirmSession(request)
    })

    fastify.decorate('requirePasswordChange', async (request) => {
      if (!config.REQUIRE_PASSWORD_CHANGE || isLocal(request)) return
      if (request.session.admin.mustChangePassword) throw passwordChangeRequired()
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
  { name: 'session', dependencies: ['services', 'request-caller'] }
)
