import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { databaseOf } from '../../config.ts'
import { digestOf } from '../../services/engine/served-file-digest.ts'
import { asAdmin, createTable, dataOf, expectDone, expectError, startApp, temporaryDirectory } from '../helpers.ts'
import { createTestClock } from '../session-app.ts'

const BACKUPS = '/admin/backups'
const MISSING = `${BACKUPS}/2020-01-01T00-00-00Z-manual.db`

const start = async (t: Test, env: Record<string, string> = {}) => {
  const { clock, advance } = createTestClock()
  const app = await startApp(t, { clock, env })
  const admin = await asAdmin(app)
  const { BACKUP_DIR, DATA_DIR } = app.config
  const directory = BACKUP_DIR ?? join(DATA_DIR, 'backups')
  const newBackup = async () => dataOf(await admin.post(BACKUPS))
  const download = (name: string, headers: Record<string, string> = {}) =>
    app.inject({ url: `${BACKUPS}/${name}`, headers: { ...admin.headers, ...headers } })
  return { app, admin, advance, directory, newBackup, download }
}

const open = (t: Test, file: string) => {
  const db = new BetterSqlite3(file, { readonly: true })
  t.teardown(() => db.close())
  return db
}

t.test('a backup is made, listed, and is one intact SQLite file that only its owner can read', async (t) => {
  const { admin, directory, newBackup } = await start(t)
  const backup = await newBackup()
  const file = join(directory, backup.name)
  t.strictSame(backup, {
    name: '2026-03-01T12-00-00Z-manual.db',
    kind: 'manual',
    createdAt: Date.parse('2026-03-01T12:00:00Z'),
    bytes: statSync(file).size
  })
  t.strictSame(dataOf(await admin.get(BACKUPS)), { backups: [backup] })
  const db = open(t, file)
  t.equal(db.pragma('journal_mode', { simple: true }), 'delete')
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok')
  t.equal(db.prepare('SELECT name FROM _rowhouse_admins').pluck().get(), 'admin')
  t.strictSame(readdirSync(directory), [backup.name], 'no other file is left')
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.equal(statSync(directory).mode & 0o777, 0o700)
})

t.test('backups of one second have different names, and the latest is listed first', async (t) => {
  const { admin, advance, newBackup } = await start(t)
  const first = await newBackup()
  const second = await newBackup()
  advance(60_000)
  const third = await newBackup()
  t.equal(second.name, '2026-03-01T12-00-01Z-manual.db')
  t.strictSame(dataOf(await admin.get(BACKUPS)), { backups: [third, second, first] })
})

t.test('a second backup is refused while one is made, and the list shows its progress', async (t) => {
  const { admin, newBackup } = await start(t)
  const first = newBackup()
  const second = admin.post(BACKUPS)
  expectError(t, await second, 409, 'BACKUP_RUNNING')
  const { running } = dataOf(await admin.get(BACKUPS))
  t.match(running, { kind: 'manual', startedAt: Date.parse('2026-03-01T12:00:00.250Z'), copiedBytes: Number })
  await first
  t.equal(dataOf(await admin.get(BACKUPS)).running, undefined)
  t.ok(await newBackup(), 'the next one is made')
})

t.test('a backup is downloaded, as a whole and in parts', async (t) => {
  const { directory, newBackup, download } = await start(t)
  const { name, bytes } = await newBackup()
  const content = readFileSync(join(directory, name))
  const whole = await download(name)
  t.equal(whole.statusCode, 200)
  t.ok(whole.rawPayload.equals(content))
  t.match(whole.headers, {
    'content-type': 'application/vnd.sqlite3',
    'content-length': String(bytes),
    'content-disposition': `attachment; filename="${name}"`,
    'accept-ranges': 'bytes',
    'cache-control': /no-store/,
    etag: /"/
  })

  const part = await download(name, { range: 'bytes=16-99' })
  t.equal(part.statusCode, 206)
  t.equal(part.headers['content-range'], `bytes 16-99/${bytes}`)
  t.ok(part.rawPayload.equals(content.subarray(16, 100)))
  expectError(t, await download(name, { range: `bytes=${bytes}-` }), 416, 'RANGE_NOT_SATISFIABLE')
})

t.test('a download is repeated only if the file is another one', async (t) => {
  const { newBackup, download } = await start(t)
  const { name, bytes } = await newBackup()
  const etag = String((await download(name)).headers.etag)
  const same = await download(name, { 'if-none-match': etag })
  t.equal(same.statusCode, 304)
  t.equal(same.body, '')
  t.equal((await download(name, { 'if-none-match': '"another"' })).statusCode, 200)

  const range = 'bytes=0-15'
  t.equal((await download(name, { range, 'if-range': etag })).statusCode, 206)
  const other = await download(name, { range, 'if-range': '"another"' })
  t.equal(other.statusCode, 200)
  t.equal(other.rawPayload.length, bytes)
})

