import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createDatabase, PASSWORD, temporaryDirectory } from './fixtures.ts'
import { type Service, startService } from './service-process.ts'

/** The name in the examples of deploy/. */
const NAME = 'data.example.org'
/** An address of the loopback network that is not the address of the proxy. */
const CLIENT = '127.0.0.7'

const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`

const has = (command: string) => !spawnSync(command, ['version'], { env: { ...process.env, PATH } }).error

const missing = (...commands: string[]) => {
  const absent = commands.filter((command) => !has(command))
  return absent.length > 0 && `${absent.join(' and ')} not installed here`
}

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

const createCertificate = (directory: string) => {
  const [certificate, key] = [join(directory, 'certificate.pem'), join(directory, 'key.pem')]
  const options = ['-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', `/CN=${NAME}`]
  execFileSync('openssl', ['req', '-x509', ...options, '-out', certificate, '-keyout', key], { stdio: 'ignore' })
  return { certificate, key }
}

/** Replaces parts of an example. @throws if the example does not contain one */
const adapt = (file: string, replacements: readonly (readonly [string, string])[]) =>
  replacements.reduce(
    (content, [part, replacement]) => {
      if (!content.includes(part)) throw new Error(`${file} does not contain ${part}`)
      return content.replaceAll(part, replacement)
    },
    readFileSync(file, 'utf8')
  )

const run = (command: string, args: readonly string[]) =>
  spawnSync(command, args, { env: { ...process.env, PATH }, encoding: 'utf8' })

interface Sent {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** Returns a function that sends a request to a proxy on this port, from the address CLIENT. */
const createClient =
  (port: number) =>
  async (path: string, { method = 'GET', headers = {}, body }: Sent = {}) => {
    const options = { host: '127.0.0.1', port, path, method, headers, localAddress: CLIENT, agent: false as const }
    const sent = request({ ...options, servername: NAME, rejectUnauthorized: false })
    sent.setHeader('host', NAME)
    if (body !== undefined) sent.setHeader('content-type', 'application/json')
    sent.end(body)
    const [response] = await once(sent, 'response')
    return {
      status: response.statusCode as number,
      headers: response.headers as IncomingHttpHeaders,
      body: await text(response)
    }
  }

type Client = ReturnType<typeof createClient>

const untilReady = async (send: Client, proxy: ChildProcess) => {
  while (proxy.exitCode === null) {
    const response = await send('/health').catch(() => null)
    if (response?.status === 200) return
    await wait(50)
  }
  throw new Error(`The proxy exited with ${proxy.exitCode}.`)
}

const start = async (t: Test, [command, ...args]: readonly [string, ...string[]], port: number) => {
  const state = temporaryDirectory(t)
  const env = { ...process.env, PATH, XDG_CONFIG_HOME: state, XDG_DATA_HOME: state }
  const proxy = spawn(command, args, { env, stdio: 'ignore' })
  const ended = once(proxy, 'exit')
  t.teardown(async () => {
    proxy.kill()
    await ended
  })
  const send = createClient(port)
  await untilReady(send, proxy)
  return send
}

const startBehindProxy = (t: Test) => {
  const sql =
    "CREATE TABLE seats (hall TEXT, row INTEGER, guest TEXT, PRIMARY KEY (hall, row)); INSERT INTO seats VALUES ('x,y', 1, 'Bob')"
  const DATABASE = createDatabase(t, sql)
  return startService(t, { DATABASE, TRUST_PROXY: '127.0.0.1', ACCESS_LOG: 'true' })
}

/** Returns the first line with this text. The service writes a line after the response. */
const untilLogged = async (lines: readonly string[], part: string) => {
  for (;;) {
    const line = lines.find((logged) => logged.includes(part))
    if (line !== undefined) return line
    await wait(20)
  }
}

const check = async (t: Test, send: Client, { lines }: Service) => {
  const forged = { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-host': 'evil.example', 'x-request-id': 'forged' }
  const credentials = JSON.stringify({ name: 'admin', password: PASSWORD })
  const login = await send('/auth/login', { method: 'POST', headers: forged, body: credentials })
  t.equal(login.status, 200, login.body)
  const [cookie = ''] = login.headers['set-cookie'] ?? []
  t.match(cookie, /^__Host-rowhouse_session=.*; Secure/, 'the cookie is for https only')
  t.match(login.headers['strict-transport-security'], /max-age=/)

  const logged = await untilLogged(lines, '"path":"/auth/login"')
  t.match(JSON.parse(logged), { address: CLIENT, requestId: login.headers['x-request-id'] })
  t.notMatch(logged, /forged|192\.0\.2\.1/, 'headers of the client are replaced')

  const headers = { cookie: cookie.slice(0, cookie.indexOf(';')) }
  const origin = { ...headers, origin: `https://${NAME}` }
  const imported = await send('/admin/tables/import', { method: 'POST', headers: origin, body: '{"names":["*"]}' })
  t.equal(imported.status, 200, 'a page of this origin may change data')
  const record = await send('/admin/tables/1/data/x%2Cy,1', { headers })
  t.same(JSON.parse(record.body).data, { hall: 'x,y', row: 1, guest: 'Bob' }, 'the path is not decoded')
  const csv = await send('/admin/tables/1/export', { headers })
  t.equal(csv.body, '"hall","row","guest"\r\n"x,y",1,"Bob"\r\n')
  const long = await send(`/admin/tables/1/data/${'%C3%BC'.repeat(8000)},1`, { headers })
  t.equal(long.status, 404, 'a long key reaches the service')
  const large = await send('/admin/tables/1/data', { method: 'POST', headers, body: 'x'.repeat(1_048_577) })
  // The service closes the connection while the body is on its way. If the proxy notices that first, it responds 502.
  t.ok([413, 502].includes(large.status), `a body that is too large is refused with ${large.status}`)
}

