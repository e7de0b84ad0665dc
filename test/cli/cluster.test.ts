import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { listenLocally } from '../../plugins/app/local-socket.ts'
import {
  asAdmin,
  bearer,
  client,
  createDatabase,
  expectData,
  importTable,
  startApp,
  temporaryDirectory
} from '../helpers.ts'
import { startCluster } from '../rqlite/cluster.ts'
import { runCommand, SHOP } from './command.ts'

/** Starts a cluster with the tables of a shop. Returns the settings of its services and commands. */
const startShop = async (t: Test) => {
  const { env } = await startCluster(t, createDatabase(t, SHOP))
  return { ...env, DATA_DIR: join(temporaryDirectory(t), 'data') }
}

const commandDirectories = () => readdirSync(tmpdir()).filter((name) => name.startsWith('rowhouse-command-'))

t.test('commands for a file refuse a cluster, say what to do, and create nothing', async (t) => {
  const file = createDatabase(t, SHOP)
  const directory = temporaryDirectory(t)
  const DATA_DIR = join(directory, 'data')
  const output = join(directory, 'out.csv')
  const cluster = { RQLITE_URLS: 'http://127.0.0.1:9', JWT_SECRET: 'x'.repeat(48), DATA_DIR }
  for (const [args, instead] of [
    [['check', file], 'Unset it to check a file. rqlite checks its own files.'],
    [
      ['upgrade', file],
      'The start of a service upgrades a cluster: make a backup with rqlite, then run rowhouse serve.'
    ],
    [['export', file, 'products', '--output', output], 'Use GET /admin/tables/:id/export of a service.'],
    [['import', file, 'products', '-', '--format', 'csv'], 'Use POST /admin/tables/:id/import of a service.'],
    [['backup'], 'Use the backups of rqlite: docs/guides/cluster.md.'],
    [['restore', file], 'Use the backups of rqlite: docs/guides/cluster.md.']
  ] as const) {
    const refused = await runCommand(args, { env: cluster })
    const message = `rowhouse ${args[0]} is for a file, and RQLITE_URLS names a cluster. ${instead}`
    t.strictSame(refused, { code: 1, stdout: '', stderr: `COMMAND_FAILED: ${message}\n` })
  }
  t.strictSame(readdirSync(directory), [])
  t.notOk(existsSync(`${file}-rowhouse`))
  t.match(await runCommand(['check', file], { env: { DATA_DIR } }), { code: 0, stdout: /^No problems\./ })
  t.match(await runCommand(['upgrade', file, '--dry-run'], { env: { DATA_DIR } }), { code: 0 })
})

t.test('commands reach the running service of a cluster', async (t) => {
  const env = await startShop(t)
  const app = await startApp(t, { env })
  t.teardown(await listenLocally(app))
  await importTable(await asAdmin(app), 'products')
  t.match(await runCommand(['health', '--ready'], { env }), { code: 0, stdout: 'ok\n' })
  const { stdout } = await runCommand(
    ['token', 'create', 'Till', '--tables', 'products', '--actions', 'read', '--json'],
    { env }
  )
  const { token } = JSON.parse(stdout)
  expectData(t, await client(app, bearer(token)).get('/data/products/records/ink'), {
    sku: 'ink',
    title: 'Ink',
    price: 8
  })
  t.match(await runCommand(['openapi'], { env }), { code: 0, stdout: /"Products"/ })
  t.match(await runCommand(['settings', 'set', 'maxPageSize=7'], { env }), {
    code: 0,
    stdout: /maxPageSize +7 +stored/
  })
})

t.test('without a service, commands open the cluster themselves, and leave no files', async (t) => {
  const env = await startShop(t)
  const before = commandDirectories()
  t.match(await runCommand(['admin', 'create', 'ann'], { env }), { code: 0, stdout: /^id +1$/m })
  const set = await runCommand(['settings', 'set', 'maxPageSize=7'], { env })
  t.match(set, { code: 0, stdout: /maxPageSize +7 +stored/ })
  t.match(await runCommand(['settings', 'list'], { env }), { code: 0, stdout: /maxPageSize +7 +stored/ })
  const health = await runCommand(['health'], { env })
  const served = `${env.RQLITE_URLS} with the DATA_DIR ${env.DATA_DIR}`
  t.match(health, {
    code: 1,
    stderr: `COMMAND_FAILED: No service runs for ${served}. Start it with rowhouse serve.\n`
  })
  t.notOk(existsSync(env.DATA_DIR))
  t.strictSame(commandDirectories(), before)
})

t.test('a cluster that refuses the command is named, and no files are left', async (t) => {
  const env = await startShop(t)
  const before = commandDirectories()
  const failed = await runCommand(['token', 'list'], { env: { ...env, RQLITE_CA: join(env.DATA_DIR, 'missing.pem') } })
  t.match(failed, { code: 1, stdout: '', stderr: /^COMMAND_FAILED: .*RQLITE_CA/ })
  t.match(await runCommand(['token', 'list'], { env }), { code: 0 })
  t.strictSame(commandDirectories(), before)
})
