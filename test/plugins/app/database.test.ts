import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readConfig } from '../../../config.ts'
import { startOpening } from '../../../plugins/app/database.ts'
import { temporaryDirectory } from '../../helpers.ts'

t.test('a refused database removes the directories that its start created, up to one that is not empty', async (t) => {
  const root = temporaryDirectory(t)
  const DATABASE = join(root, 'text.sqlite')
  writeFileSync(DATABASE, 'This is not a database. '.repeat(100))
  const refuse = async (DATA_DIR: string, fill = () => {}) => {
    const { opened, abandon } = startOpening({ config: readConfig({ DATA_DIR, DATABASE }), onDeath: t.threw })
    fill()
    await t.rejects(opened, /is damaged, or it is not a SQLite database|text\.sqlite/)
    await abandon()
  }
  await refuse(join(root, 'a', 'b'))
  t.notOk(existsSync(join(root, 'a')))
  await refuse(join(root, 'c', 'd'), () => mkdirSync(join(root, 'c', 'd', 'used')))
  t.ok(existsSync(join(root, 'c', 'd', 'used')))
})
