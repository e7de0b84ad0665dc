import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { localSocketPath } from '../plugins/app/local-socket.ts'
import { createDatabase, temporaryDirectory } from './fixtures.ts'
import { type Environment, WITHOUT_OVERRIDE } from './plain-process.ts'
import { JWT_SECRET } from './rqlite/cluster.ts'
import { startFakeRqlite } from './rqlite/fake.ts'
import { assertListening, runService, type Service, withPreload } from './service-process.ts'

/** Measures the coverage of server.ts, which takes a second longer. Only tests of lines that no other test runs use it. */
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

/**
 * Ends the writer thread when it is ready. The main thread waits for that: the thread closes its connection, and a
 * reader that opens the file in these milliseconds finds it locked.
 */
const terminateWhenReady = `workers[0].once('message', () => {
  workers[0].terminate()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
})`

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

t.test('serve takes settings as options, and adopts all tables that are not registered', async (t) => {
  const file = createDatabase(
    t,
    'CREATE TABLE cats (name TEXT PRIMARY KEY); CREATE VIEW names AS SELECT name FROM cats'
  )
  const DATA_DIR = temporaryDirectory(t)
  // A directory in place of the socket.
  mkdirSync(localSocketPath({ DATABASE: file, DATA_DIR }))
  const args = [file, '--adopt', '--log-level', 'warn', '--require-password-change']
  const first = await start(t, { DATA_DIR }, { ...COVERED, args })
  t.match(first.lines.join('\n'), /^Adopted cats, names\.$/m)
  t.match(first.errorLines.join('\n'), /The local socket could not be opened/)
  t.equal(await stop(first), 0)
  const second = await start(t, { DATA_DIR }, { ...COVERED, args })
  t.notMatch(second.lines.join('\n'), /Adopted/)
  t.equal(await stop(second), 0)
})

t.test('the start says where the files are', async (t) => {
  const file = createDatabase(t, 'CREATE TABLE cats (name TEXT PRIMARY KEY)')
  const service = await start(t, { DATA_DIR: `${file}-rowhouse` }, { args: [file] })
  t.ok(service.lines.includes(`The database is ${file}, other files are in ${file}-rowhouse.`))
  t.match(readdirSync(`${file}-rowhouse`).join(' '), /\browhouse-[0-9a-f]+\.sock\b.*\bsecret\b/)
  t.equal(await stop(service), 0)
})

t.test('the start with a cluster names it, and warns without a password or TLS, or with other addresses', async (t) => {
  const credentials = { user: 'rowhouse', password: 'secret' }
  const user = { RQLITE_USER: credentials.user, RQLITE_PASSWORD: credentials.password }
  const [open, closed] = [await startFakeRqlite(t), await startFakeRqlite(t, { credentials })]
  const DATA_DIR = temporaryDirectory(t)
  const env = { DATA_DIR, JWT_SECRET, ADMIN_PASSWORD: 'correct horse' }
  const RQLITE_URLS = open.url.replace('127.0.0.1', 'localhost')
  const first = await start(t, { ...env, RQLITE_URLS }, COVERED)
  t.ok(first.lines.includes(`The cluster is ${RQLITE_URLS}, other files are in ${DATA_DIR}.`))
  t.equal((await logIn(first.address, 'correct horse')).status, 200)
  t.equal(await stop(first), 0)
  t.match(first.errorLines, [
    /The cluster has no password\. .* set RQLITE_USER and RQLITE_PASSWORD\./,
    /without TLS\. .*RQLITE_CA\./,
    `RQLITE_URLS does not have ${open.url}, `
  ])

  const second = await start(t, { ...env, ...user, RQLITE_URLS: closed.url.replace('http:', 'HTTP:') }, COVERED)
  t.equal(await stop(second), 0)
  t.match(second.errorLines, [/without TLS\./])
  t.equal(second.errorLines.length, 1)

  const RQLITE_CA = join(DATA_DIR, 'missing.pem')
  const secure = { ...env, ...user, RQLITE_URLS: closed.url.replace('http:', 'https:'), RQLITE_CA }
  const { code, output } = await startAndFail(t, secure, COVERED)
  t.equal(code, 1)
  t.match(output, /^Rowhouse did not start: .*RQLITE_CA/m)
  t.notMatch(output, /TLS\.|no password/)
})

