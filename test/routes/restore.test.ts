import { statSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import {
  asAdmin,
  asToken,
  bearer,
  client,
  createDatabase,
  createTable,
  dataOf,
  expectError,
  importTable,
  issueKey,
  issueToken,
  logIn,
  startApp
} from '../helpers.ts'

const BACKUPS = '/admin/backups'

const start = async (t: Test, env: Record<string, string> = {}) => {
  const DATABASE = createDatabase(t, "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('first')")
  const app = await startApp(t, { env: { DATABASE, ...env } })
  const admin = await asAdmin(app)
  const { id } = await importTable(admin, 'notes')
  const newBackup = async (): Promise<string> => dataOf(await admin.post(BACKUPS)).name
  const restore = (name: string, query = '') => admin.post(`${BACKUPS}/${name}/restore${query}`)
  const add = async (text: string) => dataOf(await admin.post(`/admin/tables/${id}/data`, { text }))
  const texts = async () =>
    dataOf(await admin.get(`/admin/tables/${id}/data?order=rowid`)).rows.map((row: { text: string }) => row.text)
  return { app, admin, id, DATABASE, newBackup, restore, add, texts }
}

t.test('a restore brings back the records, in the same file, and keeps a backup of the state before', async (t) => {
  const { admin, DATABASE, newBackup, restore, add, texts } = await start(t)
  const { ino } = statSync(DATABASE)
  const other = new BetterSqlite3(DATABASE)
  t.teardown(() => other.close())
  const name = await newBackup()
  await add('second')
  t.strictSame(await texts(), ['first', 'second'])

  const { before } = dataOf(await restore(name))
  t.match(before, { kind: 'before-restore', bytes: Number })
  t.strictSame(await texts(), ['first'])
  t.equal(statSync(DATABASE).ino, ino)
  t.equal(other.pragma('journal_mode', { simple: true }), 'wal')
  t.strictSame(other.prepare('SELECT text FROM notes').pluck().all(), ['first'], 'another program sees it')
  t.equal(other.pragma('integrity_check', { simple: true }), 'ok')
  await add('third')
  t.strictSame(await texts(), ['first', 'third'])

  dataOf(await restore(before.name))
  t.strictSame(await texts(), ['first', 'second'], 'the restore is undone')
  t.match(dataOf(await admin.get('/admin/audit?action=backup.restore')).rows, [
    { target: before.name, callerName: 'admin' },
    { target: name, summary: { includesAccess: false } }
  ])
})

t.test('tables that were created or changed after the backup are as before, with the next request', async (t) => {
  const { app, admin, id, newBackup, restore } = await start(t)
  const reader = await asToken(app, admin, { tables: ['*'], actions: ['read'] })
  const name = await newBackup()
  await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  dataOf(await admin.put(`/admin/tables/${id}`, { fields: [{ name: 'text', isHidden: true }] }))
  t.equal((await reader.get('/data/cats')).statusCode, 200)
  t.strictSame(dataOf(await reader.get('/data/notes')).rows, [{ rowid: 1 }])

  dataOf(await restore(name))
  expectError(t, await reader.get('/data/cats'), 404, 'TABLE_NOT_FOUND')
  t.strictSame(dataOf(await reader.get('/data/notes')).rows, [{ rowid: 1, text: 'first' }])
})

t.test('what was revoked stays revoked, and what was issued stays', async (t) => {
  const { app, admin, newBackup, restore } = await start(t)
  const permissions = { tables: ['*'], actions: ['read' as const] }
  const old = await issueToken(admin, permissions)
  const ended = client(app, await logIn(app))
  const key = await issueKey(admin, ['audit'])
  const name = await newBackup()
  dataOf(await admin.delete('/admin/tokens/1'))
  dataOf(await ended.post('/auth/logout'))
  const issued = await issueToken(admin, permissions)
  dataOf(await admin.delete(`/admin/keys/${key.id}`))
  const issuedKey = await issueKey(admin, ['audit'])
  dataOf(await admin.post('/admin/admins', { name: 'ann', password: 'correct horse' }))

  dataOf(await restore(name))
  const status = async (secret: string) => (await client(app, bearer(secret)).get('/data/notes')).statusCode
  t.equal(await status(old), 401)
  t.equal(await status(issued), 200)
  const audit = (secret: string) => client(app, bearer(secret)).get('/admin/audit')
  expectError(t, await audit(key.key), 401, 'INVALID_ADMIN_KEY')
  t.equal((await audit(issuedKey.key)).statusCode, 200)
  t.equal((await ended.get('/auth/me')).statusCode, 401)
  t.match(await logIn(app, 'ann'), { cookie: /./ })
  const { id } = dataOf(await admin.post('/admin/tokens', { name: 'next', permissions }))
  t.equal(id, 3, 'no id is used twice')
})

t.test('include=access restores no role with two grants for one table and action', async (t) => {
  const { app, admin, newBackup, restore } = await start(t)
  const grant = { tables: ['notes'], actions: ['read'] }
  dataOf(await admin.post('/admin/roles', { name: 'reader', grants: [grant] }))
  const name = await newBackup()
  const backup = new BetterSqlite3(join(app.backups.path, name))
  backup.prepare('UPDATE _rowhouse_roles SET grants = ?').run(JSON.stringify([grant, grant]))
  backup.close()
  const refused = await restore(name, '?include=access')
  expectError(t, refused, 409, 'RIGHTS_CONFLICT')
  t.match(refused.json().error.message, /Role 'reader': Two grants name the action 'read' and the table 'notes'/)
  t.match(dataOf(await admin.get('/admin/roles')), [{ name: 'reader', grants: [grant], warnings: [] }])
  dataOf(await restore(name))
  t.match(dataOf(await admin.get('/admin/roles')), [{ name: 'reader', grants: [grant], warnings: [] }])
})

t.test('include=access takes the administrators and tokens of the backup, and opens nothing', async (t) => {
  const { app, admin, newBackup, restore } = await start(t)
  const permissions = { tables: ['*'], actions: ['read' as const] }
  const old = await issueToken(admin, permissions)
  const { key } = await issueKey(admin, ['audit'])
  const name = await newBackup()
  dataOf(await admin.post('/admin/admins', { name: 'ann', password: 'correct horse' }))
  dataOf(await restore(name, '?include=access'))
  t.equal((await admin.get('/auth/me')).statusCode, 401, 'all sessions have ended')
  await t.rejects(logIn(app, 'ann'))
  const again = await asAdmin(app)
  t.match(dataOf(await again.get('/admin/tokens')), [{ id: 1, is_active: false }])
  t.strictSame(dataOf(await again.get('/admin/keys')), [])
  expectError(t, await client(app, bearer(key)).get('/admin/audit'), 401, 'INVALID_ADMIN_KEY')
  t.equal((await client(app, bearer(old)).get('/data/notes')).statusCode, 401)
  t.match(dataOf(await again.get('/admin/audit?action=backup.restore')).rows, [{ summary: { includesAccess: true } }])
})

t.test('uses by day stay with the present tokens, and come with those of the backup', async (t) => {
  const { app, admin, newBackup, restore } = await start(t)
  const reader = await asToken(app, admin, { tables: ['*'], actions: ['read'] })
  const requests = async (by = admin) => {
    const [today] = dataOf(await by.get('/admin/tokens/1/uses'))
    return today?.requests
  }
  dataOf(await reader.get('/data/notes'))
  await app.dailyUses.flush()
  const name = await newBackup()
  dataOf(await reader.get('/data/notes'))
  await app.dailyUses.flush()
  dataOf(await restore(name))
  t.equal(await requests(), 2)
  dataOf(await restore(name, '?include=access'))
  t.equal(await requests(await asAdmin(app)), 1)
})

t.test('the present roles stay with the present tokens, and the others come with those of the backup', async (t) => {
  const { app, admin, newBackup, restore } = await start(t)
  const create = async (name: string) => {
    const grants = [{ tables: ['notes'], actions: ['read'] }]
    dataOf(await admin.post('/admin/roles', { name, grants }))
    return client(app, bearer(dataOf(await admin.post('/admin/tokens', { name, role: name })).token))
  }
  await create('old')
  const name = await newBackup()
  const present = await create('new')
  dataOf(await restore(name))
  t.equal((await present.get('/data/notes')).statusCode, 200)
  dataOf(await restore(name, '?include=access'))
  const again = await asAdmin(app)
  t.match(dataOf(await again.get('/admin/roles')), [{ name: 'old', tokens: 1 }])
  t.equal((await present.get('/data/notes')).statusCode, 401)
})

t.test('the present settings stay', async (t) => {
  const { admin, newBackup, restore } = await start(t)
  const name = await newBackup()
  dataOf(await admin.put('/admin/settings', { maxPageSize: 7 }))
  dataOf(await restore(name))
  t.match(dataOf(await admin.get('/admin/settings')), { maxPageSize: { value: 7, source: 'stored' } })
})

t.test('a backup whose access tables were changed is refused', async (t) => {
  const { app, newBackup, restore } = await start(t)
  const name = await newBackup()
  const db = new BetterSqlite3(join(app.backups.path, name))
  db.exec('CREATE TRIGGER kept BEFORE INSERT ON _ROWHOUSE_TOKENS BEGIN SELECT 1; END')
  db.close()
  const refused = await restore(name)
  expectError(t, refused, 400, 'BACKUP_INVALID')
  t.match(refused.json().error.message, /have other columns, indexes or triggers than those here/)
})

t.test('a backup whose version of our tables is wrong is refused', async (t) => {
  const { app, newBackup, restore } = await start(t)
  const name = await newBackup()
  const db = new BetterSqlite3(join(app.backups.path, name))
  db.exec("UPDATE _rowhouse_meta SET value = 3 WHERE key = 'version'")
  db.close()
  const refused = await restore(name)
  expectError(t, refused, 400, 'BACKUP_INVALID')
  t.match(refused.json().error.message, /cannot be upgraded/)
})

t.test('a restore waits for the lock of another program, and fails if it is held for long', async (t) => {
  const { DATABASE, newBackup, restore, add, texts } = await start(t)
  const name = await newBackup()
  await add('second')
  const other = new BetterSqlite3(DATABASE)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  expectError(t, await restore(name), 503, 'DATABASE_BUSY')
  other.exec('ROLLBACK')
  t.strictSame(await texts(), ['first', 'second'])
  dataOf(await restore(name))
  t.strictSame(await texts(), ['first'])
})

t.test('ids of tokens are not used twice, also with the tokens of the backup', async (t) => {
  const { app, admin, newBackup, restore } = await start(t)
  const permissions = { tables: ['*'], actions: ['read' as const] }
  const name = await newBackup()
  await issueToken(admin, permissions)
  dataOf(await restore(name, '?include=access'))
  const again = await asAdmin(app)
  t.strictSame(dataOf(await again.get('/admin/tokens')), [])
  t.equal(dataOf(await again.post('/admin/tokens', { name: 'next', permissions })).id, 2)
})

t.test('changes get 503 during a restore, and reads do not wait', async (t) => {
  const { admin, id, newBackup, restore, texts } = await start(t)
  const name = await newBackup()
  const restoring = restore(name)
  let refused: Awaited<ReturnType<typeof admin.post>> | undefined
  for (let isDone = false; refused === undefined && !isDone; ) {
    const response = await admin.post(`/admin/tables/${id}/data`, { text: 'x' })
    if (response.statusCode === 503) refused = response
    isDone = await Promise.race([
      restoring.then(() => true),
      new Promise<boolean>((settle) => setImmediate(settle, false))
    ])
  }
  t.equal(refused?.json().error.code, 'RESTORE_RUNNING')
  t.match(refused?.headers['retry-after'], /^\d+$/)
  t.ok((await texts()).includes('first'))
  expectError(t, await admin.post(BACKUPS), 409, 'BACKUP_RUNNING')
  expectError(t, await admin.delete(`${BACKUPS}/${name}`), 409, 'BACKUP_RUNNING')
  t.equal((await restoring).statusCode, 200)
  t.equal((await admin.post(`/admin/tables/${id}/data`, { text: 'y' })).statusCode, 200)
})

t.test('a backup that is missing, damaged or has other pages is refused, and nothing changes', async (t) => {
  const { app, newBackup, restore, add, texts } = await start(t)
  expectError(t, await restore('2020-01-01T00-00-00Z-manual.db'), 404, 'BACKUP_NOT_FOUND')
  const name = await newBackup()
  await add('second')
  const file = join(app.backups.path, name)
  const db = new BetterSqlite3(file)
  db.exec('PRAGMA page_size = 8192; VACUUM')
  db.close()
  const otherPages = await restore(name)
  expectError(t, otherPages, 400, 'BACKUP_INVALID')
  t.match(otherPages.json().error.message, /has pages of 8192 bytes/)
  const garbage = new BetterSqlite3(file)
  garbage.exec('DROP TABLE _rowhouse_meta')
  garbage.close()
  const withoutMeta = await restore(name)
  expectError(t, withoutMeta, 400, 'BACKUP_INVALID')
  t.match(withoutMeta.json().error.message, /no table _rowhouse_meta/)
  t.strictSame(await texts(), ['first', 'second'])
  t.ok(await add('third'))
})
