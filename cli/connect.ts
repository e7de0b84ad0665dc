import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Config, databaseOf, readConfig } from '../config.ts'
import { checkFolder, listenLocally, localSocketPath } from '../plugins/app/local-socket.ts'
import { ALREADY_SERVED } from '../services/engine/writer/lock.ts'
import { createLocalClient, type LocalClient } from './local-client.ts'
import type { Terminal } from './terminal.ts'

const MISSING = ['ENOENT', 'ECONNREFUSED']

/** Returns whether a service listens on the socket. @throws an Error if this user may not open it */
const isListening = async (path: string) => {
  checkFolder(path)
  const socket = createConnection(path)
  const error = await once(socket, 'connect').then(
    () => null,
    (failure: NodeJS.ErrnoException) => failure
  )
  socket.destroy()
  if (error === null) return true
  const code = String(error.code)
  if (MISSING.includes(code)) return false
  throw new Error(`The socket ${path} of the service cannot be opened (${code}). Run the command as its user.`)
}

/** Options of commands that need the service. They have the names that commander gives them. */
export interface ServiceOptions {
  readonly database?: string
  readonly dataDir?: string
}

/** Returns the settings of a command. Options override variables. */
export const configOf = ({ env }: Terminal, { database, dataDir }: ServiceOptions): Config =>
  readConfig({
    ...env,
    ...(database !== undefined && { DATABASE: database }),
    ...(dataDir !== undefined && { DATA_DIR: dataDir })
  })

/** @throws an Error: a command with a wrong path would create an empty database there */
const assertExists = (config: Config) => {
  const file = databaseOf(config)
  if (config.RQLITE_URLS !== undefined || existsSync(file)) return
  throw new Error(`There is no database ${file}. Name it with --database FILE, or its directory with --data-dir.`)
}

/** Milliseconds. A service that does not respond in this time is not healthy. */
const HEALTH_TIMEOUT_MS = 5000

/** Returns a client of the running service. @throws an Error if none listens */
export const connectToRunning = async (config: Config): Promise<LocalClient> => {
  const path = localSocketPath(config)
  if (await isListening(path)) return createLocalClient(path, { timeout: HEALTH_TIMEOUT_MS })
  assertExists(config)
  const { RQLITE_URLS, DATA_DIR } = config
  const served = RQLITE_URLS === undefined ? databaseOf(config) : `${RQLITE_URLS} with the DATA_DIR ${DATA_DIR}`
  throw new Error(`No service runs for ${served}. Start it with rowhouse serve.`)
}

/** Starts the service in this process, without a listener. */
export const buildCommandApp = async (config: Config) => {
  // Loaded here: most commands find a running service.
  const { buildApp } = await import('../app.ts')
  const logger = { level: 'error', stream: process.stderr }
  // If the engine ends, a request in flight fails, and the command with it.
  const onDeath = process.emitWarning
  return buildApp({ config, logger, createsFirstAdmin: false, keepsLogLevel: true, onDeath })
}

/**
 * Starts the service in this process, on the local socket only. It takes the lock of the database, so no other service
 * can start until the command has ended.
 */
const startLocally = async (config: Config): Promise<LocalClient> => {
  const app = await buildCommandApp(config)
  try {
    const closeSocket = await listenLocally(app)
    const close = async () => {
      // Another command may have found this service.
      await closeSocket()
      await app.close()
    }
    return createLocalClient(localSocketPath(config), { close })
  } catch (error) {
    await app.close()
    throw error
  }
}

/** A cluster has no lock, so another service may start at any time. Its files must not be those of this one. */
const startForCluster = async (config: Config): Promise<LocalClient> => {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'rowhouse-command-'))
  const remove = () => rmSync(DATA_DIR, { recursive: true, force: true })
  try {
    const client = await startLocally({ ...config, DATA_DIR })
    return { ...client, close: () => client.close().finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}

const serveLocally = (config: Config) =>
  config.RQLITE_URLS === undefined ? startLocally(config) : startForCluster(config)

/** Milliseconds between two attempts to connect, and for all of them. */
const RETRY_MS = 100
const MAX_WAIT_MS = 10_000

/** A service that starts has the lock before its socket, and one that stops has it after. */
const isLocked = (error: unknown) => (error as NodeJS.ErrnoException).code === ALREADY_SERVED

/** Whether the socket has disappeared since `isListening`. */
const isGone = (error: unknown) => (error as NodeJS.ErrnoException).syscall === 'connect'

/** Returns a client of the running service, or else of one that runs in this process. Close it in a `finally`. */
const connect = async (config: Config, end = Date.now() + MAX_WAIT_MS): Promise<LocalClient> => {
  const path = localSocketPath(config)
  if (await isListening(path)) return createLocalClient(path)
  try {
    return await serveLocally(config)
  } catch (error) {
    if (!isLocked(error) || Date.now() > end) throw error
    await delay(RETRY_MS)
    return connect(config, end)
  }
}

const useService = async <T>(config: Config, use: (client: LocalClient) => Promise<T>): Promise<T> => {
  const client = await connect(config)
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}

/** Runs a function with a client of the service. Commands that change something and those that read use the same way. */
export const withService = async <T>(config: Config, use: (client: LocalClient) => Promise<T>): Promise<T> => {
  assertExists(config)
  return useService(config, use).catch((error) => {
    if (!isGone(error)) throw error
    // The service has stopped before it got a request.
    return withService(config, use)
  })
}
