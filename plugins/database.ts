import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import type { Database } from '../services/database/database.ts'
import { openDatabase } from '../services/database/open.ts'

declare module 'fastify' {
  interface FastifyInstance {
    database: Database
  }
}

export interface DatabasePluginOptions {
  readonly config: Config
  readonly onDeath: (cause: Error) => void
}

/** Up to so many open connections, gathering the reads of a turn costs more than it saves (docs/architecture.md). */
const QUIET_CONNECTIONS = 2

export default fp<DatabasePluginOptions>(
  async (fastify, { config, onDeath }) => {
    let connections = 0
    fastify.server.on('connection', (socket) => {
      connections += 1
      socket.once('close', () => {
        connections -= 1
      })
    })

    mkdirSync(config.DATA_DIR, { recursive: true })
    const database = await openDatabase({
      file: config.DATABASE ?? join(config.DATA_DIR, 'rowhouse.db'),
      cacheSize: config.CACHE_SIZE,
      isQuiet: () => connections <= QUIET_CONNECTIONS,
      onDeath
    })
    fastify.decorate('database', database)
    fastify.addHook('onClose', () => database.close())
  },
  { name: 'database' }
)
