import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { type AdminService, createAdminService } from '../../services/accounts/admins.ts'
import { createCredentials } from '../../services/accounts/credentials.ts'
import { createPasswords, type HashingCost, type VerifyPassword } from '../../services/accounts/passwords.ts'
import { createSessionService, type SessionService } from '../../services/accounts/sessions.ts'
import { createReadiness, type Readiness } from '../../services/engine/readiness.ts'
import { createExportService, type ExportService } from '../../services/records/export.ts'
import { createRecordService, type RecordService } from '../../services/records/records.ts'
import { createTotals } from '../../services/records/totals.ts'
import { createViews, type Views } from '../../services/records/view.ts'
import { createTableRegistry } from '../../services/tables/registry.ts'
import { createTableService, type TableService } from '../../services/tables/tables.ts'
import { createTokenService, type TokenService } from '../../services/tokens/tokens.ts'

declare module 'fastify' {
  interface FastifyInstance {
    tables: TableService
    views: Views
    records: RecordService
    exports: ExportService
    admins: AdminService
    sessions: SessionService
    tokens: TokenService
    readiness: Readiness
  }
}

interface ServicesOptions {
  readonly hashingCost?: HashingCost | undefined
  readonly verifyPassword?: VerifyPassword | undefined
}

const RELOAD_RETRY_MS = 1000

/**
 * What is remembered follows what other programs commit. However often they do, it is read anew once at a time, and
 * once more where they did meanwhile. A failure is tried again, and ends no process.
 */
const keepInStep = (fastify: FastifyInstance, reload: () => Promise<unknown>) => {
  let retry: NodeJS.Timeout | undefined
  let isClosed = false
  let isRunning = false
  let isStale = false
  const run = async () => {
    clearTimeout(retry)
    isStale = true
    if (isRunning) return
    isRunning = true
    try {
      while (isStale && !isClosed) {
        isStale = false
        await reload()
      }
    } catch (error) {
      fastify.log.error({ err: error }, 'Tables and tokens could not be read anew; trying again.')
      retry = setTimeout(run, RELOAD_RETRY_MS).unref()
    } finally {
      isRunning = false
    }
  }
  fastify.database.onExternalCommit(run)
  // The database closes after this, and its last batch notices commits as well.
  fastify.addHook('onClose', async () => {
    isClosed = true
    clearTimeout(retry)
  })
}

/** Constructs the domain: each service over what it needs, in the order in which they need each other. */
export default fp<ServicesOptions>(
  async (fastify, { hashingCost, verifyPassword }) => {
    const { config, clock, database: db } = fastify
    const registry = createTableRegistry(db)
    const totals = createTotals({ db, isCountable: registry.isCountable })
    const credentials = createCredentials(createPasswords(hashingCost, verifyPassword))

    const tables = createTableService({ db, registry, clock })
    const maxPageSize = config.MAX_PAGE_SIZE
    fastify.decorate('tables', tables)
    fastify.decorate('views', createViews(db.dialect))
    fastify.decorate(
      'records',
      createRecordService({ db, clock, totals, hasTriggers: registry.hasTriggers, maxPageSize })
    )
    fastify.decorate('exports', createExportService({ db, maxPageSize }))
    const tokens = createTokenService({ db, clock })
    fastify.decorate('tokens', tokens)
    fastify.decorate('sessions', createSessionService({ db, clock, credentials, ttl: config.SESSION_TTL }))

    const passwordMinLength = config.PASSWORD_MIN_LENGTH
    fastify.decorate('admins', createAdminService({ db, clock, credentials, passwordMinLength }))

    fastify.decorate('readiness', createReadiness({ db, clock }))

    const loadTables = async () => {
      for (const { name, problem } of await registry.load())
        fastify.log.error(
          { table: name, problem },
          'A table of the registry is unusable: unregister and import it again.'
        )
    }
    const load = () => Promise.all([loadTables(), tokens.load()])
    await load()
    db.onExternalCommit(totals.clear)
    keepInStep(fastify, load)
  },
  { name: 'services', dependencies: ['database'] }
)
