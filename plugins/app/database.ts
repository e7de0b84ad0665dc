import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmdirSync, statSync } from 'node:fs'
import type { Server } from 'node:net'
import { dirname, resolve } from 'node:path'
import fp from 'fastify-plugin'
import { backupDirectoryOf, type Config, databaseOf, nodesOf } from '../../config.ts'
import { checkSecret } from '../../services/accounts/secret.ts'
import { type BackedUpgrade, backUpBeforeUpgrade } from '../../services/backups/before-upgrade.ts'
import type { Database } from '../../services/engine/database.ts'
import { openDatabase } from '../../services/engine/loop/open.ts'
import { stagingDirectory } from '../../services/engine/loop/staging-files.ts'
import { readPublicKey } from '../../services/tokens/jwt-keys.ts'

declare module 'fastify' {
  interface FastifyInstance {
    database: Database
    /** The migration of this start; null if there was none, or nothing to back up. */
    upgrade: BackedUpgrade | null
  }
}

interface OpeningOptions {
  readonly config: Config
  readonly onDeath: (cause: Error) => void
  /** Called with a sentence about settings that work, but should be corrected. */
  readonly onWarning?: (message: string) => void
}

/** A database that is being opened. */
export interface Opening {
  readonly opened: Promise<Database>
  /** Returns the migration that was done; null without one. */
  readonly upgrade: () => BackedUpgrade | null
  /** Counts the connections of this server. With more than a few, reads run in batches. */
  readonly watch: (server: Server) => void
  /** Closes the database if the start failed before a service used it. */
  readonly abandon: () => Promise<void>
}

/** Up to this number of open connections, reads run at once: read batches would cost more than they save. */
const MAX_QUIET_CONNECTIONS = 2

const assertExists = (database: string) => {
  try {
    statSync(database)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(
      code === 'ENOENT'
        ? `DATABASE names ${database}, which does not exist. Correct the path. Without DATABASE, the service creates rowhouse.db in DATA_DIR.`
        : `DATABASE names ${database}, which cannot be read: ${message}.`
    )
  }
}

/** Returns the path of the database. @throws if DATABASE does not exist: opening it would create an empty one */
const fileOf = (config: Config) => {
  if (config.DATABASE !== undefined) assertExists(config.DATABASE)
  return databaseOf(config)
}

/** Removes the directory and those above it, up to `first`. Stops at one that is not empty. */
const removeEmpty = (directory: string, first: string) => {
  if (readdirSync(directory).length > 0) return
  rmdirSync(directory)
  if (directory !== first) removeEmpty(dirname(directory), first)
}

/**
 * Creates the directory, and returns a function that removes the empty directories that were created.
 * @throws if the path is a file, or the directory cannot be created
 */
const createDirectory = (path: string) => {
  const directory = resolve(path)
  try {
    const first = mkdirSync(directory, { recursive: true })
    return () => {
      if (first !== undefined) removeEmpty(directory, resolve(first))
    }
  } catch (error) {
    throw new Error(
      `DATA_DIR names ${path}, which is not a directory and cannot be created: ${(error as Error).message}.`
    )
  }
}

const assertUsable = (directory: string) => {
  const { R_OK, W_OK, X_OK } = constants
  try {
    // `/.` fails if the path is a file.
    accessSync(`${directory}/.`, R_OK | W_OK | X_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(
      `${directory} is not a directory in which this user can write (${code}). Give it the permission, or set DATA_DIR to another directory.`
    )
  }
}

/** Checks the secret and the directories before the database is opened. Returns the function of `createDirectory`. */
const prepareDirectory = (config: Config) => {
  checkSecret(config)
  if (config.JWT_PUBLIC_KEY_FILE !== undefined) readPublicKey(config.JWT_PUBLIC_KEY_FILE)
  const removeDirectory = createDirectory(config.DATA_DIR)
  for (const path of [config.DATA_DIR, stagingDirectory(config.DATA_DIR)]) if (existsSync(path)) assertUsable(path)
  return removeDirectory
}

/**
 * Starts to open the database of this configuration, without waiting for it.
 * @throws an Error if the configuration names no usable file or directory
 */
export const startOpening = ({ config, onDeath, onWarning }: OpeningOptions): Opening => {
  let connections = 0
  const watch = (server: Server) =>
    server.on('connection', (socket) => {
      connections += 1
      socket.once('close', () => {
        connections -= 1
      })
    })

  const file = fileOf(config)
  const removeDirectory = prepareDirectory(config)
  let upgrade: BackedUpgrade | null = null
  const { RQLITE_URLS, RQLITE_USER, RQLITE_PASSWORD, RQLITE_CA } = config
  const openServedFile = () =>
    openDatabase({
      file,
      dataDirectory: config.DATA_DIR,
      cacheSize: config.CACHE_SIZE,
      walSize: config.WAL_SIZE,
      isQuiet: () => connections <= MAX_QUIET_CONNECTIONS,
      onDeath,
      beforeUpgrade: async (started) => {
        const path = backupDirectoryOf(config)
        upgrade = await backUpBeforeUpgrade(started, { path, servedFile: databaseOf(config) })
      }
    })
  /** Only a cluster needs the client of rqlite. */
  const openNodes = async (urls: string) => {
    const { openCluster } = await import('../../services/engine/rqlite/open.ts')
    return openCluster({
      urls: nodesOf(urls),
      user: RQLITE_USER,
      password: RQLITE_PASSWORD,
      caFile: RQLITE_CA,
      dataDirectory: config.DATA_DIR,
      onWarning
    })
  }
  const opened = RQLITE_URLS === undefined ? openServedFile() : openNodes(RQLITE_URLS)
  const abandon = () =>
    opened.then(
      (database) => database.close(),
      () => {}
    )
  // Removes the new directory if the database is refused. The start awaits `opened` later, and fails there.
  opened.catch(removeDirectory)
  return { opened, upgrade: () => upgrade, watch, abandon }
}

export default fp<{ readonly opening: Opening }>(
  async (fastify, { opening }) => {
    const database = await opening.opened
    opening.watch(fastify.server)
    fastify.decorate('database', database)
    fastify.decorate('upgrade', opening.upgrade())
    fastify.addHook('onClose', () => database.close())
  },
  { name: 'database' }
)
