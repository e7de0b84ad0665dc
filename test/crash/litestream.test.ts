import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { type BackupClient, createBackupClient } from '../backup-client.ts'
import { prepareFile, temporaryDirectory } from '../fixtures.ts'
import { startService } from '../service-process.ts'

const CONFIG = 'deploy/litestream.yml'
const isInstalled = spawnSync('litestream', ['version']).status === 0

const start = async (t: Test) => {
  const directory = temporaryDirectory(t)
  const DATABASE = join(directory, 'shop.sqlite')
  prepareFile(DATABASE, 'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)')
  const service = await startService(t, { DATABASE, DATA_DIR: directory })
  const client = await createBackupClient(service.address)
  await client.call('POST', '/tables/import', { names: ['*'] })
  return { directory, DATABASE, service, client }
}

const addNote = ({ call }: BackupClient, text: string) => call('POST', '/tables/1/data', { text })

const open = (t: Test, file: string, readonly = false) => {
  const db = new BetterSqlite3(file, { readonly })
  t.teardown(() => db.close())
  return db
}

const textsOf = (db: BetterSqlite3.Database) => db.prepare('SELECT text FROM notes ORDER BY id').pluck().all()

// What Litestream 0.5 does on its connection, seen in its source.
t.test('the service serves a file that another program replicates as Litestream does', async (t) => {
  const { DATABASE, client } = await start(t)
  const replicating = open(t, DATABASE)
  const reading = open(t, DATABASE)
  replicating.exec(`PRAGMA wal_autocheckpoint = 0;
    CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
    CREATE TABLE _litestream_lock (id INTEGER)`)
  const holdSnapshot = () => {
    reading.exec('BEGIN')
    reading.prepare('SELECT count(*) FROM _litestream_seq').get()
  }
  const { name } = await client.create()
  holdSnapshot()
  for (let round = 0; round < 3; round += 1) {
    await addNote(client, `round ${round}`)
    reading.exec('ROLLBACK')
    replicating.pragma('wal_checkpoint(PASSIVE)')
    replicating.exec('INSERT INTO _litestream_seq VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET seq = seq + 1')
    holdSnapshot()
    replicating.exec('BEGIN; INSERT INTO _litestream_lock VALUES (1); ROLLBACK')
  }
  t.strictSame(textsOf(replicating), ['round 0', 'round 1', 'round 2'])
  const imported = await client.call('POST', '/tables/import', { names: ['*'] })
  t.strictSame(imported, [], 'its tables are not those of a client')
  await client.restore(name)
  await addNote(client, 'after the restore')
  t.strictSame(textsOf(replicating), ['after the restore'])
  reading.exec('ROLLBACK')
})

t.test(
  'the real Litestream has all changes, also after a restore of a backup',
  { skip: !isInstalled && 'litestream is not installed' },
  async (t) => {
    const { directory, DATABASE, service, client } = await start(t)
    const env = {
      ...process.env,
      ROWHOUSE_DATABASE: DATABASE,
      ROWHOUSE_REPLICA: `file://${join(directory, 'replica')}`
    }
    const litestream = spawn('litestream', ['replicate', '-config', CONFIG], { env, stdio: 'ignore' })
    t.teardown(() => litestream.kill('SIGKILL'))
    const restored = () => {
      const output = join(directory, `restored-${performance.now()}.sqlite`)
      const { status } = spawnSync('litestream', ['restore', '-config', CONFIG, '-o', output, DATABASE], { env })
      if (status !== 0) return []
      const copy = open(t, output, true)
      t.equal(copy.pragma('integrity_check', { simple: true }), 'ok')
      return textsOf(copy)
    }
    const replicates = async (expected: readonly unknown[]) => {
      while (JSON.stringify(restored()) !== JSON.stringify(expected)) await delay(500)
      t.pass(`${expected.length} records are replicated`)
    }

    const texts = Array.from({ length: 200 }, (_, index) => `note ${index}`)
    for (const text of texts) await addNote(client, text)
    await replicates(texts)
    const { name } = await client.create()
    await addNote(client, 'after the backup')
    await client.restore(name)
    await addNote(client, 'after the restore')
    await replicates([...texts, 'after the restore'])
    await service.end('SIGTERM')
    const last = open(t, DATABASE, true)
    t.strictSame(restored(), textsOf(last))
  }
)
