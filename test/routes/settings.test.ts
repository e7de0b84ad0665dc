import t, { type Test } from 'tap'
import { auditRows } from '../audit.ts'
import {
  asAdmin,
  client,
  createTable,
  dataOf,
  expectData,
  expectError,
  startApp,
  temporaryDirectory
} from '../helpers.ts'
import { BACKUPS, onlyOnFile, openServed } from '../served.ts'
import { createTestClock } from '../session-app.ts'

const SETTINGS = '/admin/settings'
const ORIGIN = 'https://app.example.org'
const DAY_MS = 24 * 60 * 60 * 1000

const tick = () => new Promise((resolve) => setImmediate(resolve))

const start = async (t: Test, env: Record<string, string> = {}, options: Parameters<typeof startApp>[1] = {}) => {
  const app = await startApp(t, { ...options, env })
  const admin = await asAdmin(app)
  const file = `${app.config.DATA_DIR}/rowhouse.db`
  return { app, admin, file, read: async () => dataOf(await admin.get(SETTINGS)) }
}

const defaults = {
  logLevel: { value: 'warn', source: 'default', variable: 'LOG_LEVEL' },
  corsOrigins: { value: '', source: 'default', variable: 'CORS_ORIGIN' },
  maxPageSize: { value: 1000, source: 'default', variable: 'MAX_PAGE_SIZE' },
  backups: { value: '', source: 'default', variable: 'BACKUPS' },
  backupKeep: { value: '7d,4w,6m', source: 'default', variable: 'BACKUP_KEEP' },
  auditKeep: { value: '400d', source: 'default', variable: 'AUDIT_KEEP' }
}

t.test('a stored value replaces the default, also after a restart, until null removes it', async (t) => {
  const DATA_DIR = temporaryDirectory(t)
  const first = await start(t, { DATA_DIR })
  expectData(t, await first.admin.get(SETTINGS), defaults)
  const changed = {
    ...defaults,
    maxPageSize: { ...defaults.maxPageSize, value: 2, source: 'stored' },
    auditKeep: { ...defaults.auditKeep, value: '30d', source: 'stored' }
  }
  expectData(t, await first.admin.put(SETTINGS, { maxPageSize: 2, auditKeep: '30d' }), changed)
  await first.app.close()

  const second = await start(t, { DATA_DIR })
  expectData(t, await second.admin.get(SETTINGS), changed)
  expectData(t, await second.admin.put(SETTINGS, { maxPageSize: null, auditKeep: null, backups: null }), defaults)
  expectData(t, await second.admin.get(SETTINGS), defaults)
})

t.test('a variable overrides a stored value, and cannot be changed', onlyOnFile(BACKUPS), async (t) => {
  const DATA_DIR = temporaryDirectory(t)
  const free = await start(t, { DATA_DIR })
  dataOf(await free.admin.put(SETTINGS, { maxPageSize: 2, backupKeep: '1d' }))
  await free.app.close()

  const { admin, read } = await start(t, { DATA_DIR, MAX_PAGE_SIZE: '3', BACKUPS: '' })
  const expected = {
    ...defaults,
    maxPageSize: { ...defaults.maxPageSize, value: 3, source: 'variable' },
    backups: { ...defaults.backups, source: 'variable' },
    backupKeep: { ...defaults.backupKeep, value: '1d', source: 'stored' }
  }
  t.strictSame(await read(), expected)
  const refused = await admin.put(SETTINGS, { backupKeep: '2d', maxPageSize: 4, backups: null })
  expectError(t, refused, 409, 'SETTING_FIXED')
  t.match(refused.json().error, {
    message: "The variable MAX_PAGE_SIZE sets 'maxPageSize'. The variable BACKUPS sets 'backups'. Nothing was changed.",
    hint: /restart/
  })
  t.strictSame(await read(), expected, 'no other setting of the request was stored')
  t.equal((await admin.put(SETTINGS, { backupKeep: '2d' })).statusCode, 200)
})

