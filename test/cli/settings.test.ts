import t from 'tap'
import { asAdmin, createDatabase, dataOf } from '../helpers.ts'
import { runCommand, SHOP, startLocalService } from './command.ts'

t.test('settings are listed, changed and reset in the running service', async (t) => {
  const { app, options } = await startLocalService(t, { AUDIT_KEEP: '30d' })
  const listed = await runCommand(['settings', 'list', ...options])
  t.match(listed, { code: 0, stderr: '' })
  t.match(listed.stdout.split('\n'), [
    /^SETTING {6}VALUE {5}SOURCE {4}VARIABLE$/,
    /^logLevel {5}warn {6}default {3}LOG_LEVEL$/,
    /^corsOrigins {12}default {3}CORS_ORIGIN$/,
    /^maxPageSize {2}1000 {6}default {3}MAX_PAGE_SIZE$/,
    /^backups {16}default {3}BACKUPS$/,
    /^backupKeep {3}7d,4w,6m {2}default {3}BACKUP_KEEP$/,
    /^auditKeep {4}30d {7}variable {2}AUDIT_KEEP$/,
    ''
  ])

  const set = ['settings', 'set', 'maxPageSize=500', 'backups=0 3 * * *', 'corsOrigins=', ...options]
  t.match(await runCommand(set), { code: 0, stdout: /^maxPageSize {2}500 .*stored/m })
  const admin = await asAdmin(app)
  t.match(dataOf(await admin.get('/admin/settings')), {
    maxPageSize: { value: 500, source: 'stored' },
    backups: { value: '0 3 * * *', source: 'stored' },
    corsOrigins: { value: '', source: 'stored' }
  })

  const reset = await runCommand(['settings', 'reset', 'maxPageSize', 'backups', '--json', ...options])
  t.equal(reset.code, 0)
  t.match(JSON.parse(reset.stdout), {
    maxPageSize: { value: 1000, source: 'default', variable: 'MAX_PAGE_SIZE' },
    backups: { source: 'default' },
    corsOrigins: { source: 'stored' }
  })
})

t.test('a change that is wrong is refused with the reason', async (t) => {
  const { options } = await startLocalService(t, { AUDIT_KEEP: '30d' })
  const set = (...changes: string[]) => runCommand(['settings', 'set', ...changes, ...options])
  const two = await set('backups=x', 'corsOrigins=y')
  t.match(two, { code: 1, stderr: /\n {2}'backups' .*\n {2}'corsOrigins' / })
  t.match(await set('logLevel'), { code: 2, stderr: "WRONG_USAGE: Write a change as NAME=VALUE, not 'logLevel'.\n" })
  t.match(await set('maxPageSize=many'), { code: 1, stderr: /^VALIDATION_FAILED: 'maxPageSize' must be an integer/ })
  t.match(await set('maxPageSize=0'), { code: 1, stderr: /^VALIDATION_FAILED: 'maxPageSize' must be at least 1\./ })
  t.match(await set('logLevl=info'), { code: 1, stderr: /^VALIDATION_FAILED: 'logLevl' is unknown\./ })
  t.match(await set('auditKeep=40d'), { code: 1, stderr: /^SETTING_FIXED: The variable AUDIT_KEEP sets 'auditKeep'\./ })
  t.match(await set('auditKeep=40d', 'logLevel=info', '--json'), { code: 1, stderr: /"code":"SETTING_FIXED"/ })
  const listed = await runCommand(['settings', 'list', '--json', ...options])
  t.match(JSON.parse(listed.stdout), { logLevel: { source: 'default' } })
})

t.test('without a service, settings are stored in the file', async (t) => {
  const file = createDatabase(t, SHOP)
  const set = ['settings', 'set', 'logLevel=debug', '--database', file]
  t.match(await runCommand(set), { code: 0, stdout: /^logLevel {5}debug .*stored/m })
  t.match(await runCommand(['settings', 'list', '--database', file]), {
    code: 0,
    stdout: /^logLevel {5}debug .*stored/m
  })
})
