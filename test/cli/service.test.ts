import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createNetServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { readConfig } from '../../config.ts'
import { localSocketPath } from '../../plugins/app/local-socket.ts'
import { API_VERSION } from '../../services/model/version.ts'
import { asAdmin, createDatabase, dataOf, importTable, startApp, temporaryDirectory } from '../helpers.ts'
import { runCommand, SHOP, startLocalService } from './command.ts'

t.test('health succeeds while the service runs', async (t) => {
  const { options } = await startLocalService(t)
  t.match(await runCommand(['health', ...options]), { code: 0, stdout: 'ok\n' })
  t.match(await runCommand(['health', '--ready', '--json', ...options]), { code: 0, stdout: '{"status":"ok"}\n' })
  const elsewhere = ['--data-dir', temporaryDirectory(t)]
  t.match(await runCommand(['health', ...elsewhere]), {
    code: 1,
    stderr: /^COMMAND_FAILED: There is no database /
  })
  const stopped = ['--database', createDatabase(t, SHOP)]
  t.match(await runCommand(['health', ...stopped]), { code: 1, stderr: /^COMMAND_FAILED: No service runs for / })
})

t.test('a program that is not Rowhouse is reported', async (t) => {
  const directory = temporaryDirectory(t)
  const server = createServer((_request, response) => response.writeHead(500).end('{}'))
  await once(server.listen(localSocketPath({ DATA_DIR: directory })), 'listening')
  t.teardown(() => server.close())
  const failed = await runCommand(['health', '--data-dir', directory])
  t.match(failed, { code: 1, stderr: 'UNEXPECTED_RESPONSE: The service returned the status 500.\n' })
})

t.test('openapi prints the document of the tables', async (t) => {
  const { app, options } = await startLocalService(t)
  await importTable(await asAdmin(app), 'products')
  const { stdout } = await runCommand(['openapi', ...options])
  t.match(JSON.parse(stdout), { openapi: '3.1.0', components: { schemas: { Products: {} } } })
  t.match(JSON.parse((await runCommand(['openapi', '--openapi', '3.0', ...options])).stdout), { openapi: '3.0.3' })
})

t.test('backup makes a backup', async (t) => {
  const { app, options } = await startLocalService(t)
  const { code, stdout } = await runCommand(['backup', ...options])
  t.equal(code, 0)
  t.match(stdout, /^20\d\d-\d\d-\d\dT[\d-]+Z-manual\.db\n$/)
  t.strictSame(readdirSync(join(app.config.DATA_DIR, 'backups')), [stdout.trim()])
})

t.test('--version prints the version of Rowhouse', async (t) => {
  t.match(await runCommand(['--version']), { code: 0, stdout: `${API_VERSION}\n` })
})

t.test('restore takes the name of a backup, and keeps the state before', async (t) => {
  const { app, options } = await startLocalService(t)
  const admin = await asAdmin(app)
  const { id } = await importTable(admin, 'products')
  const name = (await runCommand(['backup', ...options], { isTTY: true })).stdout.trim()
  await admin.delete(`/admin/tables/${id}/records/pen`)
  const restored = await runCommand(['restore', name, ...options])
  t.match(restored, { code: 0, stdout: /^Restored\. The state before is in \S+-before-restore\.db\.\n$/ })
  t.equal(dataOf(await admin.get(`/admin/tables/${id}/data`)).rows.length, 2)
  const again = await runCommand(['restore', name, '--json', ...options], { isTTY: true })
  t.match(JSON.parse(again.stdout), { before: { kind: 'before-restore' } })
  t.match(again.stderr, /MiB/, 'a terminal shows the progress')
  t.match(await runCommand(['restore', '2020-01-01T00-00-00Z-manual.db', ...options]), {
    code: 1,
    stderr: /^BACKUP_NOT_FOUND: /
  })
})

