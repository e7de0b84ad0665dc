import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { LATEST_VERSION } from '../services/engine/writer/migrations.ts'
import { createDatabase, temporaryDirectory } from './fixtures.ts'
import { contentOf, copyOldDatabase, oldDatabases } from './old-databases.ts'
import { assertListening, runService } from './service-process.ts'

const seventh = oldDatabases.find(({ version }) => version === 7)

const backupsOf = (directory: string) => readdirSync(join(directory, 'backups'))

const environmentOf = (t: Test, file: string) => ({ DATABASE: file, DATA_DIR: temporaryDirectory(t) })

t.test('the start of a newer version makes a backup, names it, and migrates the file', async (t) => {
  const file = copyOldDatabase(t, { version: 7 })
  const before = contentOf(file)
  const env = environmentOf(t, file)
  const { address, lines, end } = assertListening(await runService(t, env, { isCovered: true }))
  const [name = '', ...others] = backupsOf(env.DATA_DIR)
  t.match(name, /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-before-upgrade\.db$/)
  t.strictSame(others, [])
  const backup = join(env.DATA_DIR, 'backups', name)
  t.ok(
    lines.includes(
      `Upgraded the tables of Rowhouse from version 7 to ${LATEST_VERSION}. The backup from before is ${backup}.`
    ),
    lines.join('\n')
  )
  t.ok(contentOf(backup).equals(before), 'the backup is the file of version 7')
  const response = await fetch(`${address}/data/toys/records/1`, {
    headers: { authorization: `Bearer ${seventh?.token}` }
  })
  t.equal(response.status, 200)
  t.strictSame(await response.json(), { success: true, data: { id: 1, name: 'ball', price: 2.5 } })
  t.strictSame(await end('SIGTERM'), [0, null])

  const second = assertListening(await runService(t, env))
  t.strictSame(backupsOf(env.DATA_DIR), [name], 'a start without a migration makes no backup')
  t.notMatch(second.lines.join('\n'), 'Upgraded')
})

t.test('without a place for the backup the start fails, and nothing is changed', async (t) => {
  const file = copyOldDatabase(t, { version: 7 })
  const before = readFileSync(file)
  const env = environmentOf(t, file)
  const BACKUP_DIR = join(env.DATA_DIR, 'taken')
  writeFileSync(BACKUP_DIR, '')
  const { ended, lines } = await runService(t, { ...env, BACKUP_DIR })
  t.strictSame(await ended, [1, null])
  t.match(
    lines.join('\n'),
    /^Rowhouse did not start: The tables of Rowhouse must be upgraded from version 7 to \d+, but the backup before it cannot be made\. The file was not changed\. .*taken, the directory of the backups, is not a directory/
  )
  t.ok(readFileSync(file).equals(before))
  assertListening(await runService(t, env))
})

t.test('the first start with a file of another program makes no backup', async (t) => {
  const env = environmentOf(t, createDatabase(t, 'CREATE TABLE notes (text TEXT)'))
  assertListening(await runService(t, env))
  t.strictSame(backupsOf(env.DATA_DIR), [])
})

t.test(
  'an older version refuses the file of a newer one, names the version that it needs, and does not change it',
  async (t) => {
    const file = copyOldDatabase(t, { version: 10 })
    const newer = new BetterSqlite3(file)
    newer.prepare("UPDATE _rowhouse_meta SET value = ? WHERE key = 'version'").run(LATEST_VERSION + 1)
    newer.prepare("INSERT INTO _rowhouse_meta VALUES ('program', '9.8.0')").run()
    newer.close()
    const before = readFileSync(file)
    const { ended, lines } = await runService(t, environmentOf(t, file))
    t.strictSame(await ended, [1, null])
    t.strictSame(lines, [
      `Rowhouse did not start: ${file} was last used by a newer Rowhouse (its schema has version ${LATEST_VERSION + 1}, this one supports ${LATEST_VERSION}). Start Rowhouse 9.8.0 or later.`
    ])
    t.ok(readFileSync(file).equals(before))
    t.strictSame(readdirSync(join(file, '..')), ['shop.sqlite'], 'no other file is beside it')
  }
)
