import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { stagingDirectory } from '../../services/engine/loop/staging-files.ts'
import { type BackupClient, createBackupClient } from '../backup-client.ts'
import { prepareFile, temporaryDirectory } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'

const CYCLES = Math.max(3, scaled(30))

/** Some 40 MB, so that each step takes a while. */
const CONTENT = `CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT);
  CREATE TABLE filler (bytes);
  WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 40)
  INSERT INTO filler SELECT randomblob(1000000) FROM numbers`

const TABLE = 1
const addNote = ({ call }: BackupClient, text: string) => call('POST', `/tables/${TABLE}/data`, { text })

const readNotes = (file: string) => {
  const db = new BetterSqlite3(file, { readonly: true })
  try {
    return {
      integrity: db.pragma('integrity_check', { simple: true }),
      notes: db.prepare('SELECT text FROM notes ORDER BY id').pluck().all()
    }
  } finally {
    db.close()
  }
}

t.test('after kill -9 during a restore, the file has the state before or that of the backup', async (t) => {
  const DATA_DIR = temporaryDirectory(t)
  const DATABASE = join(DATA_DIR, 'shop.sqlite')
  const settings = { DATA_DIR, DATABASE }
  prepareFile(DATABASE, CONTENT)
  let service = await startService(t, settings)
  let client = await createBackupClient(service.address)
  await client.call('POST', '/tables/import', { names: ['notes'] })
  await addNote(client, 'in the backup')
  const { name } = await client.create()

  const start = performance.now()
  await client.restore(name)
  const duration = performance.now() - start
  const counts = { before: 0, restored: 0 }

  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    await addNote(client, `of cycle ${cycle}`)
    const before = readNotes(DATABASE).notes
    const older = new Set((await client.list()).backups.map((backup) => backup.name))
    const restoring = client.restore(name).catch(() => {})
    // The last kill comes after the response.
    await (cycle < CYCLES - 1 ? delay((1.5 * duration * cycle) / (CYCLES - 1)) : restoring)
    await service.end('SIGKILL')
    service = await startService(t, settings)
    client = await createBackupClient(service.address)

    const { integrity, notes } = readNotes(DATABASE)
    const isRestored = notes.length === 1
    counts[isRestored ? 'restored' : 'before'] += 1
    t.equal(integrity, 'ok')
    t.strictSame(notes, isRestored ? ['in the backup'] : before, `cycle ${cycle}`)
    t.strictSame(readdirSync(stagingDirectory(DATA_DIR)), [], 'nothing is left of the staged copy')
    const made = (await client.list()).backups.filter((backup) => !older.has(backup.name))
    if (isRestored)
      t.strictSame(
        made.map(({ kind }) => kind),
        ['before-restore']
      )
    for (const backup of made) t.strictSame(readNotes(join(DATA_DIR, 'backups', backup.name)).notes, before)
  }
  t.comment(JSON.stringify(counts))
  t.ok(counts.before > 0 && counts.restored > 0)
})