t.test('restore uploads a file, of another service too, and refuses a file that is no backup', async (t) => {
  const { app, options } = await startLocalService(t)
  const admin = await asAdmin(app)
  await importTable(admin, 'products')
  const { stdout } = await runCommand(['backup', ...options])
  const backup = join(app.backups.path, stdout.trim())
  const database = createDatabase(t, '')
  const restored = await runCommand(['restore', backup, '--include-access', '--database', database])
  t.match(restored, { code: 0, stdout: /^Restored/ })
  t.match(await runCommand(['export', database, 'products']), { code: 0, stdout: /"pen","Fountain pen"/ })
  const created = await runCommand(['admin', 'create', 'admin', '--database', database])
  t.match(created, { code: 1, stderr: /^ADMIN_EXISTS/ }, 'the administrator of the backup is there')
  const other = createDatabase(t, SHOP)
  t.match(await runCommand(['restore', other, ...options]), { code: 1, stderr: /^BACKUP_INVALID: / })
  const folder = await runCommand(['restore', temporaryDirectory(t), ...options])
  t.match(folder, { code: 2, stderr: /^WRONG_USAGE: There is no file .*, and it is not the name of a backup\.\n$/ })
  writeFileSync(`${other}-wal`, 'x')
  const inUse = await runCommand(['restore', other, ...options])
  t.match(inUse, { code: 1, stderr: /is in use: its last changes are in .*-wal\. Make a copy with rowhouse backup/ })
})

t.test('version prints the versions', async (t) => {
  const { stdout } = await runCommand(['version'])
  t.match(stdout.split('\n'), [
    `rowhouse  ${API_VERSION}`,
    `node      ${process.versions.node}`,
    /^sqlite {4}3\.\d+\.\d+$/,
    ''
  ])
  t.match(JSON.parse((await runCommand(['version', '--json'])).stdout), { rowhouse: API_VERSION })
})

t.test('without a service, a command works on the file, and leaves no service behind', async (t) => {
  const file = createDatabase(t, SHOP)
  const dataDir = `${file}-rowhouse`
  const created = await runCommand(['admin', 'create', 'ann', '--database', file])
  t.match(created, { code: 0, stdout: /^id {8}1\n/ }, 'there is no other administrator')
  t.notOk(existsSync(`${file}-wal`), 'the file was closed')
  t.notOk(readdirSync(dataDir).some((name) => name.endsWith('.sock')))
  t.match(await runCommand(['token', 'list', '--database', file]), { code: 0, stdout: /^ID/ })
})

t.test('commands find the database by the variables, or refuse to create one', async (t) => {
  const directory = temporaryDirectory(t)
  const missing = await runCommand(['token', 'list'], { env: { DATA_DIR: directory } })
  t.match(missing, { code: 1, stderr: /^COMMAND_FAILED: There is no database / })
  t.strictSame(readdirSync(directory), [])
  const file = createDatabase(t, SHOP)
  t.match(await runCommand(['token', 'list'], { env: { DATABASE: file, DATA_DIR: directory } }), { code: 0 })
  rmSync(file)
  t.match(await runCommand(['token', 'list', '--database', file]), { code: 1, stderr: /There is no database / })
})

t.test('wrong usage exits with 2, and help with 0', async (t) => {
  t.match(await runCommand(['fly']), { code: 2, stderr: /unknown command 'fly'/ })
  t.match(await runCommand(['import', 'shop.sqlite']), { code: 2, stderr: /missing required argument 'TABLE'/ })
  t.match(await runCommand(['token', 'create', 'x']), { code: 2, stderr: /--tables/ })
  t.match(await runCommand(['--help']), { code: 0, stdout: /Example:\n {2}rowhouse serve shop\.sqlite\n/ })
})

t.test('each command has an example in its help', async (t) => {
  const commands = ['serve', 'backup', 'check', 'import', 'export', 'health', 'openapi', 'version']
  const nested = [
    ['token', 'create'],
    ['token', 'list'],
    ['token', 'revoke'],
    ['admin', 'create'],
    ['admin', 'reset-password'],
    ['settings', 'list'],
    ['settings', 'set'],
    ['settings', 'reset']
  ]
  for (const command of [...commands.map((name) => [name]), ...nested]) {
    const { code, stdout } = await runCommand([...command, '--help'])
    t.equal(code, 0)
    t.match(stdout, new RegExp(`Example:\\n  rowhouse ${command.join(' ')}`), command.join(' '))
  }
})

