import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { resolve } from 'node:path'
import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import { type Config, findMisspellings, logLevelOf, readConfig } from './config.ts'
import { startOpening } from './plugins/app/database.ts'
import { listenLocally } from './plugins/app/local-socket.ts'
import type { FirstAdmin } from './services/accounts/admins.ts'
import { describeUpgrade } from './services/backups/before-upgrade.ts'
import { serviceCaller } from './services/model/caller.ts'

/** Time for requests in flight to finish after SIGTERM. Then their connections are closed. */
const DRAIN_MS = 4000
/** Time for the whole shutdown. Then the process exits. */
const GRACE_MS = 9000
const IDLE_CHECK_MS = 50
/**
 * Maximum number of connections that wait to be accepted, if the system allows it. With Node's default of 511, some of
 * 2,000 simultaneous connections were reset.
 */
const BACKLOG = 4096

const print = (...lines: string[]) => process.stdout.write(`${lines.join('\n')}\n`)
const warn = (...lines: string[]) => process.stderr.write(`${lines.join('\n')}\n`)

const printFirstAdmin = ({ name, generatedPassword, isPasswordShort }: FirstAdmin, { PASSWORD_MIN_LENGTH }: Config) => {
  if (generatedPassword !== null) {
    print(
      '',
      'The first administrator. This is shown once:',
      `  name      ${name}`,
      `  password  ${generatedPassword}`,
      ''
    )
  }
  if (isPasswordShort) {
    warn(`ADMIN_PASSWORD is shorter than ${PASSWORD_MIN_LENGTH} characters. Change it: PUT /auth/password.`)
  }
}

/** Values of HOST that listen on every address of the machine. */
const ALL_ADDRESSES = ['0.0.0.0', '::']

/** Errors for a HOST that does not resolve, or that is an address of another machine. */
const WRONG_HOST = ['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL']

/** An address to listen at, and the setting of its port. */
interface Endpoint {
  readonly host: string
  readonly port: number
  readonly setting: 'PORT' | 'METRICS_PORT'
}

const endpointsOf = ({ HOST: host, PORT, METRICS_PORT }: Config): Endpoint[] => [
  { host, port: PORT, setting: 'PORT' },
  ...(METRICS_PORT === undefined ? [] : [{ host, port: METRICS_PORT, setting: 'METRICS_PORT' as const }])
]

const explainListenError = (error: NodeJS.ErrnoException, { host, port, setting }: Endpoint) => {
  const { code = '' } = error
  if (code === 'EADDRINUSE') {
    return new Error(`${host}:${port} is in use (EADDRINUSE). Set ${setting} to another port, or to 0 for a free one.`)
  }
  if (code === 'EACCES') {
    return new Error(`This user may not listen at ${host}:${port} (EACCES). Set ${setting} to 1024 or above, or to 0.`)
  }
  if (WRONG_HOST.includes(code)) return new Error(`HOST is ${host}, which is not an address of this machine (${code}).`)
  return error
}

/** Returns a server that listens. @throws an Error that says what to do */
const probe = async (endpoint: Endpoint) => {
  const { host, port } = endpoint
  const server = createServer().listen({ host, port })
  await once(server, 'listening').catch((error) => {
    throw explainListenError(error, endpoint)
  })
  return server
}

/** Listens at all addresses and stops, before the start creates or changes a file. @throws an Error that says what to do */
const assertCanListen = async (config: Config) => {
  const servers: Server[] = []
  for (const endpoint of endpointsOf(config)) servers.push(await probe(endpoint))
  for (const server of servers) {
    server.close()
    await once(server, 'close')
  }
}

/** Says if HOST opens the service to other machines. */
const scopeOf = ({ HOST }: Pick<Config, 'HOST'>) =>
  ALL_ADDRESSES.includes(HOST) ? '   (and at all other addresses of this machine)' : ''

const listenForMetrics = async ({ metricsListener, config }: FastifyInstance) => {
  if (metricsListener === null) return
  const address = await metricsListener.server.listen({ host: config.HOST, port: metricsListener.port })
  print(`Metrics for Prometheus: ${address}/metrics${scopeOf(config)}`)
}

const warnOfMisspellings = (env: NodeJS.ProcessEnv) => {
  for (const { name, setting } of findMisspellings(env))
    warn(`The environment variable ${name} is not a setting. Did you mean ${setting}?`)
}