t.test('a short ADMIN_PASSWORD is accepted with a warning', async (t) => {
  const server = await start(t, { DATA_DIR: temporaryDirectory(t), ADMIN_PASSWORD: 'short' }, COVERED)
  t.equal((await logIn(server.address, 'short')).status, 200)
  t.equal(await stop(server), 0)
  t.match(server.errorLines, [/ADMIN_PASSWORD is shorter than 8/])
})

t.test('an invalid variable prevents the start, and is named', async (t) => {
  const { code, output } = await startAndFail(t, { DATA_DIR: temporaryDirectory(t), PORT: 'http' })
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

t.test('METRICS_PORT is a second port, with the metrics alone', async (t) => {
  const server = await start(t, { DATA_DIR: temporaryDirectory(t), METRICS_PORT: '0' }, COVERED)
  const [, url = ''] = /Metrics for Prometheus: (\S+)/.exec(server.lines.join('\n')) ?? []
  const response = await fetch(url)
  t.equal(response.status, 200)
  t.match(await response.text(), /^rowhouse_reads_total /m)
  t.equal((await fetch(`${server.address}/metrics`)).status, 404)
  t.equal(await stop(server), 0)
})

t.test('a METRICS_PORT that is in use prevents the start, and nothing is created', async (t) => {
  const DATA_DIR = join(temporaryDirectory(t), 'data')
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const METRICS_PORT = String((other.address() as AddressInfo).port)
  const { code, output } = await startAndFail(t, { DATA_DIR, METRICS_PORT }, COVERED)
  t.equal(code, 1)
  t.match(
    output,
    /Rowhouse did not start: 127\.0\.0\.1:\d+ is in use \(EADDRINUSE\)\. Set METRICS_PORT to another port/
  )
  t.notOk(existsSync(DATA_DIR))
})

t.test('a port without permission prevents the start, and the message has the reason', async (t) => {
  const failing = (code: string) =>
    withPreload(`import { Server } from 'node:net'
    Server.prototype.listen = function () {
      const error = Object.assign(new Error('listen failed'), { code: '${code}' })
      setImmediate(() => this.emit('error', error))
      return this
    }`)
  const DATA_DIR = join(temporaryDirectory(t), 'data')
  const refused = await startAndFail(t, { DATA_DIR, ...failing('EACCES') }, COVERED)
  t.equal(refused.code, 1)
  t.match(refused.output, /Rowhouse did not start: This user may not listen at 127\.0\.0\.1:0 \(EACCES\)\. Set PORT/)
  const unknown = await startAndFail(t, { DATA_DIR, ...failing('EMFILE') }, COVERED)
  t.match(unknown.output, /Rowhouse did not start: listen failed/)
  t.notOk(existsSync(DATA_DIR))
})

t.test(
  'a DATA_DIR without write permission prevents the start, and nothing is changed',
  {
    skip: WITHOUT_OVERRIDE === null && 'root ignores permissions, and setpriv is missing'
  },
  async (t) => {
    const directory = temporaryDirectory(t)
    const [DATABASE, DATA_DIR] = [join(directory, 'shop.sqlite'), join(directory, 'data')]
    createSqlite(DATABASE, 'CREATE TABLE notes (text TEXT)')
    mkdirSync(DATA_DIR, { mode: 0o555 })
    const before = contentsOf(directory)
    const { code, output } = await startAndFail(t, { DATABASE, DATA_DIR }, { wrapper: WITHOUT_OVERRIDE ?? [] })
    t.equal(code, 1)
    t.match(
      output,
      /Rowhouse did not start: \S*data is not a directory in which this user can write \(EACCES\)\. Give it/
    )
    t.strictSame(contentsOf(directory), before)
  }
)

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

const createSqlite = (file: string, sql: string) => {
  const db = new BetterSqlite3(file)
  db.exec(sql)
  db.close()
}

/** Each value of DATABASE that is refused. `prepare` creates shop.sqlite in an empty directory. */
const REFUSED = [
  {
    name: 'that is not a database',
    prepare: (file: string) => writeFileSync(file, 'not a database'.repeat(500)),
    reason: /is damaged, or not a SQLite database \(file is not a database\)/
  },
  {
    name: 'that is damaged',
    prepare: (file: string) => {
      createSqlite(file, 'CREATE TABLE notes (text TEXT)')
      const bytes = readFileSync(file)
      writeFileSync(file, bytes.fill(0xa5, 100, 4096))
    },
    reason: /is damaged, or not a SQLite database/
  },
  {
    name: 'of a newer Rowhouse',
    prepare: (file: string) =>
      createSqlite(file, "CREATE TABLE _rowhouse_meta (key, value); INSERT INTO _rowhouse_meta VALUES ('version', 99)"),
    reason: /was last used by a newer Rowhouse/
  },
  { name: 'that is a directory', prepare: (file: string) => mkdirSync(file), reason: /is not a file/ },
  { name: 'that does not exist', prepare: () => {}, reason: /, which does not exist/, isCovered: true },
  {
    name: 'below a file',
    path: 'shop.sqlite/below',
    prepare: (file: string) => writeFileSync(file, ''),
    reason: /, which cannot be read: ENOTDIR/,
    isCovered: true
  },
  {
    name: 'without write permission',
    prepare: (file: string) => {
      createSqlite(file, 'CREATE TABLE notes (text TEXT)')
      chmodSync(file, 0o444)
    },
    reason: /This user cannot write to .* \(EACCES\)\. Give it the permission to read and write this file/,
    wrapper: WITHOUT_OVERRIDE
  },
  {
    name: 'in a directory without write permission',
    prepare: (file: string, t: Test) => {
      createSqlite(file, 'CREATE TABLE notes (text TEXT)')
      chmodSync(join(file, '..'), 0o555)
      t.teardown(() => chmodSync(join(file, '..'), 0o755))
    },
    reason: /This user cannot write to .* \(EACCES\)\. SQLite keeps the write-ahead log of .* there/,
    wrapper: WITHOUT_OVERRIDE
  }
]

/** Returns each path below a directory, with the content and the time of a file. */
const contentsOf = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((path) => {
      const file = join(directory, path)
      const stats = statSync(file)
      return stats.isFile() ? [path, readFileSync(file, 'hex'), stats.mtimeMs] : [path]
    })

for (const { name, prepare, reason, wrapper = [], isCovered = false, path = 'shop.sqlite' } of REFUSED) {
  const skip = wrapper === null && 'root ignores permissions, and setpriv is missing'
  t.test(`a DATABASE ${name} prevents the start, is named, and nothing is left behind`, { skip }, async (t) => {
    const directory = temporaryDirectory(t)
    const place = join(directory, 'place')
    for (const path of [place, join(directory, 'kept')]) mkdirSync(path)
    prepare(join(place, 'shop.sqlite'), t)
    const before = contentsOf(directory)
    const DATA_DIR = join(directory, 'kept', 'new', 'data')
    const env = { DATA_DIR, DATABASE: join(place, path) }
    const { code, output } = await startAndFail(t, env, { wrapper: wrapper ?? [], isCovered })
    t.equal(code, 1)
    t.match(output, reason)
    t.match(output, /^Rowhouse did not start: /)
    t.ok(output.includes(place), output)
    t.strictSame(contentsOf(directory), before)
  })
}

t.test('settings are read from .env in the working directory, and the environment wins', async (t) => {
  const cwd = t.testdir({ '.env': '# settings\nADMIN_PASSWORD="from the file" # quoted\nLOG_LEVEL=loud\n' })
  const options = { cwd }
  const fromFile = await start(t, { DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'warn' }, options)
  t.equal((await logIn(fromFile.address, 'from the file')).status, 200)
  t.equal(await stop(fromFile), 0)
  const env = { DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'warn', ADMIN_PASSWORD: 'correct horse' }
  const fromEnvironment = await start(t, env, options)
  t.equal((await logIn(fromEnvironment.address, 'correct horse')).status, 200)
  t.equal(await stop(fromEnvironment), 0)
  const { code, output } = await startAndFail(t, { DATA_DIR: temporaryDirectory(t) }, options)
  t.equal(code, 1)
  t.match(output, /LOG_LEVEL must be one of/)
})

t.test('a malformed .env prevents the start, and is named with its line', async (t) => {
  const cwd = t.testdir({ '.env': 'ADMIN_NAME=admin\nPORT 8080\n' })
  const DATA_DIR = join(temporaryDirectory(t), 'data')
  const { code, output } = await startAndFail(t, { DATA_DIR }, { ...COVERED, cwd })
  t.equal(code, 1)
  t.match(output, /COMMAND_FAILED: \/.*\/\.env is malformed in line 2\. Write NAME=value/)
  t.notOk(existsSync(DATA_DIR))
})

t.test('a misspelled setting is named in a warning, other variables are not', async (t) => {
  const cwd = t.testdir({ '.env': 'ADMIN_PASSWRD=secret\n' })
  const env = { DATA_DIR: temporaryDirectory(t), ADMIN_PASSWORD: 'correct horse', ACCES_LOG: 'true', PORTAL: 'x' }
  const server = await start(t, env, { ...COVERED, cwd })
  t.equal(await stop(server), 0)
  t.strictSame([...server.errorLines].sort(), [
    'The environment variable ACCES_LOG is not a setting. Did you mean ACCESS_LOG?',
    'The environment variable ADMIN_PASSWRD is not a setting. Did you mean ADMIN_PASSWORD?'
  ])
})

t.test('the start message mentions when the service listens on all addresses', async (t) => {
  const open = await start(t, { DATA_DIR: temporaryDirectory(t), HOST: '0.0.0.0' }, COVERED)
  t.match(open.lines.join('\n'), /listens at http:\/\/\S+:\d+ .*\(and at all other addresses of this machine\)/)
  const local = await start(t, { DATA_DIR: temporaryDirectory(t) })
  t.notMatch(local.lines.join('\n'), /all other addresses/)
  t.equal(await stop(open), 0)
  t.equal(await stop(local), 0)
})

t.test('a port in use prevents the start, and nothing is changed', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const directory = temporaryDirectory(t)
  const DATABASE = join(directory, 'shop.sqlite')
  createSqlite(DATABASE, 'CREATE TABLE notes (text TEXT)')
  const before = contentsOf(directory)
  const PORT = String((other.address() as AddressInfo).port)
  const env = { DATA_DIR: join(directory, 'data'), DATABASE }
  const { code, output } = await startAndFail(t, { ...env, PORT }, COVERED)
  t.equal(code, 1)
  t.match(output, /Rowhouse did not start: 127\.0\.0\.1:\d+ is in use \(EADDRINUSE\)\. Set PORT/)
  t.notMatch(output, /password/)
  t.strictSame(contentsOf(directory), before)
  const started = await start(t, env)
  const password = /password\s+(\S+)/.exec(started.lines.join('\n'))?.[1] ?? ''
  t.equal((await logIn(started.address, password)).status, 200)
  t.equal(await stop(started), 0)
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
  const DATA_DIR = join(temporaryDirectory(t), 'new')
  const fault = withFault('', terminateWhenReady)
  const { code, output } = await startAndFail(t, { DATA_DIR, ...fault }, COVERED)
  t.equal(code, 1)
  t.match(output, /Rowhouse did not start: The writer thread has ended/)
  t.ok(existsSync(join(DATA_DIR, 'rowhouse.db')), 'the database that was created is kept')
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
  const server = await start(t, env)
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
