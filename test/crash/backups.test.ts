import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { type BackupClient, createBackupClient } from '../backup-client.ts'
import { prepareFile, temporaryDirectory } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'

const CYCLES = Math.max(2, scaled(30))

/** Some 40 MB, so that a backup takes a second. */
const CONTENT = `CREATE TABLE filler (bytes);
  WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 40)
  INSERT INTO filler SELECT randomblob(1000000) FROM numbers`

/** Resolves when this share of the backup is copied. */
const copied = async ({ list }: BackupClient, share: number) => {
  for (;;) {
    const { running } = await list()
    if (running && running.totalBytes > 0 && running.copiedBytes >= share * running.totalBytes) return
  }
}

t.test('after kill -9 during a backup there is no half backup, and the next start removes the rest', async (t) => {
  const DATA_DIR = temporaryDirectory(t)
  const DATABASE = join(DATA_DIR, 'rowhouse.db')
  const directory = join(DATA_DIR, 'backups')
  prepareFile(DATABASE, CONTENT)
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    const service = await startService(t, { DATA_DIR, DATABASE })
    const client = await createBackupClient(service.address)
    t.strictSame(readdirSync(directory), [], `cycle ${cycle}: the start removes what is left`)
    client.create().catch(() => {})
    await copied(client, (0.9 * cycle) / CYCLES)
    await service.end('SIGKILL')
    const left = readdirSync(directory)
    t.ok(left.length > 0 && left.every((name) => /\.partial(?:-journal)?$/.test(name)), left.join())
  }
  const service = await startService(t, { DATA_DIR, DATABASE })
  const { name } = await (await createBackupClient(service.address)).create()
  t.strictSame(readdirSync(directory), [name])
  const backup = new BetterSqlite3(join(directory, name), { readonly: true })
  t.equal(backup.pragma('integrity_check', { simple: true }), 'ok')
  t.equal(backup.prepare('SELECT count(*) FROM filler').pluck().get(), 40)
  backup.close()
})
