import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyInstance, type FastifyServerOptions, LogController } from 'fastify'
import type { Config } from './config.ts'
import caller from './plugins/app/caller.ts'
import database, { type Opening, startOpening } from './plugins/app/database.ts'
import declarations from './plugins/app/declarations.ts'
import health from './plugins/app/health.ts'
import openapi from './plugins/app/openapi.ts'
import services from './plugins/app/services.ts'
import session from './plugins/app/session.ts'
import tokenAuth from './plugins/app/token-auth.ts'
import allowedMethods from './plugins/http/allowed-methods.ts'
import errors, { onClientError, onFrameworkError } from './plugins/http/errors.ts'
import pendingRequests from './plugins/http/pending-requests.ts'
import { compilers } from './plugins/http/schema-compilers.ts'
import security from './plugins/http/security.ts'
import validation from './plugins/http/validation.ts'
import admin from './routes/admin/area.ts'
import auth from './routes/auth.ts'
import data from './routes/data/area.ts'
import type { FirstAdmin } from './services/accounts/admins.ts'
import type { HashingCost, VerifyPassword } from './services/accounts/passwords.ts'
import type { Clock } from './services/model/clock.ts'
import { MAX_KEY_LENGTH } from './services/sql/keys.ts'

export interface AppOptions {
  readonly config: Config
  readonly logger?: FastifyServerOptions['logger']
  /** Time as the domain sees it; tests set it. */
  readonly clock?: Clock
  /** What a password costs to hash; tests hash cheaply. */
  readonly hashingCost?: HashingCost
  /** Checks passwords elsewhere than in this process. */
  readonly verifyPassword?: VerifyPassword
  /** Called when the engine has died and the process should end. */
  readonly onDeath: (cause: Error) => void
  /** The database, where the process has begun to open it before it came here. */
  readonly opening?: Opening
}

/** Bytes: percent-encoded, each character of a key may take nine; the rest is for headers. */
const LARGEST_HEAD = 9 * MAX_KEY_LENGTH + 16 * 1024
const REQUEST_TIMEOUT_MS = 60_000
/** For a connection on which nothing moves; longer than a search may take, whose answer is still being made. */
const STALL_TIMEOUT_MS = 120_000

const createServer = ({ config, logger }: AppOptions) =>
  Fastify({
    ...(logger !== undefined && { logger }),
    logController: new LogController({ disableRequestLogging: !config.ACCESS_LOG }),
    bodyLimit: config.BODY_LIMIT,
    trustProxy: config.TRUST_PROXY === '' ? false : config.TRUST_PROXY,
    routerOptions: { maxParamLength: MAX_KEY_LENGTH },
    http: {
      maxHeaderSize: LARGEST_HEAD,
      headersTimeout: REQUEST_TIMEOUT_MS - 1000,
      connectionsCheckingInterval: 5000,
      // Refused by plugins/http/security.ts, in the shape of every failure.
      requireHostHeader: false
    },
    schemaController: compilers,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: STALL_TIMEOUT_MS,
    // Requests that still arrive while the service stops are served; Fastify's own refusal has another shape.
    return503OnClosing: false,
    frameworkErrors: onFrameworkError,
    clientErrorHandler: onClientError
  }).withTypeProvider<TypeBoxTypeProvider>()

type App = ReturnType<typeof createServer>

/** Cookies are read, and set, nowhere else. */
const administration = async (fastify: FastifyInstance) => {
  await fastify.register(session)
  await fastify.register(auth, { prefix: '/auth' })
  await fastify.register(admin, { prefix: '/admin' })
}

/** The whole service on one screen: what is registered, in order. Gives the first administrator, about to be made. */
const register = async (app: App, opening: Opening, options: AppOptions) => {
  const { config, clock = Date.now, hashingCost, verifyPassword } = options
  const { ADMIN_NAME: name, ADMIN_PASSWORD: password } = config
  app.decorate('config', config)
  app.decorate('clock', clock)

  await app.register(pendingRequests)
  await app.register(errors)
  await app.register(security)
  await app.register(validation)
  await app.register(allowedMethods)
  await app.register(database, { opening })
  await app.register(services, { hashingCost, verifyPassword })
  // A thread hashes, while what remains is registered.
  const firstAdmin = app.admins.prepareFirst({ name, ...(password !== undefined && { password }) })
  // A refusal is for whoever waits for it, at the end; meanwhile nobody may.
  firstAdmin.catch(() => {})
  await app.register(caller)
  await app.register(declarations)
  await app.register(openapi)
  await app.register(health)

  await app.register(administration)
  await app.register(tokenAuth)
  await app.register(data, { prefix: '/data' })
  return firstAdmin
}

const assemble = async (app: App, opening: Opening, options: AppOptions) => {
  try {
    const makeFirstAdmin = await register(app, opening, options)
    app.decorate('firstAdmin', await makeFirstAdmin())
    return app
  } catch (error) {
    await app.close()
    throw error
  }
}

/**
 * Builds the service; it does not listen yet. The first administrator is made last: a password that was made up must
 * not be lost because a later step failed.
 * @throws an Error with the reason when it must not start
 */
export const buildApp = async (options: AppOptions) => {
  const { opening = startOpening(options) } = options
  try {
    return await assemble(createServer(options), opening, options)
  } catch (error) {
    await opening.abandon()
    throw error
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    config: Config
    clock: Clock
    /** The administrator made at this start; null where there was one already. */
    firstAdmin: FirstAdmin | null
  }
}