t.test('serve has an option for each setting that is no secret', async (t) => {
  const { stdout } = await runCommand(['serve', '--help'])
  for (const option of [
    '--port <value>',
    '--data-dir <value>',
    '--access-log ',
    '--wal-size <value>',
    '--rqlite-urls <value>'
  ])
    t.match(stdout, option)
  t.match(stdout, /--host <value> +HOST, by default 127\.0\.0\.1/)
  t.match(stdout, /^With --rqlite-urls, Rowhouse serves a cluster of rqlite nodes/m)
  t.notMatch(stdout, /--admin-password|--jwt-secret|--metrics-token/)
})

t.test('a command waits for a service that is starting, and not for ever', async (t) => {
  const file = createDatabase(t, SHOP)
  const config = readConfig({ DATABASE: file })
  const commands = await Promise.all([1, 2, 3].map(() => runCommand(['token', 'list', '--database', file])))
  t.strictSame(
    commands.map(({ code }) => code),
    [0, 0, 0]
  )

  // It has the lock, and no socket.
  const app = await startApp(t, { env: { DATABASE: file, DATA_DIR: config.DATA_DIR } })
  const locked = await runCommand(['token', 'list', '--database', file])
  t.match(locked, { code: 1, stderr: /^COMMAND_FAILED: Another Rowhouse serves / })
  await app.close()
})

t.test('a command that cannot open the local socket leaves the database free', async (t) => {
  const file = createDatabase(t, SHOP)
  const { DATA_DIR } = readConfig({ DATABASE: file })
  const path = localSocketPath({ DATABASE: file, DATA_DIR })
  mkdirSync(path, { recursive: true })
  t.match(await runCommand(['token', 'list', '--database', file]), { code: 1, stderr: /^COMMAND_FAILED: / })
  rmSync(path, { recursive: true })
  t.match(await runCommand(['token', 'list', '--database', file]), { code: 0 })
})

t.test('a service that does not respond is not healthy, and one that breaks off is reported', async (t) => {
  const DATA_DIR = temporaryDirectory(t)
  const sockets: Socket[] = []
  const listen = async (onSocket: (socket: Socket) => void) => {
    const server = createNetServer((socket) => {
      sockets.push(socket)
      onSocket(socket)
    })
    await once(server.listen(localSocketPath({ DATA_DIR })), 'listening')
    return () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
  const close = await listen(() => {})
  const silent = await runCommand(['health', '--data-dir', DATA_DIR])
  t.match(silent, { code: 1, stderr: 'COMMAND_FAILED: The service did not respond within 5000 ms.\n' })
  close()
  t.teardown(await listen((socket) => socket.once('data', () => socket.destroy())))
  const broken = await runCommand(['health', '--data-dir', DATA_DIR])
  t.match(broken, { code: 1, stderr: /^COMMAND_FAILED: The service has closed the connection \(ECONNRESET\)/ })
})

t.test('a local socket that this user cannot open is named', async (t) => {
  const file = createDatabase(t, SHOP)
  const failed = await runCommand(['health', '--database', file, '--data-dir', file])
  t.match(failed, { code: 1, stderr: /^COMMAND_FAILED: The socket .* of the service cannot be opened \(ENOTDIR\)/ })
})

t.test('a command works on the file if the service stops before its first request', async (t) => {
  const file = createDatabase(t, SHOP)
  const { DATA_DIR } = readConfig({ DATABASE: file })
  mkdirSync(DATA_DIR)
  const stopping = createNetServer((socket) => {
    stopping.close()
    socket.destroy()
  })
  await once(stopping.listen(localSocketPath({ DATABASE: file, DATA_DIR })), 'listening')
  t.match(await runCommand(['token', 'list', '--database', file]), { code: 0, stdout: /^ID/ })
})

const main = fileURLToPath(new URL('../../cli/main.js', import.meta.url))

t.test('a program that stops to read the output gets no error', async (t) => {
  const child = spawn(process.execPath, [main, 'version'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  t.equal(code, 1)
  t.equal(errors, '')
})

/** A file of Linux that has no space. */
const FULL = '/dev/full'

t.test(
  'an output that cannot be written is an error',
  { skip: !existsSync(FULL) && `there is no ${FULL}` },
  async (t) => {
    const output = openSync(FULL, 'w')
    t.teardown(() => closeSync(output))
    const child = spawn(process.execPath, [main, 'version'], { stdio: ['ignore', output, 'pipe'] })
    const [errors, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')])
    t.equal(code, 1)
    t.match(errors, /COMMAND_FAILED: The output cannot be written: .*ENOSPC/)
  }
)
