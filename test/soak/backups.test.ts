import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import tap from 'tap'
import { createBackupClient } from '../backup-client.ts'
import { prepareFile, temporaryDirectory } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'

const BACKUPS = Math.max(3, scaled(100))
const WRITERS = 4

/** Some 5 MB, so that records are created during each backup. */
const CONTENT = `CREATE TABLE notes (id INTEGER PRIMARY KEY, number INTEGER);
  CREATE TABLE filler (bytes);
  INSERT INTO filler VALUES (randomblob(5000000))`

interface Made {
  readonly name: string
  /** Numbers that were acknowledged before the backup. All of them must be in it. */
  readonly acknowledged: readonly number[]
  /** No number from this one on was sent before the end of the backup. None of them may be in it. */
  readonly end: number
}

const readNumbers = (file: string) => {
  const db = new BetterSqlite3(file, { readonly: true })
  try {
    return new Set(db.prepare('SELECT number FROM notes').pluck().all() as number[])
  } finally {
    db.close()
  }
}

tap.test('each backup that was made during writes restores what was acknowledged at its time', async (t) => {
  const DATA_DIR = temporaryDirectory(t)
  const DATABASE = join(DATA_DIR, 'shop.sqlite')
  prepareFile(DATABASE, CONTENT)
  const service = await startService(t, { DATA_DIR, DATABASE })
  // After the start, which sets a shorter one.
  for (const test of [tap, t]) test.setTimeout(BACKUPS * 20_000 + 60_000)
  const client = await createBackupClient(service.address)
  await client.call('POST', '/tables/import', { names: ['notes'] })

  const acknowledged: number[] = []
  let next = 0
  let isWriting = true
  const write = async () => {
    while (isWriting) {
      const number = next
      next += 1
      await client.call('POST', '/tables/1/data', { number })
      acknowledged.push(number)
    }
  }
  const writers = Array.from({ length: WRITERS }, write)
  const made: Made[] = []
  while (made.length < BACKUPS) {
    const before = [...acknowledged]
    const { name } = await client.create()
    made.push({ name, acknowledged: before, end: next })
  }
  isWriting = false
  await Promise.all(writers)
  t.comment(`${acknowledged.length} records, ${BACKUPS} backups`)

  for (const backup of made) {
    await client.restore(backup.name)
    const numbers = readNumbers(DATABASE)
    const lost = backup.acknowledged.filter((number) => !numbers.has(number))
    const late = [...numbers].filter((number) => number >= backup.end)
    t.strictSame({ lost, late }, { lost: [], late: [] }, backup.name)
  }
})