t.test('a wrong value is refused with the rule of its variable, and nothing is stored', async (t) => {
  const { admin, read } = await start(t)
  for (const [changes, path, message] of [
    [{ logLevel: 'loud' }, '/logLevel', "'logLevel' must be one of fatal, error, warn, info, debug, trace, silent."],
    [{ maxPageSize: 10_001 }, '/maxPageSize', "'maxPageSize' must be at most 10000."],
    [
      { backupKeep: '7y' },
      '/backupKeep',
      "'backupKeep' must list numbers of days, weeks and months, such as 7d,4w,6m."
    ],
    [{ auditKeep: '1' }, '/auditKeep', "'auditKeep' must be a number of days, such as 400d, of at most 99999d."],
    [{ corsOrigins: '*' }, '/corsOrigins', /^'corsOrigins' must list exact origins such as .* '\*' is not one\.$/],
    [{ backups: 'daily' }, '/backups', /^'backups' must be a cron expression such as .* 'daily' in .* is not: /]
  ] as const) {
    const refused = await admin.put(SETTINGS, { maxPageSize: 5, ...changes })
    expectError(t, refused, 400, 'VALIDATION_FAILED', path)
    t.match(refused.json().error.details, [{ message }])
  }
  const both = await admin.put(SETTINGS, { corsOrigins: 'x', backups: 'y' })
  t.equal(both.json().error.details.length, 2)
  expectError(t, await admin.put(SETTINGS, { maxPageSize: '5' }), 400, 'VALIDATION_FAILED', '/maxPageSize')
  expectError(t, await admin.put(SETTINGS, { port: 5 }), 400, 'VALIDATION_FAILED', '/port')
  expectError(t, await admin.put(SETTINGS, {}), 400, 'VALIDATION_FAILED')
  t.strictSame(await read(), defaults)
})

t.test('a change has a row in the audit, with the new values', async (t) => {
  const { admin } = await start(t)
  dataOf(await admin.put(SETTINGS, { logLevel: 'error', backups: null }))
  const rows = await auditRows(admin, 'action=settings')
  t.match(rows, [
    { action: 'settings.change', summary: { changed: ['logLevel', 'backups'], logLevel: 'error', backups: null } }
  ])
  t.equal(rows.length, 1)
})

t.test('a page has at most maxPageSize records, in lists and exports', async (t) => {
  const { admin } = await start(t)
  const { id } = await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  for (const name of ['Tom', 'Kit', 'Jim']) dataOf(await admin.post(`/admin/tables/${id}/data`, { name }))
  const size = async () => dataOf(await admin.get(`/admin/tables/${id}/data?size=9`)).rows.length
  const lines = async () => (await admin.get(`/admin/tables/${id}/export?size=9`)).body.trimEnd().split(/\r?\n/).length
  t.equal(await size(), 3)
  t.equal(await lines(), 4)
  dataOf(await admin.put(SETTINGS, { maxPageSize: 2 }))
  t.equal(await size(), 2)
  t.equal(await lines(), 3)
})

t.test('the log has the new level at once, also for requests', async (t) => {
  const lines: { level: number; requestId?: string }[] = []
  const logger = { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } }
  const env = { METRICS_PORT: '0', DATA_DIR: temporaryDirectory(t) }
  const first = await start(t, env, { logger })
  const { app, admin } = first
  const logAll = () => {
    lines.length = 0
    for (const log of [app.log, app.metricsListener?.server.log, app.log.child({})]) log?.info('info')
    return lines.length
  }
  t.equal(logAll(), 0)
  dataOf(await admin.put(SETTINGS, { logLevel: 'info' }))
  t.equal(logAll(), 3)
  await app.close()
  const restarted = await start(t, env, { logger })
  t.equal(restarted.app.log.level, 'info', 'after a restart')
  await restarted.app.close()
  const kept = await start(t, { DATA_DIR: env.DATA_DIR, LOG_LEVEL: 'error' }, { logger: { ...logger, level: 'error' } })
  t.equal(kept.app.log.level, 'error', 'a variable overrides it')
})

t.test('the log of a command keeps its level', async (t) => {
  const logger = { level: 'error', stream: { write: () => {} } }
  const { app, admin } = await start(t, {}, { logger, keepsLogLevel: true })
  dataOf(await admin.put(SETTINGS, { logLevel: 'debug' }))
  t.equal(app.log.level, 'error')
})

t.test('an access log keeps its level', async (t) => {
  const logger = { level: 'info', stream: { write: () => {} } }
  const { app, admin } = await start(t, { ACCESS_LOG: 'true' }, { logger })
  dataOf(await admin.put(SETTINGS, { logLevel: 'error' }))
  t.equal(app.log.level, 'info')
  dataOf(await admin.put(SETTINGS, { logLevel: 'debug' }))
  t.equal(app.log.level, 'debug')
})

