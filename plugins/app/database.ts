import { existsSync, mkdirSync } from 'node:fs'
import type { Server } from 'node:net'
import { join } from 'node:path'
import fp from 'fastify-plugin'
import type { Config } from '../../config.ts'
import type { Database } from '../../services/engine/database.ts'
import { openDatabase } from '../../services/engine/loop/open.ts'

declare module 'fastify' {
  interface FastifyInstance {
    database: Database
  }
}

interface OpeningOptions {
  readonly config: Config
  readonly onDeath: (cause: Error) => void
}

/** A database that is being opened in its thread. */
export interface Opening {
  readonly opened: Promise<Database>
  /** Reads are gathered by the number of connections that this server has. */
  readonly watch: (server: Server) => void
  /** Closes it, where the service that was to use it will not. */
  readonly abandon: () => Promise<void>
}

/** Up to so many open connections, gathering the reads of a turn costs more than it saves (docs/architecture.md). */
const QUIET_CONNECTIONS = 2

/** Where the database is. @throws where one that is there already is named, and is not: it would be made, empty. */
const fileOf = ({ DATABASE, DATA_DIR }: Config) => {
  if (DATABASE === undefined) return join(DATA_DIR, 'rowhouse.db')
  if (existsSync(DATABASE)) return DATABASE
  throw new Error(
    `DATABASE names ${DATABASE}, which does not exist. Correct the path, or leave DATABASE out: rowhouse.db is then made in DATA_DIR.`
  )
}

/** @throws where something else has the name, or it cannot be made */
const makeDirectory = (path: string) => {
  try {
    mkdirSync(path, { recursive: true })
  } catch (error) {
    throw new Error(`DATA_DIR names ${path}, which is no directory and cannot be made: ${(error as Error).message}.`)
  }
}

/**
 * Begins to open the database of this configuration, which need not be waited for at once.
 * @throws an Error with the reason when there is none to open
 */
export const startOpening = ({ config, onDeath }: OpeningOptions): Opening => {
  let connections = 0
  const watch = (server: Server) =>
    server.on('connection', (socket) => {
      connections += 1
      socket.once('close', () => {
        connections -= 1
      })
    })

  const file = fileOf(config)
  makeDirectory(config.DATA_DIR)
  const opened = openDatabase({
    file,
    cacheSize: config.CACHE_SIZE,
    walSize: config.WAL_SIZE,
    isQuiet: () => connections <= QUIET_CONNECTIONS,
    onDeath
  })
  const abandon = () =>
    opened.then(
      (database) => database.close(),
      () => {}
    )
  // A refusal is for whoever waits for the database; meanwhile nobody may.
  opened.catch(() => {})
  return { opened, watch, abandon }
}

export default fp<{ readonly opening: Opening }>(
  async (fastify, { opening }) => {
    const database = await opening.opened
    opening.watch(fastify.server)
    fastify.decorate('database', database)
    fastify.addHook('onClose', () => database.close())
  },
  { name: 'database' }
)
