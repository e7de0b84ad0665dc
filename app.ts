import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { Config } from './config.ts'
import adminKeyAuth from './plugins/app/admin-key-auth.ts'
import audit from './plugins/app/audit.ts'
import backups from './plugins/app/backups.ts'
import catchUp from './plugins/app/catch-up.ts'
import webConsole from './plugins/app/console.ts'
import database, { type Opening, startOpening } from './plugins/app/database.ts'
import declarations from './plugins/app/declarations.ts'
import health from './plugins/app/health.ts'
import home from './plugins/app/home.ts'
import logLevel from './plugins/app/log-level.ts'
import metrics from './plugins/app/metrics.ts'
import metricsListener from './plugins/app/metrics-listener.ts'
import metricsRoute from './plugins/app/metrics-route.ts'
import openapi from './plugins/app/openapi.ts'
import retryKeys from './plugins/app/retry-keys.ts'
import retryPurge from './plugins/app/retry-purge.ts'
import services from './plugins/app/services.ts'
import session from './plugins/app/session.ts'
import status from './plugins/app/status.ts'
import tokenAuth from './plugins/app/token-auth.ts'
import tokenUsePurge from './plugins/app/token-use-purge.ts'
import typedDocuments from './plugins/app/typed-documents.ts'
import unusedHeaders from './plugins/app/unused-headers.ts'
import allowedMethods from './plugins/http/allowed-methods.ts'
import caller from './plugins/http/caller.ts'
import errors, { onClientError, onFrameworkError } from './plugins/http/errors.ts'
import { createLogController } from './plugins/http/logging.ts'
import pendingRequests from './plugins/http/pending-requests.ts'
import { createRequestIds } from './plugins/http/request-id.ts'
import { compilers } from './plugins/http/schema-compilers.ts'
import security from './plugins/http/security.ts'
import validation from './plugins/http/validation.ts'
import admin from './routes/admin/area.ts'
import auth from './routes/auth.ts'
import data from './routes/data/area.ts'
import type { FirstAdmin } from './services/accounts/admins.ts'
import type { HashingCost, VerifyPassword } from './services/accounts/passwords.ts'
import type { Clock } from './services/model/clock.ts'
import { createSettings, type Settings } from './services/settings/settings.ts'
import { MAX_KEY_LENGTH } from './services/sql/keys.ts'

export interface AppOptions {
  readonly config: Config
  readonly logger?: FastifyServerOptions['logger']
  /** true: the log keeps its level when the setting changes. */
  readonly keepsLogLevel?: boolean
  /** Returns epoch milliseconds. Tests replace it. */
  readonly clock?: Clock
  /** The cost of hashing a password. Tests use a low one. */
  readonly hashingCost?: HashingCost
  /** Verifies passwords in another process. */
  readonly verifyPassword?: VerifyPassword
  /** false: does not create the first administrator. */
  readonly createsFirstAdmin?: boolean
  /** Called when the engine has failed. The process should end then. */
  readonly onDeath: (cause: Error) => void
  /** The database, if the process has already started to open it. */
  readonly opening?: Opening
}

/** Bytes of the request line and the headers. A percent-encoded character of a key takes up to nine bytes. */
const MAX_HEAD_BYTES = 9 * MAX_KEY_LENGTH + 16 * 1024
const REQUEST_TIMEOUT_MS = 60_000
/** Closes a connection without traffic. Longer than a scan may take: no byte of its response is sent before its end. */
const STALL_TIMEOUT_MS = 120_000

const createServer = ({ config, logger }: AppOptions) =>
  Fastify({
    ...(logger !== undefined && { logger }),
    logController: createLogController(config.ACCESS_LOG),
    genReqId: createRequestIds(config.TRUST_PROXY),
    bodyLimit: config.BODY_LIMIT,
    trustProxy: config.TRUST_PROXY === '' ? false : config.TRUST_PROXY,
    routerOptions: { maxParamLength: MAX_KEY_LENGTH },
    http: {
      maxHeaderSize: MAX_HEAD_BYTES,
      headersTimeout: REQUEST_TIMEOUT_MS - 1000,
      connectionsCheckingInterval: 5000,
      // plugins/http/security.ts requires the header, with an error in our envelope.
      requireHostHeader: false
    },
    schemaController: compilers,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: STALL_TIMEOUT_MS,
    // Serve requests that arrive during the close: Fastify's own 503 response is not in our envelope.
    return503OnClosing: false,
    frameworkErrors: onFrameworkError,
    clientErrorHandler: onClientError
  }).withTypeProvider<TypeBoxTypeProvider>()

type App = ReturnType<typeof createServer>

/** The only part of the service that reads or sets cookies. */
const administration = async (fastify: FastifyInstance) => {
  await fastify.register(session)
  await fastify.register(adminKeyAuth)
  await fastify.register(auth, { prefix: '/auth' })
  await fastify.register(admin, { prefix: '/admin' })
}

/** Registers all plugins and routes, in order. Returns the function that stores the first administrator. */
const register = async (app: App, opening: Opening, options: AppOptions) => {
  const { config, clock = Date.now, hashingCost, verifyPassword, createsFirstAdmin = true } = options
  const { ADMIN_NAME: name, ADMIN_PASSWORD: password } = config
  app.decorate('config', config)
  app.decorate('clock', clock)
  app.decorate('settings', createSettings(config))

  if (!options.keepsLogLevel) await app.register(logLevel)
  await app.register(pendingRequests)
  await app.register(errors, { createRequestId: createRequestIds(config.TRUST_PROXY) })
  await app.register(security)
  await app.register(validation)
  await app.register(allowedMethods)
  await app.register(database, { opening })
  await app.register(services, { hashingCost, verifyPassword })
  await app.register(catchUp)
  await app.register(backups)
  // A thread hashes the password while the other plugins are registered.
  const firstAdmin = createsFirstAdmin
    ? app.admins.prepareFirst({ name, ...(password !== undefined && { password }) })
    : Promise.resolve(async () => null)
  // Avoid an unhandled rejection: the promise is awaited at the end.
  firstAdmin.catch(() => {})
  await app.register(metrics)
  await app.register(caller)
  await app.register(retryKeys)
  await app.register(retryPurge)
  await app.register(tokenUsePurge)
  await app.register(audit)
  await app.register(unusedHeaders)
  await app.register(declarations)
  await app.register(openapi)
  await app.register(typedDocuments)
  await app.register(status)
  await app.register(home)
  await app.register(webConsole)
  await app.register(health)
  await app.register(metricsRoute)
  await app.register(metricsListener)

  await app.register(administration)
  await app.register(tokenAuth)
  await app.register(data, { prefix: '/data' })
  return firstAdmin
}

const assemble = async (app: App, opening: Opening, options: AppOptions) => {
  try {
    const storeFirstAdmin = await register(app, opening, options)
    app.decorate('firstAdmin', await storeFirstAdmin())
    return app
  } catch (error) {
    await app.close()
    throw error
  }
}

/**
 * Builds the service. It does not listen yet. The first administrator is stored last: if a later step failed, its
 * generated password would be lost.
 * @throws an Error with the reason if the service cannot start
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
    /** The current values of the settings that can change while the service runs. */
    settings: Settings
    clock: Clock
    /** The administrator created at this start; null if there was one already. */
    firstAdmin: FirstAdmin | null
  }
}
