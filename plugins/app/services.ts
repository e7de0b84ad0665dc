import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { RecordedScan } from '../../schemas/status.ts'
import { type AdminService, createAdminService } from '../../services/accounts/admins.ts'
import { createCredentials } from '../../services/accounts/credentials.ts'
import { createMemorySessions } from '../../services/accounts/memory-sessions.ts'
import { createPasswords, type HashingCost, type VerifyPassword } from '../../services/accounts/passwords.ts'
import { readSecret } from '../../services/accounts/secret.ts'
import { createSessionService, type SessionService } from '../../services/accounts/sessions.ts'
import { type AuditService, createAuditService } from '../../services/audit/audit.ts'
import type { AuditEntry } from '../../services/audit/audit-row.ts'
import { createFailedLogins, type FailedLogins } from '../../services/audit/failed-logins.ts'
import { type AuditRead, createReadAudit } from '../../services/audit/read-audit.ts'
import type { RestoreReload } from '../../services/backups/backups.ts'
import { createReadiness, type Readiness } from '../../services/engine/readiness.ts'
import type { RegisteredTable } from '../../services/model/table.ts'
import { type AccessOf, createAccessOf } from '../../services/records/access/access-of.ts'
import { createReadableBy, type ReadableBy } from '../../services/records/access/readable.ts'
import { createRowCosts } from '../../services/records/change/row-costs.ts'
import { createExportService, type ExportService } from '../../services/records/export/export.ts'
import { createImportService, type ImportService } from '../../services/records/import/imports.ts'
import { createTableFileService, type TableFileService } from '../../services/records/import/table-files.ts'
import { createCursors } from '../../services/records/read/cursors.ts'
import { createScans } from '../../services/records/read/scans.ts'
import { createSearch } from '../../services/records/read/search.ts'
import { createTotals } from '../../services/records/read/totals.ts'
import { createRecordService, type RecordService } from '../../services/records/records.ts'
import { createKeyRights, type KeyRights } from '../../services/roles/key-rights.ts'
import { createRoleNames } from '../../services/roles/role-names.ts'
import { createRoleService, type LiveRole, type RoleService } from '../../services/roles/roles.ts'
import { createStoredSettings, type StoredSettings } from '../../services/settings/stored-settings.ts'
import { upgradeChoices } from '../../services/tables/registry/choices-upgrade.ts'
import { createTableRegistry } from '../../services/tables/registry/registry.ts'
import { createTableService, type TableService } from '../../services/tables/tables.ts'
import { type AdminKeyService, createAdminKeyService } from '../../services/tokens/admin-keys.ts'
import { createDailyUses, type DailyUses } from '../../services/tokens/daily-uses.ts'
import { createExplain, type Explain } from '../../services/tokens/explain.ts'
import type { KeyService } from '../../services/tokens/keys.ts'
import { createTokenService, type TokenService } from '../../services/tokens/tokens.ts'
import { createViews, type Views } from '../../services/tokens/views.ts'
import { createKeys } from './keys.ts'
import { createLoad, createReload } from './reload.ts'
import { createSlowScans } from './slow-scans.ts'

declare module 'fastify' {
  interface FastifyInstance {
    tables: TableService
    accessOf: AccessOf
    records: RecordService
    readableBy: ReadableBy
    exports: ExportService
    imports: ImportService
    tableFiles: TableFileService
    admins: AdminService
    sessions: SessionService
    roles: RoleService
    roleNames: ReturnType<typeof createRoleNames>
    keyRights: KeyRights
    tokens: TokenService
    dailyUses: DailyUses
    explain: Explain
    views: Views
    adminKeys: AdminKeyService
    keys: KeyService
    storedSettings: StoredSettings
    audit: AuditService
    auditRead: AuditRead
    failedLogins: FailedLogins
    readiness: Readiness
    reloadAfterRestore: RestoreReload
    /** The latest slow scans, the latest first. */
    slowScans: readonly RecordedScan[]
  }
}

interface ServicesOptions {
  readonly hashingCost?: HashingCost | undefined
  readonly verifyPassword?: VerifyPassword | undefined
}

const logUnaudited =
  ({ log }: FastifyInstance) =>
  (error: unknown, { action, target }: AuditEntry) =>
    log.error({ err: error, audit: { action, target } }, 'A read could not be stored in the audit.')

const logInvalidSetting =
  ({ log }: FastifyInstance) =>
  (setting: string, problem: string) =>
    log.warn(
      { setting, problem },
      'A stored setting is invalid. The default is used. Set it again: PUT /admin/settings.'
    )

const logClosedGrant =
  ({ log }: FastifyInstance) =>
  ({ name: role }: LiveRole, { name: table }: RegisteredTable, reason: string) =>
    log.warn(
      { role, table, reason },
      'A grant of the role opens nothing in the table, at least for one token. GET /data/_me of a token says more.'
    )

const logProblems =
  ({ log }: FastifyInstance) =>
  ({ name: role, problems }: LiveRole) =>
    log.error(
      { role, problems },
      'Stored grants of the role open nothing: see `problems`. Correct them: PUT /admin/roles/:id.'
    )

/** Returns a function that logs only its first call: a full disk must not fill with log lines. */
const logOnce = ({ log }: FastifyInstance) => {
  let isLogged = false
  return (cause: unknown) => {
    if (!isLogged) log.warn({ err: cause }, 'The disk cannot store sessions. They are kept in memory until a restart.')
    isLogged = true
  }
}

