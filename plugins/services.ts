import fp from 'fastify-plugin'
import { type AdminService, createAdminService } from '../services/admins.ts'
import { createCredentials } from '../services/credentials.ts'
import { createPasswords, type HashingCost } from '../services/passwords.ts'
import { createExportService, type ExportService } from '../services/records/export.ts'
import { createRecordService, type RecordService } from '../services/records/records.ts'
import { createTotals } from '../services/records/totals.ts'
import { createSessionService, type SessionService } from '../services/sessions.ts'
import { createTableRegistry } from '../services/tables/registry.ts'
import { createTableService, type TableService } from '../services/tables/tables.ts'
import { createTokenService } from '../services/tokens.ts'

declare module 'fastify' {
  interface FastifyInstance {
    tables: TableService
    records: RecordService
    exports: ExportService
    admins: AdminService
    sessions: SessionService
  }
}

export interface ServicesOptions {
  readonly hashingCost: HashingCost | undefined
}

const RELOAD_RETRY_MS = 1000

/** Constructs the domain: each service over what it needs, in the order in which they need each other. */
export default fp<ServicesOptions>(
  async (fastify, { hashingCost }) => {
    const { config, clock, database: db, log } = fastify
    const registry = createTableRegistry(db)
    const totals = createTotals({ db, isCountable: registry.isCountable })
    const credentials = createCredentials(createPasswords(hashingCost))

    const tables = createTableService({ db, registry, clock })
    const maxPageSize = config.MAX_PAGE_SIZE
    fastify.decorate('tables', tables)
    fastify.decorate(
      'records',
      createRecordService({ db, clock, totals, hasTriggers: registry.hasTriggers, maxPageSize })
    )
    fastify.decorate('exports', createExportService({ db, maxPageSize }))
    fastify.decorate('tokens', createTokenService({ db, clock }))
    fastify.decorate('sessions', createSessionService({ db, clock, credentials, ttl: config.SESSION_TTL }))

    const passwordMinLength = config.PASSWORD_MIN_LENGTH
    fastify.decorate('admins', createAdminService({ db, clock, credentials, passwordMinLength }))
    await registry.load()

    const reload = () => {
      totals.forget()
      registry.load().catch((error) => {
        log.error({ err: error }, 'The tables could not be read anew; trying again.')
        setTimeout(reload, RELOAD_RETRY_MS).unref()
      })
    }
    db.onForeignCommit(reload)
  },
  { name: 'services', dependencies: ['database'] }
)
