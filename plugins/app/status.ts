import fp from 'fastify-plugin'
import type { Status } from '../../schemas/status.ts'
import { API_VERSION } from '../../services/model/version.ts'

declare module 'fastify' {
  interface FastifyInstance {
    readStatus(): Promise<Status>
  }
}

/** Counts requests, and reads what administrators see of the state of the service. */
export default fp(
  async (fastify) => {
    const { clock, database, errorCounts, server, slowScans } = fastify
    const startedAt = clock()
    let received = 0
    // A hook of Fastify would cost more for each request.
    server.on('request', () => {
      received += 1
    })

    fastify.decorate('readStatus', async () => {
      const { database: databaseBytes, wal: walBytes } = await database.fileSizes()
      return {
        version: API_VERSION,
        startedAt,
        databaseBytes,
        walBytes,
        requests: { received, ...errorCounts },
        slowScans: [...slowScans]
      }
    })
  },
  { name: 'status', dependencies: ['services', 'errors'] }
)