/** Creates the services, in the order of their dependencies. */
export default fp<ServicesOptions>(
  async (fastify, { hashingCost, verifyPassword }) => {
    const { config, settings, clock, database: db } = fastify
    const registry = createTableRegistry(db)
    const totals = createTotals({ db, isCountable: registry.isCountable })
    const failedLogins = createFailedLogins({ db, clock })
    fastify.decorate('failedLogins', failedLogins)
    const credentials = createCredentials(createPasswords(hashingCost, verifyPassword), failedLogins.record)

    const { hasTriggers, hasUpdateEffects, effectsOf } = registry
    const onBuildFailure = (table: string, error: unknown) =>
      fastify.log.error({ err: error, table }, 'The search index could not be built. Retrying.')
    const roles = createRoleService({ db, clock, onProblems: logProblems(fastify) })
    fastify.decorate('roles', roles)
    const findTable = (name: string) => tables.find(name)
    const keyRights = createKeyRights({ findRole: roles.find, findTable, onClosed: logClosedGrant(fastify) })
    const tokens = createTokenService({ db, clock, roles, scopeOf: keyRights.scopeOf })
    fastify.decorate('keyRights', keyRights)
    const views = createViews({ db, clock, tokens, secret: readSecret(config) })
    fastify.decorate('views', views)
    fastify.decorate('keys', createKeys(fastify, { tokens, views, roles, scopeOf: keyRights.scopeOf }))
    fastify.decorate('tokens', tokens)
    fastify.decorate('dailyUses', createDailyUses({ db, clock }))
    const adminKeys = createAdminKeyService({ db, clock })
    fastify.decorate('adminKeys', adminKeys)
    const roleNames = createRoleNames({ roles, findTable: registry.find, allTables: registry.all })
    fastify.decorate('roleNames', roleNames)
    const tables = createTableService({ db, registry, clock, tokenNames: tokens.names, roleNames, onBuildFailure })
    const maxPageSize = () => settings.get('maxPageSize')
    fastify.decorate('tables', tables)
    const accessOf = createAccessOf(db.dialect, keyRights.findOpenGrant)
    fastify.decorate('accessOf', accessOf)
    const readableBy = createReadableBy({ accessOf, findTable: tables.find })
    const cursors = createCursors(readSecret(config))
    const rowCosts = createRowCosts(registry)
    const facts = { hasTriggers, hasUpdateEffects, effectsOf, rowCosts }
    const auditRead = createReadAudit({ db, clock, onFailure: logUnaudited(fastify) })
    fastify.decorate('auditRead', auditRead)
    const search = createSearch(db, totals)
    const slowScans = createSlowScans(fastify.log, clock)
    fastify.decorate('slowScans', slowScans.latest)
    const scan = createScans({ db, search, totals, onSlowScan: slowScans.record })
    const reading = { scan, cursors, readableBy, maxPageSize, allTables: registry.all }
    const records = createRecordService({ db, clock, totals, ...reading, ...facts })
    fastify.decorate('records', records)
    const explaining = { findTable: tables.findByPath, decisionOf: keyRights.decisionOf, read: records.read }
    fastify.decorate('explain', createExplain({ clock, tokens, accessOf, ...explaining }))
    fastify.decorate('readableBy', readableBy)
    fastify.decorate('exports', createExportService({ db, auditRead, search, scan, readableBy, maxPageSize }))
    const onFailure = (error: unknown) =>
      fastify.log.warn({ err: error }, 'What is left of an import could not be removed.')
    const { commit, once } = records
    const imports = createImportService({ db, clock, commit, once, rowCosts, currentTable: tables.get, onFailure })
    fastify.decorate('imports', imports)
    fastify.decorate('tableFiles', createTableFileService({ tables, imports, clock, accessOf, onFailure }))
    fastify.addHook('preClose', async () => imports.stop())

    const storedSettings = createStoredSettings({ db, clock, settings, onInvalid: logInvalidSetting(fastify) })
    fastify.decorate('storedSettings', storedSettings)

    const memorySessions = createMemorySessions({ clock })
    const accounts = { db, clock, credentials, memorySessions }
    const onMemorySession = logOnce(fastify)
    fastify.decorate('sessions', createSessionService({ ...accounts, ttl: config.SESSION_TTL, onMemorySession }))
    fastify.decorate('admins', createAdminService({ ...accounts, passwordMinLength: config.PASSWORD_MIN_LENGTH }))

    fastify.decorate('audit', createAuditService({ db, auditRead }))
    fastify.decorate('readiness', createReadiness({ db, clock }))

    const loadTables = async () => {
      for (const { name, problem } of await registry.load())
        fastify.log.error(
          { table: name, problem },
          'A table of the registry is unusable. Unregister it, then import it again.'
        )
    }
    const load = createLoad([
      { kinds: ['tables', 'structure'], load: loadTables },
      { kinds: ['roles'], load: roles.load },
      { kinds: ['tokens'], load: tokens.load },
      { kinds: ['admin_keys'], load: adminKeys.load },
      { kinds: ['settings'], load: storedSettings.load }
    ])
    await upgradeChoices(db)
    await load(null)
    db.onExternalCommit(totals.clear)
    const reload = createReload(fastify, load)
    fastify.decorate('reloadAfterRestore', {
      access: (includesAccess) => {
        if (includesAccess) memorySessions.endAll()
        return Promise.all([roles.load(), tokens.load(), adminKeys.load()])
      },
      all: async () => {
        // A backup of an older version has older choices, which `migrate` does not change.
        await upgradeChoices(db)
        totals.clear()
        await reload()
        tables.builds.resume()
      }
    })
    tables.builds.resume()
    fastify.addHook('onClose', tables.builds.stop)
  },
  { name: 'services', dependencies: ['database'] }
)