t.test('an origin may call the API as soon as corsOrigins lists it, and no longer', async (t) => {
  const { app, admin } = await start(t)
  const page = client(app, { ...admin.headers, origin: ORIGIN, 'sec-fetch-site': 'same-site' })
  const preflight = () =>
    app.inject({
      method: 'OPTIONS',
      url: SETTINGS,
      headers: { origin: ORIGIN, 'access-control-request-method': 'PUT' }
    })
  const allowed = async () => (await page.get(SETTINGS)).headers['access-control-allow-origin']
  const change = () => page.put(SETTINGS, { maxPageSize: 5 })

  t.equal((await preflight()).statusCode, 405)
  t.equal(await allowed(), undefined)
  expectError(t, await change(), 403, 'CROSS_SITE_REQUEST')

  dataOf(await admin.put(SETTINGS, { corsOrigins: `http://localhost:5173, ${ORIGIN}` }))
  t.match(await preflight(), { statusCode: 204, headers: { 'access-control-allow-origin': ORIGIN } })
  t.equal(await allowed(), ORIGIN)
  t.equal((await change()).statusCode, 200)

  dataOf(await admin.put(SETTINGS, { corsOrigins: null }))
  t.equal((await preflight()).statusCode, 405)
  t.equal(await allowed(), undefined)
  expectError(t, await change(), 403, 'CROSS_SITE_REQUEST')
})

t.test('the schedule and the rules of backups change', onlyOnFile(BACKUPS), async (t) => {
  const { clock, advance } = createTestClock()
  const { app, admin } = await start(t, { SESSION_TTL: '31536000' }, { clock })
  const count = async () => dataOf(await admin.get('/admin/backups')).backups.length
  await app.triggerBackup()
  t.equal(await count(), 0)
  dataOf(await admin.put(SETTINGS, { backups: '0 3 * * *' }))
  for (let day = 0; day < 3; day += 1) {
    await app.triggerBackup()
    advance(DAY_MS)
  }
  t.equal(await count(), 3)
  dataOf(await admin.put(SETTINGS, { backupKeep: '1d' }))
  await app.triggerBackup()
  t.equal(await count(), 1)
  dataOf(await admin.put(SETTINGS, { backups: '' }))
  await app.triggerBackup()
  t.equal(await count(), 1)
})

t.test('rows of the audit that are too old are deleted as soon as auditKeep changes', async (t) => {
  const { clock, advance } = createTestClock()
  const { admin } = await start(t, { SESSION_TTL: '31536000' }, { clock })
  const before = await auditRows(admin)
  t.ok(before.length > 0)
  advance(2 * DAY_MS)
  dataOf(await admin.put(SETTINGS, { auditKeep: '1d' }))
  while ((await auditRows(admin)).length > 1) await tick()
  t.match(await auditRows(admin), [{ action: 'settings.change' }])
})

t.test('values of another program apply, and invalid ones are logged and not used', async (t) => {
  const lines: object[] = []
  const logger = { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } }
  const DATA_DIR = temporaryDirectory(t)
  const { app, file, read } = await start(t, { DATA_DIR }, { logger })
  const external = openServed(t, file)
  const insert = external.prepare('INSERT OR REPLACE INTO _rowhouse_settings VALUES (?, ?, 1)')
  insert.run('maxPageSize', '7')
  while ((await read()).maxPageSize.value !== 7) await tick()
  for (const [name, value] of [
    ['maxPageSize', '0'],
    ['auditKeep', '{'],
    ['backups', '"daily"'],
    ['logLevel', '"error"'],
    ['ofALaterVersion', 'true']
  ])
    insert.run(name, value)
  await app.close()

  const restarted = await start(t, { DATA_DIR }, { logger })
  const stored = { ...defaults, logLevel: { ...defaults.logLevel, value: 'error', source: 'stored' } }
  t.strictSame(await restarted.read(), stored)
  const msg = 'A stored setting is invalid. The default is used. Set it again: PUT /admin/settings.'
  const warnings = lines.slice(-3)
  t.match(warnings, [
    { msg, setting: 'auditKeep', problem: 'must be a string.' },
    { msg, setting: 'backups', problem: /^must be a cron expression/ },
    { msg, setting: 'maxPageSize', problem: 'must be at least 1.' }
  ])
  const repaired = await restarted.admin.put(SETTINGS, { maxPageSize: 9 })
  t.match(dataOf(repaired), { maxPageSize: { value: 9, source: 'stored' } })
})
