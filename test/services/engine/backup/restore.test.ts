import { fork } from 'node:child_process'
import { once } from 'node:events'
import { statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { BackupRequest } from '../../../../services/engine/backup/protocol.ts'
import type { RestoreOptions } from '../../../../services/engine/database.ts'
import { backupProcessFile } from '../../../../services/engine/thread-files.ts'
import { databaseFile, openExternal, prepareFile, rejection, sql, startEngine } from '../engine.ts'

const AUDITED = sql(
  `INSERT INTO _rowhouse_audit (at, caller_kind, caller_id, caller_name, address, request_id, action, target, target_id, summary, count)
    VALUES (1, 'service', 0, '', '', '', 'backup.restore', '', NULL, '{}', 1)`
)

const TOKEN = `INSERT INTO _rowhouse_tokens (name, digest, token_prefix, permissions, is_active, created_at, updated_at)`

const KEY = `INSERT INTO _rowhouse_admin_keys (name, digest, key_prefix, scopes, created_at)`

const OPTIONS: RestoreOptions = {
  includesAccess: false,
  audited: AUDITED,
  beforePause: () => {},
  onLocked: async () => {},
  onProgress: () => {},
  onRestored: async () => {}
}

/** An engine with a backup of its file, in which `notes` has one row and there is one token. */
const start = async (t: Test) => {
  const file = databaseFile(t)
  prepareFile(file, "CREATE TABLE notes (text); INSERT INTO notes VALUES ('in the backup')")
  const db = await startEngine(t, file)
  await db.write([
    sql(`${TOKEN} VALUES ('old', 'x', 'x', '{}', 1, 1, 1)`),
    sql(`${KEY} VALUES ('old', 'x', 'x', '[]', 1)`)
  ])
  const backup = join(dirname(file), 'backup.db')
  writeFileSync(backup, '')
  await db.backups.copy(backup, () => {}, true)
  const external = openExternal(t, file)
  const all = (select: string) => external.prepare(select).pluck().all()
  const restore = (options: Partial<RestoreOptions> = {}) => db.backups.restore(backup, { ...OPTIONS, ...options })
  return { file, backup, db, external, all, restore }
}

t.test('a restore keeps the access of the present file, and stores its row of the audit', async (t) => {
  const { db, all, restore, file } = await start(t)
  await db.write([sql("INSERT INTO notes VALUES ('late')"), sql('UPDATE _rowhouse_tokens SET is_active = 0')])
  const { ino } = statSync(file)
  const seen: string[] = []
  await restore({
    beforePause: () => seen.push('pause'),
    onLocked: async () => seen.push('locked'),
    onRestored: async () => seen.push('restored')
  })
  t.strictSame(seen, ['pause', 'locked', 'restored'])
  t.strictSame(all('SELECT text FROM notes'), ['in the backup'])
  t.strictSame(all('SELECT is_active FROM _rowhouse_tokens'), [0])
  t.strictSame(all('SELECT action FROM _rowhouse_audit'), ['backup.restore'])
  t.equal(statSync(file).ino, ino)
  await db.write([sql("INSERT INTO notes VALUES ('after')")])
})

t.test('a restore with the access of the backup opens nothing, and uses no id twice', async (t) => {
  const { db, all, restore } = await start(t)
  await db.write([
    sql(`${TOKEN} VALUES ('new', 'y', 'y', '{}', 1, 1, 1)`),
    sql(`${KEY} VALUES ('new', 'y', 'y', '[]', 1)`)
  ])
  await restore({ includesAccess: true })
  t.strictSame(all('SELECT name FROM _rowhouse_admin_keys'), [])
  t.strictSame(all('SELECT name FROM _rowhouse_tokens WHERE NOT is_active'), ['old'])
  t.strictSame(all("SELECT seq FROM sqlite_sequence WHERE name = '_rowhouse_tokens'"), [2])
  t.strictSame(all("SELECT seq FROM sqlite_sequence WHERE name = '_rowhouse_admin_keys'"), [2])
})

t.test(
  'a restore with access is refused if a role of the backup has two grants for one table and action',
  async (t) => {
    const { backup, restore, all } = await start(t)
    const file = new BetterSqlite3(backup)
    file.exec(`INSERT INTO _rowhouse_roles (name, grants, created_at, updated_at)
    VALUES ('reader', '[{"tables":["notes"],"actions":["read"]},{"tables":["NOTES"],"actions":["read"]}]', 1, 1)`)
    file.close()
    t.match(await rejection(restore({ includesAccess: true })), { code: 'RIGHTS_CONFLICT', message: /'reader'/ })
    t.strictSame(all('SELECT name FROM _rowhouse_roles'), [])
    await restore()
  }
)

t.test('writes are refused while the lock is held, and a failure of onLocked is that of the restore', async (t) => {
  const { db, all, restore } = await start(t)
  await db.write([sql("INSERT INTO notes VALUES ('late')")])
  let refused: unknown
  const onLocked = async () => {
    refused = await rejection(db.write([sql("INSERT INTO notes VALUES ('x')")]))
    throw new Error('No space for the backup.')
  }
  t.match(await rejection(restore({ onLocked })), { message: 'No space for the backup.' })
  t.match(refused, { code: 'RESTORE_RUNNING' })
  t.strictSame(all('SELECT text FROM notes'), ['in the backup', 'late'])
  await db.write([sql("INSERT INTO notes VALUES ('after')")])
})

t.test('a restore waits for the lock of another program, and fails if it is held for long', async (t) => {
  const { external, restore, all } = await start(t)
  external.exec('BEGIN IMMEDIATE')
  t.match(await rejection(restore()), { code: 'DATABASE_BUSY' })
  const restored = restore({ beforePause: () => setTimeout(() => external.exec('ROLLBACK'), 500) })
  await restored
  t.strictSame(all('SELECT text FROM notes'), ['in the backup'])
})

const UNSUITABLE = {
  'PRAGMA page_size = 8192; VACUUM': /has pages of 8192 bytes and text in UTF-8/,
  'CREATE TRIGGER x AFTER INSERT ON _ROWHOUSE_AUDIT BEGIN SELECT 1; END': /other columns, indexes or triggers/,
  "UPDATE _rowhouse_meta SET value = 3 WHERE key = 'version'": /cannot be upgraded/
}

for (const [change, message] of Object.entries(UNSUITABLE))
  t.test(`a backup is refused after ${change}`, async (t) => {
    const { backup, restore } = await start(t)
    const db = new BetterSqlite3(backup)
    db.exec(change)
    db.close()
    t.match(await rejection(restore()), { code: 'BACKUP_INVALID', message })
  })

t.test('a restore whose service has ended changes nothing', async (t) => {
  const { file, backup, all } = await start(t)
  const other = new BetterSqlite3(backup)
  other.exec("INSERT INTO notes VALUES ('only in the copy')")
  other.close()
  const child = fork(fileURLToPath(backupProcessFile), ['1'], { serialization: 'advanced' })
  const task: BackupRequest = { kind: 'restore', staged: backup, served: file, includesAccess: false, audited: AUDITED }
  child.send(task)
  const [message] = await once(child, 'message')
  t.match(message, { error: { message: 'The service has ended.' } })
  child.disconnect()
  await once(child, 'exit')
  t.strictSame(all('SELECT text FROM notes'), ['in the backup'])
})
