import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { temporaryDirectory } from './helpers.ts'
import type { Environment } from './plain-process.ts'
import { assertListening, runService, type Service, withPreload } from './service-process.ts'

/** Measures the coverage of server.ts, which takes a second longer. */
const COVERED = { isCovered: true }

/** Without ADMIN_PASSWORD, the service generates the password of the first administrator. */
const launch = (t: Test, env: Environment, options = {}) =>
  runService(t, { ADMIN_PASSWORD: undefined, ...env }, options)

const start = async (...args: Parameters<typeof launch>) => assertListening(await launch(...args))

/** Runs code in the process of the server: `onThread` when a thread starts, `onSignal` on SIGWINCH. */
const withFault = (onSignal: string, onThread = '') =>
  withPreload(`import threads from 'node:worker_threads'
    import { syncBuiltinESMExports } from 'node:module'
    if (threads.isMainThread) {
      const workers = []
      threads.Worker = class extends threads.Worker { constructor(...args) { super(...args); workers.push(this); ${onThread} } }
      syncBuiltinESMExports()
      process.once('SIGWINCH', () => { ${onSignal} })
    }`)

const stop = async ({ end }: Service) => {
  const [code] = await end('SIGTERM')
  return code
}

/** Waits for the exit of a server that does not start. */
const startAndFail = async (...args: Parameters<typeof launch>) => {
  const { ended, lines } = await launch(...args)
  const [code] = await ended
  return { code, output: lines.join('\n') }
}

