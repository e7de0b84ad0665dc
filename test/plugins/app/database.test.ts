import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readConfig } from '../../../config.ts'
import { startOpening } from '../../../plugins/app/database.ts'
import { temporaryDirectory } from '../../helpers.ts'

t.test('a secret or a directory that cannot be used is refused before the database is opened', async (t) => {
  const root = temporaryDirectory(t)
  const DATABASE = join(root, 'empty.sqlite')
  writeFileSync(DATABASE, '')
  const refuse = (env: object, reason: RegExp) =>
    t.throws(() => startOpening({ config: readConfig({ DATABASE, ...env }), onDeath: t.threw }), { message: reason })
  refuse({ DATA_DIR: join(root, 'new'), JWT_SECRET: 'short' }, /^JWT_SECRET is shorter than 32 bytes/)
  const jwt = { JWT_ISSUER: 'https://id.example.org', JWT_AUDIENCE: 'shop', JWT_ROLE: 'customer' }
  const JWT_PUBLIC_KEY_FILE = join(root, 'key.pem')
  refuse(
    { DATA_DIR: join(root, 'new'), ...jwt, JWT_PUBLIC_KEY_FILE },
    /^JWT_PUBLIC_KEY_FILE names .*key\.pem, which is no/
  )
  const DATA_DIR = join(root, 'data')
  mkdirSync(DATA_DIR)
  writeFileSync(join(DATA_DIR, 'staging'), 'mine')
  refuse({ DATA_DIR }, /staging is not a directory in which this user can write \(ENOTDIR\)\. .* set DATA_DIR/)
  writeFileSync(join(DATA_DIR, 'secret'), 'short', { mode: 0o600 })
  refuse({ DATA_DIR }, /secret is shorter than 32 bytes/)
  t.strictSame(readdirSync(root, { recursive: true }).sort(), ['data', 'data/secret', 'data/staging', 'empty.sqlite'])
  t.equal(readFileSync(DATABASE, 'utf8'), '')
})

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