/** Who can send requests to rqlite can read and change everything, also other files of its machine (ATTACH). */
const warnOfOpenCluster = ({ RQLITE_URLS, RQLITE_PASSWORD }: Config) => {
  if (RQLITE_URLS === undefined) return
  if (RQLITE_PASSWORD === undefined)
    warn('The cluster has no password. Start its nodes with -auth, and set RQLITE_USER and RQLITE_PASSWORD.')
  if (/http:/i.test(RQLITE_URLS))
    warn('The cluster is reached without TLS. On a network that is not yours alone, use https addresses and RQLITE_CA.')
}

type App = Awaited<ReturnType<typeof import('./app.ts').buildApp>>

/** Without the socket, only commands on this machine cannot reach the service. */
const openLocalSocket = (app: App) =>
  listenLocally(app).catch((error) => {
    app.log.warn({ err: error }, 'The local socket could not be opened. Commands cannot reach this service.')
    return () => {}
  })

const adoptAll = async (app: App) => {
  const adopted = await app.tables.adoptTables(serviceCaller, { names: ['*'] })
  const names = [adopted].flat().map(({ name }) => name)
  if (names.length > 0) print(`Adopted ${names.join(', ')}.`)
}

interface ServeOptions {
  /** Publishes all tables and views of the file that are not registered. */
  readonly adopts?: boolean
}

const start = async (env: NodeJS.ProcessEnv, { adopts = false }: ServeOptions) => {
  warnOfMisspellings(env)
  const config = readConfig(env)
  let reportDeath: (cause: Error) => unknown = (cause) => warn(`Rowhouse did not start: ${cause.message}`)
  const onDeath = (cause: Error) => {
    reportDeath(cause)
    // Requests in flight have failed with 503. Their responses are sent before the process exits.
    setTimeout(() => process.exit(1), 100)
  }
  warnOfOpenCluster(config)
  await assertCanListen(config)
  // The writer thread starts while other modules are loaded. That saves a fifth of a cold start.
  const opening = startOpening({ config, onDeath, onWarning: warn })
  const [{ buildApp }, { createVerifier }] = await Promise.all([
    import('./app.ts'),
    import('./services/accounts/verifier.ts')
  ])
  const logger = { level: logLevelOf(config), stream: process.stderr }
  const app = await buildApp({ config, logger, onDeath, opening, verifyPassword: createVerifier() })
  reportDeath = (cause) =>
    app.log.fatal({ err: cause }, 'The database engine has stopped. The process exits and must be restarted.')
  if (app.upgrade) print(describeUpgrade(app.upgrade))
  if (app.firstAdmin) printFirstAdmin(app.firstAdmin, config)
  if (adopts) await adoptAll(app)
  const closeLocalSocket = await openLocalSocket(app)
  const address = await app.listen({ host: config.HOST, port: config.PORT, backlog: BACKLOG })
  await listenForMetrics(app)

  closeWithGrace({ delay: GRACE_MS, logger: false }, async ({ err }) => {
    if (err) app.log.fatal({ err }, 'Uncaught error. The process exits.')
    closeLocalSocket()
    // `close` ends the connections that are idle now. Those that become idle later would stay open.
    const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS)
    const drain = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
    await app.close()
    clearInterval(idle)
    clearTimeout(drain)
  })

  // Printed last: who reads this line may send SIGTERM at once.
  if (config.RQLITE_URLS !== undefined)
    print(`The cluster is ${config.RQLITE_URLS}, other files are in ${resolve(config.DATA_DIR)}.`)
  if (config.DATABASE !== undefined)
    print(`The database is ${config.DATABASE}, other files are in ${resolve(config.DATA_DIR)}.`)
  print(`Rowhouse listens at ${address}   console: ${address}/console/${scopeOf(config)}`)
}

/** Serves until a signal ends the process. Exits with 1 and a message if the start fails. */
export const serve = async (env: NodeJS.ProcessEnv, options: ServeOptions = {}) => {
  try {
    await start(env, options)
  } catch (error) {
    warn(`Rowhouse did not start: ${(error as Error).message}`)
    // The exit also ends everything that was started, such as the writer thread.
    process.exit(1)
  }
}