t.test('deploy/nginx.conf works', { skip: missing('nginx', 'openssl') }, async (t) => {
  const directory = temporaryDirectory(t)
  const service = await startBehindProxy(t)
  const { certificate, key } = createCertificate(directory)
  const [port, plainPort] = [await freePort(), await freePort()]
  const site = adapt('deploy/nginx.conf', [
    ['  listen [::]:80;\n', ''],
    ['  listen [::]:443 ssl http2;\n', ''],
    ['listen 80;', `listen 127.0.0.1:${plainPort};`],
    ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
    ['server 127.0.0.1:3000;', `server ${service.host}:${service.port};`],
    [`/etc/letsencrypt/live/${NAME}/fullchain.pem`, certificate],
    [`/etc/letsencrypt/live/${NAME}/privkey.pem`, key]
  ])
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => {
    mkdirSync(join(directory, name))
    return `${name}_temp_path ${join(directory, name)};`
  })
  const file = join(directory, 'nginx.conf')
  const main = `daemon off; pid ${join(directory, 'pid')}; error_log ${join(directory, 'error.log')}; events {}`
  writeFileSync(file, `${main}\nhttp {\naccess_log off;\n${temporary.join('\n')}\n${site}}\n`)
  // As root, nginx works as another user, who must reach the directory of its temporary files.
  const args = [
    '-e',
    join(directory, 'error.log'),
    '-c',
    file,
    ...(process.getuid?.() === 0 ? ['-g', 'user root;'] : [])
  ]

  const { status, stderr } = run('nginx', ['-t', ...args])
  t.equal(status, 0, stderr)
  t.notMatch(stderr, /\[warn\]/)
  const send = await start(t, ['nginx', ...args], port)
  await check(t, send, service)
  const redirect = await fetch(`http://127.0.0.1:${plainPort}/docs`, { redirect: 'manual', headers: { host: NAME } })
  t.equal(redirect.status, 301)
})

t.test('deploy/Caddyfile works', { skip: missing('caddy', 'openssl') }, async (t) => {
  const directory = temporaryDirectory(t)
  const service = await startBehindProxy(t)
  const { certificate, key } = createCertificate(directory)
  const port = await freePort()
  const site = adapt('deploy/Caddyfile', [
    [`${NAME} {`, `https://${NAME}:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`],
    ['127.0.0.1:3000', `${service.host}:${service.port}`]
  ])
  const file = join(directory, 'Caddyfile')
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`)
  const args = ['--adapter', 'caddyfile', '--config', file]

  const { status, stderr } = run('caddy', ['validate', ...args])
  t.equal(status, 0, stderr)
  t.equal(run('caddy', ['fmt', 'deploy/Caddyfile']).stdout, readFileSync('deploy/Caddyfile', 'utf8'), 'is formatted')
  const send = await start(t, ['caddy', 'run', ...args], port)
  await check(t, send, service)
})

t.test('deploy/rowhouse.service is valid', { skip: missing('systemd-analyze') }, async (t) => {
  const file = join(temporaryDirectory(t), 'rowhouse.service')
  writeFileSync(file, adapt('deploy/rowhouse.service', [['/usr/bin/node', process.execPath]]))
  const { status, stdout, stderr } = run('systemd-analyze', ['verify', file])
  t.equal(status, 0, stdout + stderr)
  t.equal(stdout + stderr, '', 'no directive is unknown')
  const security = run('systemd-analyze', ['security', '--offline=true', '--threshold=15', file])
  t.equal(security.status, 0, 'the exposure is at most 1.5 of 10')
})