const logIn = (address: string, password: string) =>
  fetch(`${address}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'admin', password })
  })

t.test(
  'the first start creates an administrator and prints the password once; SIGTERM ends the process with 0',
  async (t) => {
    const DATA_DIR = join(temporaryDirectory(t), 'new', 'data')
    const first = await start(t, { DATA_DIR }, COVERED)
    const password = /password\s+(\S+)/.exec(first.lines.join('\n'))?.[1] ?? ''
    t.equal((await logIn(first.address, password)).status, 200)
    t.equal((await logIn(first.address, 'something else')).status, 401)
    t.equal(await stop(first), 0)
    t.notOk(existsSync(join(DATA_DIR, 'rowhouse.db-wal')), 'the WAL was checkpointed')

    const second = await start(t, { DATA_DIR })
    t.notMatch(second.lines.join('\n'), /password/)
    t.equal((await logIn(second.address, password)).status, 200)
    t.equal(await stop(second), 0)
  }
)

t.test('a short ADMIN_PASSWORD is accepted with a warning', async (t) => {
  const server = await start(t, { DATA_DIR: temporaryDirectory(t), ADMIN_PASSWORD: 'short' }, COVERED)
  t.equal((await logIn(server.address, 'short')).status, 200)
  t.equal(await stop(server), 0)
  t.match(server.errorLines, [/ADMIN_PASSWORD is shorter than 8/])
})

t.test('an invalid variable prevents the start, and is named', async (t) => {
  const { code, output } = await startAndFail(t, { DATA_DIR: temporaryDirectory(t), PORT: 'http' }, COVERED)
  t.equal(code, 1)
  t.match(output, /Rowhouse did not start: .*PORT must be an integer/)
})

t.test('a weak secret prevents the start, before a password is generated', async (t) => {
  const DATA_DIR = temporaryDirectory(t)
  const { code, output } = await startAndFail(t, { DATA_DIR, JWT_SECRET: 'changeme'.repeat(5) })
  t.equal(code, 1)
  t.match(output, /Rowhouse did not start: JWT_SECRET can be guessed/)
  t.match((await start(t, { DATA_DIR })).lines.join('\n'), /password/)
})

t.test('a HOST of another machine prevents the start', async (t) => {
  const { code, output } = await startAndFail(t, { DATA_DIR: temporaryDirectory(t), HOST: '192.0.2.1' }, COVERED)
  t.equal(code, 1)
  t.match(
    output,
    /Rowhouse did not start: HOST is 192\.0\.2\.1, which is not an address of this machine \(EADDRNOTAVAIL\)/
  )
})

t.test('a port without permission prevents the start, and the message has the reason', async (t) => {
  const preload = withPreload(`import { Server } from 'node:net'
    Server.prototype.listen = function () {
      const error = Object.assign(new Error('listen EACCES: permission denied 127.0.0.1:80'), { code: 'EACCES' })
      setImmediate(() => this.emit('error', error))
      return this
    }`)
  const { code, output } = await startAndFail(t, { DATA_DIR: temporaryDirectory(t), ...preload }, COVERED)
  t.equal(code, 1)
  t.match(output, /Rowhouse did not start: listen EACCES: permission denied/)
})

t.test('a DATA_DIR that is a file prevents the start, and the file is unchanged', async (t) => {
  const file = join(temporaryDirectory(t), 'notes.txt')
  writeFileSync(file, 'mine')
  for (const DATA_DIR of [file, join(file, 'below')]) {
    const { code, output } = await startAndFail(t, { DATA_DIR }, COVERED)
    t.equal(code, 1)
    t.match(
      output,
      /Rowhouse did not start: DATA_DIR names .*notes\.txt\S*, which is not a directory and cannot be created: E/
    )
  }
  t.equal(readFileSync(file, 'utf8'), 'mine')
})

t.test('a DATABASE that does not exist prevents the start, and is not created', async (t) => {
  const DATABASE = join(temporaryDirectory(t), 'typo.sqlite')
  const { code, output } = await startAndFail(t, { DATA_DIR: temporaryDirectory(t), DATABASE }, COVERED)
  t.equal(code, 1)
  t.match(output, /Rowhouse did not start: DATABASE names .*typo\.sqlite, which does not exist/)
  t.notOk(existsSync(DATABASE))
})

t.test('the start message mentions when the service listens on all addresses', async (t) => {
  const open = await start(t, { DATA_DIR: temporaryDirectory(t), HOST: '0.0.0.0' }, COVERED)
  t.match(open.lines.join('\n'), /listens at http:\/\/\S+:\d+ .*\(and at all other addresses of this machine\)/)
  const local = await start(t, { DATA_DIR: temporaryDirectory(t) })
  t.notMatch(local.lines.join('\n'), /all other addresses/)
  t.equal(await stop(open), 0)
  t.equal(await stop(local), 0)
})

t.test('a port in use prevents the start, and the database is closed', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const DATA_DIR = temporaryDirectory(t)
  const PORT = String((other.address() as AddressInfo).port)
  const { code, output } = await startAndFail(t, { DATA_DIR, PORT }, COVERED)
  t.equal(code, 1)
  t.match(output, /Rowhouse did not start: 127\.0\.0\.1:\d+ is in use \(EADDRINUSE\)\. Set PORT/)
  t.match(output, /The administrator above was created\. Keep the password\./)
  const password = /password\s+(\S+)/.exec(output)?.[1] ?? ''
  const again = await startAndFail(t, { DATA_DIR, PORT }, COVERED)
  t.notMatch(again.output, /Keep the password/)
  const restarted = await start(t, { DATA_DIR })
  t.equal((await logIn(restarted.address, password)).status, 200)
  t.equal(await stop(restarted), 0)
})

t.test('a second process on the same file does not start, and the first continues', async (t) => {
  const DATA_DIR = temporaryDirectory(t)
  const first = await start(t, { DATA_DIR, ADMIN_PASSWORD: 'correct horse' })
  const { code, output } = await startAndFail(t, { DATA_DIR })
  t.equal(code, 1)
  t.match(output, /Another Rowhouse serves/)
  t.equal((await logIn(first.address, 'correct horse')).status, 200)
  t.equal(await stop(first), 0)
})

t.test('when the writer thread dies, the process logs it and exits with 1', async (t) => {
  const fault = withFault('workers[0].terminate()')
  const env = { DATA_DIR: temporaryDirectory(t), ADMIN_PASSWORD: 'correct horse', ...fault }
  const server = await start(t, env, COVERED)
  t.equal((await logIn(server.address, 'correct horse')).status, 200)
  server.child.kill('SIGWINCH')
  t.equal((await server.ended)[0], 1)
  t.match(server.lines.join('\n'), /The database engine has stopped/)
})

t.test('when the writer thread dies during the start, the process prints it and exits with 1', async (t) => {
  const fault = withFault('', "workers[0].once('message', () => workers[0].terminate())")
  const { code, output } = await startAndFail(t, { DATA_DIR: temporaryDirectory(t), ...fault }, COVERED)
  t.equal(code, 1)
  t.match(output, /Rowhouse did not start: The writer thread has ended/)
})

t.test('an uncaught error is logged, and the process shuts down', async (t) => {
  const DATA_DIR = temporaryDirectory(t)
  const server = await start(t, { DATA_DIR, ...withFault("throw new Error('our own error')") }, COVERED)
  server.child.kill('SIGWINCH')
  t.equal((await server.ended)[0], 1)
  t.match(server.lines.join('\n'), /our own error/)
  t.notOk(existsSync(join(DATA_DIR, 'rowhouse.db-wal')), 'the database was closed')
})

t.test('ACCESS_LOG writes one line per request, without credentials', async (t) => {
  const env = {
    DATA_DIR: temporaryDirectory(t),
    ADMIN_PASSWORD: 'correct horse',
    ACCESS_LOG: 'true'
  }
  const server = await start(t, env, COVERED)
  const response = await fetch(`${server.address}/data/cats?q=canary`, {
    headers: { authorization: 'Bearer rh_canary' }
  })
  t.equal(await stop(server), 0)
  const id = response.headers.get('x-request-id')
  const lines = server.lines.filter((line) => line.includes(`"requestId":"${id}"`))
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] ?? ''), { method: 'GET', path: '/data/cats', status: 401, code: 'INVALID_TOKEN' })
  t.notMatch(server.lines.join('\n'), /canary/)
})

t.test('a request in flight finishes after SIGTERM', async (t) => {
  const server = await start(t, { DATA_DIR: temporaryDirectory(t), ADMIN_PASSWORD: 'correct horse' }, COVERED)
  const body = JSON.stringify({ name: 'admin', password: 'correct horse' })
  const login = request(`${server.address}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': body.length, expect: '100-continue' }
  })
  login.flushHeaders()
  await once(login, 'continue')
  const exit = once(server.child, 'exit')
  server.child.kill('SIGTERM')
  login.end(body)
  const [response] = await once(login, 'response')
  t.equal(response.statusCode, 200)
  response.resume()
  t.same((await exit)[0], 0)
})
