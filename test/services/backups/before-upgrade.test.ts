import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { backUpBeforeUpgrade } from '../../../services/backups/before-upgrade.ts'
import { temporaryDirectory } from '../../fixtures.ts'

const UPGRADE = { from: 7, to: 8, bytes: 4096, copy: async () => {} }

t.test('the backup is in the directory, and its path is returned', async (t) => {
  const path = temporaryDirectory(t)
  const { from, to, backup } = await backUpBeforeUpgrade(UPGRADE, { path, servedFile: 'shop.db' })
  t.strictSame(
    { from, to, names: readdirSync(path).map((name) => join(path, name)) },
    { from: 7, to: 8, names: [backup] }
  )
})

t.test('without space for it, the error says how much is missing, and nothing is copied', async (t) => {
  const path = temporaryDirectory(t)
  const copy = async () => {
    t.fail()
  }
  const failed = backUpBeforeUpgrade({ ...UPGRADE, copy }, { path, servedFile: 'shop.db', marginBytes: 2 ** 60 })
  await t.rejects(failed, {
    message:
      /^The tables of Rowhouse must be upgraded from version 7 to 8, but the backup before it cannot be made\. The file was not changed\. The disk of the backups has \d+ MiB free, and the backup needs \d+ MiB\..* set BACKUP_DIR to a directory on another disk\.$/
  })
  t.strictSame(readdirSync(path), [])
})
