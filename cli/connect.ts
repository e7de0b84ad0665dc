import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { type Config, OWN_DATABASE, readConfig } from '../config.ts'
import { listenLocally, localSocketPath } from '../plugins/app/local-socket.ts'
import { createLocalClient, type LocalClient } from './local-client.ts'
import type { Terminal } from './terminal.ts'

/** Returns whether a service listens on the socket. */
const isListening = async (path: string) => {
  const socket = createConnection(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
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

/** Returns a client of the running service. @throws an Error if none listens */
export const connectToRunning = async ({ DATA_DIR }: Config): Promise<LocalClient> => {
  const path = localSocketPath(DATA_DIR)
  if (await isListening(path)) return createLocalClient(path, async () => {})
  throw new Error(`No service runs with the DATA_DIR ${DATA_DIR}. Start it with rowhouse serve.`)
}

/** @throws an Error: a command with a wrong DATA_DIR would create an empty database there */
const assertExists = ({ DATABASE, DATA_DIR }: Config) => {
  if (DATABASE !== undefined || existsSync(join(DATA_DIR, OWN_DATABASE))) return
  throw new Error(
    `There is no database in ${DATA_DIR}. Name it with --database FILE, or its directory with --data-dir.`
  )
}

/**
 * Starts the service in this process, on the local socket only. It takes the lock of the database, so no other service
 * can start until the command has ended.
 */
const serveLocally = async (config: Config): Promise<LocalClient> => {
  assertExists(config)
  // Loaded here: most commands find a running service.
  const { buildApp } = await import('../app.ts')
  // A request in flight fails then, and the command with it.
  const onDeath = process.emitWarning
  const app = await buildApp({ config, createsFirstAdmin: false, onDeath })
  const closeSocket = await listenLocally(app)
  return createLocalClient(localSocketPath(config.DATA_DIR), async () => {
    closeSocket()
    await app.close()
  })
}

/** Returns a client of the running service, or else of one that runs in this process. Close it in a `finally`. */
const connect = async (config: Config): Promise<LocalClient> => {
  const path = localSocketPath(config.DATA_DIR)
  return (await isListening(path)) ? createLocalClient(path, async () => {}) : serveLocally(config)
}

/** Runs a function with a client of the service. Commands that change something and those that read use the same way. */
export const withService = async <T>(config: Config, use: (client: LocalClient) => Promise<T>): Promise<T> => {
  const client = await connect(config)
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}