t.test('a backup is deleted', async (t) => {
  const { admin, directory, newBackup, download } = await start(t)
  const { name } = await newBackup()
  expectDone(t, await admin.delete(`${BACKUPS}/${name}`))
  t.strictSame(readdirSync(directory), [])
  expectError(t, await admin.delete(`${BACKUPS}/${name}`), 404, 'BACKUP_NOT_FOUND')
  expectError(t, await download(name), 404, 'BACKUP_NOT_FOUND')
})

t.test('only backups can be downloaded and deleted', async (t) => {
  const { app, admin, directory } = await start(t)
  const paths = ['..%2Frowhouse.db', '..%2F..%2Fetc%2Fpasswd', '%2e%2e%2frowhouse.db', 'rowhouse.db', 'x.partial']
  for (const path of paths) {
    expectError(t, await admin.get(`${BACKUPS}/${path}`), 400, 'VALIDATION_FAILED', '/name')
    expectError(t, await admin.delete(`${BACKUPS}/${path}`), 400, 'VALIDATION_FAILED', '/name')
  }
  expectError(t, await admin.get(MISSING), 404, 'BACKUP_NOT_FOUND')
  symlinkSync(join(app.config.DATA_DIR, 'rowhouse.db'), join(directory, '2020-01-01T00-00-00Z-manual.db'))
  mkdirSync(join(directory, '2020-01-02T00-00-00Z-manual.db'))
  expectError(t, await admin.get(MISSING), 404, 'BACKUP_NOT_FOUND')
  t.strictSame(dataOf(await admin.get(BACKUPS)), { backups: [] })
})

t.test('BACKUP_DIR names the directory', async (t) => {
  const directory = join(temporaryDirectory(t), 'new', 'backups')
  const { newBackup } = await start(t, { BACKUP_DIR: directory })
  const { name } = await newBackup()
  t.strictSame(readdirSync(directory), [name])
})

t.test('the start is refused if BACKUP_DIR is a file', async (t) => {
  const file = join(temporaryDirectory(t), 'file')
  writeFileSync(file, '')
  await t.rejects(start(t, { BACKUP_DIR: file }), {
    message:
      /file, the directory of the backups, is not a directory and cannot be created: .* Set BACKUP_DIR to another one/
  })
})

t.test('the start is refused if BACKUPS is no cron expression', async (t) => {
  await t.rejects(start(t, { BACKUPS: 'daily at 3' }), { message: /^BACKUPS must be a cron expression/ })
})

t.test('a start removes the files that a killed process has left, and no others', async (t) => {
  const directory = temporaryDirectory(t)
  const DATA_DIR = temporaryDirectory(t)
  const partial = '-5b0c7f0e-9c1d-4a55-8a3e-2f6d1f0c9b77.partial'
  const left = `${digestOf(databaseOf({ DATA_DIR }))}${partial}`
  const others = [`${digestOf('/srv/other.sqlite')}${partial}`, 'mine.partial', 'notes.txt'].sort()
  for (const name of [left, `${left}-journal`, ...others]) writeFileSync(join(directory, name), '')
  await start(t, { BACKUP_DIR: directory, DATA_DIR })
  t.strictSame(readdirSync(directory).sort(), others)
})

t.test('a scheduled backup is made, and those that BACKUP_KEEP does not name are deleted', async (t) => {
  const { app, admin, advance, newBackup } = await start(t, {
    BACKUPS: '0 3 * * *',
    BACKUP_KEEP: '2d',
    SESSION_TTL: '31536000'
  })
  const manual = await newBackup()
  for (let day = 0; day < 4; day += 1) {
    advance(86_400_000)
    await app.triggerBackup()
  }
  const { backups } = dataOf(await admin.get(BACKUPS))
  t.strictSame(
    backups.map(({ name }: { name: string }) => name),
    ['2026-03-05T12-00-00Z-scheduled.db', '2026-03-04T12-00-00Z-scheduled.db', manual.name]
  )
})

t.test('a scheduled backup that fails is logged, with what to do', async (t) => {
  const lines: string[] = []
  const logger = { level: 'error', stream: { write: (line: string) => void lines.push(line) } }
  const app = await startApp(t, { logger, env: { BACKUPS: '0 3 * * *' } })
  t.equal(app.backups.last(), null)
  const directory = join(app.config.DATA_DIR, 'backups')
  rmSync(directory, { recursive: true })
  await app.triggerBackup()
  t.match(
    lines.map((line) => JSON.parse(line)),
    [{ msg: /^The scheduled backup was not made. Remove the cause/, err: { code: 'STORAGE_UNAVAILABLE' } }]
  )
  t.match(app.backups.last(), { ok: false, bytes: 0 })
})

t.test('a restart lists the backups, and knows the last one', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await start(t, { BACKUP_DIR: directory })
  const { name, bytes, createdAt } = await first.newBackup()
  t.match(first.app.backups.last(), { ok: true, bytes })
  const second = await start(t, { BACKUP_DIR: directory })
  t.match(dataOf(await second.admin.get(BACKUPS)), { backups: [{ name }] })
  t.strictSame(second.app.backups.last(), { at: createdAt, bytes, ok: true })
})

