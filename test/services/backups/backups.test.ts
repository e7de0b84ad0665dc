import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createBackupService } from '../../../services/backups/backups.ts'
import { openBackupDirectory } from '../../../services/backups/directory.ts'
import { serviceCaller } from '../../../services/model/caller.ts'
import { temporaryDirectory } from '../../fixtures.ts'
import { openTestDatabase } from '../../session-app.ts'
import { rejection } from '../engine/engine.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')

const NO_RELOAD = { access: async () => {}, all: async () => {} }

const start = async (t: Test, margin: { readonly marginBytes?: number } = {}) => {
  const db = await openTestDatabase(t)
  const directory = openBackupDirectory({ path: temporaryDirectory(t), servedFile: 'shop.sqlite', ...margin })
  const backups = createBackupService({
    db,
    clock: () => NOW,
    directory,
    keep: () => [],
    auditRead: () => {},
    reload: NO_RELOAD
  })
  return { backups, directory: directory.path, files: () => readdirSync(directory.path) }
}

async function* chunksOf(bytes: Buffer) {
  for (let start = 0; start < bytes.length; start += 10_000) yield bytes.subarray(start, start + 10_000)
}

t.test('a backup and an upload are refused without enough free space, and leave nothing', async (t) => {
  const { backups, files } = await start(t, { marginBytes: Number.MAX_SAFE_INTEGER / 2 })
  const full = { code: 'DISK_FULL', message: /^The disk of the backups has \d+ MiB free, and the backup needs \d+ MiB/ }
  t.match(await rejection(backups.create(serviceCaller)), full)
  t.strictSame(backups.last(), { at: NOW, bytes: 0, ok: false })
  t.match(await rejection(backups.upload(serviceCaller, chunksOf(Buffer.alloc(10)))), full)
  t.strictSame(files(), [])
})

t.test('a restore is refused during an import, also one that begins while the backup is checked', async (t) => {
  const db = await openTestDatabase(t)
  const directory = openBackupDirectory({ path: temporaryDirectory(t), servedFile: 'shop.sqlite' })
  let running = 0
  const counts = () => {
    const stagings = { ...db.counts().stagings, running }
    return { ...db.counts(), stagings }
  }
  const options = { clock: () => NOW, directory, keep: () => [], auditRead: () => {}, reload: NO_RELOAD }
  const backups = createBackupService({ ...options, db: { ...db, counts } })
  const { name } = await backups.create(serviceCaller)
  running = 1
  t.match(await rejection(backups.restore(serviceCaller, name, false)), { code: 'IMPORT_RUNNING' })
  running = 0
  const restored = rejection(backups.restore(serviceCaller, name, false))
  running = 1
  t.match(await restored, { code: 'IMPORT_RUNNING' })
  t.equal(directory.list().length, 1, 'no backup of the present state was made')
  running = 0
  t.match(await backups.restore(serviceCaller, name, false), { before: { kind: 'before-restore' } })
})

t.test('an uploaded backup is stored as it is, and is not the last one that was made', async (t) => {
  const { backups, directory, files } = await start(t)
  const made = await backups.create(serviceCaller)
  const content = readFileSync(join(directory, made.name))
  const uploaded = await backups.upload(serviceCaller, chunksOf(content))
  t.match(uploaded, { name: '2026-03-01T12-00-00Z-upload.db', kind: 'upload', bytes: made.bytes })
  t.ok(readFileSync(join(directory, uploaded.name)).equals(content))
  t.strictSame(backups.last(), { at: NOW, bytes: made.bytes, ok: true })
  t.equal(files().length, 2)
})

t.test('an upload that is no backup is refused, and leaves nothing', async (t) => {
  const { backups, files } = await start(t)
  const chunks = chunksOf(Buffer.alloc(100_000, 'text'))
  t.match(await rejection(backups.upload(serviceCaller, chunks)), { code: 'BACKUP_INVALID' })
  t.strictSame(files(), [])
})