t.test('a backup has what was acknowledged before it, and reads and writes go on', async (t) => {
  const { admin, directory } = await start(t)
  const table = await createTable(admin, { name: 'cats', fields: [{ name: 'name', jsonType: 'string' }] })
  const add = async (name: string) => dataOf(await admin.post(`/admin/tables/${table.id}/data`, { name }))
  await add('before')
  const backup = admin.post(BACKUPS)
  await add('during')
  const { name } = dataOf(await backup)
  await add('after')
  const stored = open(t, join(directory, name)).prepare('SELECT name FROM cats').pluck().all()
  t.ok(stored.includes('before'))
  t.notOk(stored.includes('after'))
  t.notOk(existsSync(join(directory, `${name}-wal`)))
})

t.test('a backup is downloaded from one service and uploaded to another', async (t) => {
  const source = await start(t)
  const content = (await source.download((await source.newBackup()).name)).rawPayload
  const { app, admin, directory } = await start(t)
  const upload = (payload: Buffer, headers: Record<string, string> = {}) =>
    app.inject({
      method: 'POST',
      url: `${BACKUPS}/upload`,
      payload,
      headers: { ...admin.headers, 'content-type': 'application/vnd.sqlite3', ...headers }
    })
  const uploaded = dataOf(await upload(content))
  t.match(uploaded, { name: '2026-03-01T12-00-00Z-upload.db', kind: 'upload', bytes: content.length })
  t.ok(readFileSync(join(directory, uploaded.name)).equals(content))
  t.match(dataOf(await upload(gzipSync(content), { 'content-encoding': 'gzip' })), { bytes: content.length })

  expectError(t, await upload(Buffer.from('name\n')), 400, 'BACKUP_INVALID')
  expectError(t, await upload(content, { 'content-type': 'text/csv' }), 415, 'UNSUPPORTED_MEDIA_TYPE')
  expectError(t, await admin.post(`${BACKUPS}/upload`), 415, 'UNSUPPORTED_MEDIA_TYPE')
  t.equal(readdirSync(directory).length, 2)
})

t.test('an upload may have IMPORT_LIMIT bytes', async (t) => {
  const { app, admin } = await start(t, { IMPORT_LIMIT: '1024' })
  const upload = (bytes: number) =>
    app.inject({
      method: 'POST',
      url: `${BACKUPS}/upload`,
      payload: Buffer.alloc(bytes),
      headers: { ...admin.headers, 'content-type': 'application/vnd.sqlite3' }
    })
  expectError(t, await upload(1025), 413, 'BODY_TOO_LARGE')
  expectError(t, await upload(1024), 400, 'BACKUP_INVALID')
})

t.test('backups are audited', async (t) => {
  const { app, admin, directory, newBackup } = await start(t)
  const { name, bytes } = await newBackup()
  const payload = readFileSync(join(directory, name))
  const headers = { ...admin.headers, 'content-type': 'application/vnd.sqlite3' }
  const uploaded = dataOf(await app.inject({ method: 'POST', url: `${BACKUPS}/upload`, headers, payload }))
  expectDone(t, await admin.delete(`${BACKUPS}/${name}`))
  expectError(t, await admin.delete(`${BACKUPS}/${name}`), 404, 'BACKUP_NOT_FOUND')
  t.match(dataOf(await admin.get('/admin/audit?action=backup')).rows, [
    { action: 'backup.delete', target: name, callerKind: 'admin', callerName: 'admin' },
    { action: 'backup.upload', target: uploaded.name, summary: { bytes } },
    { action: 'backup.create', target: name, summary: { bytes } }
  ])
  await admin.get(`${BACKUPS}/${uploaded.name}`)
  await app.database.write([])
  t.match(dataOf(await admin.get('/admin/audit?size=1')).rows, [{ action: 'backup.download', target: uploaded.name }])
})

t.test('a directory of backups that cannot be used is named', async (t) => {
  const { admin, directory, newBackup } = await start(t)
  await newBackup()
  rmSync(directory, { recursive: true })
  expectError(t, await admin.post(BACKUPS), 503, 'STORAGE_UNAVAILABLE')
  expectError(t, await admin.get(BACKUPS), 503, 'STORAGE_UNAVAILABLE')
  mkdirSync(directory)
  t.ok(await newBackup())
})

t.test('an upload is not kept if the session has ended while it arrived', async (t) => {
  const { app, admin, directory, newBackup } = await start(t)
  const content = readFileSync(join(directory, (await newBackup()).name))
  const sliced = async function* () {
    yield content.subarray(0, 1000)
    await admin.post('/auth/logout')
    yield content.subarray(1000)
  }
  const headers = { ...admin.headers, 'content-type': 'application/vnd.sqlite3' }
  const payload = Readable.from(sliced())
  const response = await app.inject({ method: 'POST', url: `${BACKUPS}/upload`, headers, payload })
  expectError(t, response, 401, 'AUTHENTICATION_REQUIRED')
  t.equal(readdirSync(directory).length, 1)
})
