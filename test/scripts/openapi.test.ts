import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { asAdmin, bearer, createTable, issueToken, startApp, temporaryDirectory } from '../helpers.ts'
import { plainNode } from '../plain-process.ts'

const SCRIPT = resolve('scripts/openapi.js')
const directory = temporaryDirectory(t)
const app = await startApp(t)
const url = await app.listen({ port: 0, host: '127.0.0.1' })
const admin = await asAdmin(app)
await createTable(admin, { name: 'products', fields: [{ name: 'title', jsonType: 'string' }] })
const token = await issueToken(admin, { tables: ['products'], actions: ['read'] })

const ENV = ['--token-env', 'SHOP_TOKEN']

const NODE_SCRIPT = [...plainNode(), SCRIPT]

interface RunOptions {
  readonly input?: string
  readonly env?: Record<string, string | undefined>
  readonly command?: readonly string[]
}

const WITHOUT_NPM = { npm_lifecycle_event: undefined, npm_config_loglevel: undefined }

/** The service runs in this process, so it must not wait for the command. */
const run = async (args: readonly string[], { input = '', env = {}, command = NODE_SCRIPT }: RunOptions = {}) => {
  const [name = '', ...first] = command
  const child = spawn(name, [...first, ...args], {
    cwd: directory,
    env: { ...process.env, ...WITHOUT_NPM, SHOP_TOKEN: token, ...env },
    stdio: 'pipe'
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { stdout, stderr, status }
}

const expectFailure = async (t: Test, args: readonly string[], sentence: RegExp, options?: RunOptions) => {
  const { status, stdout, stderr } = await run(args, options)
  t.equal(status, 1)
  t.match(stderr, sentence)
  t.match(stderr, /^[^\n]+\.\n$/, 'one line of sentences')
  t.equal(stdout, '')
}

const documentIn = async (version: string) =>
  (await app.inject({ url: `/data/_openapi.json?openapi=${version}`, headers: bearer(token) })).json()

t.test('the document of a token is printed, with the token from the environment', async (t) => {
  const { status, stdout, stderr } = await run(['--url', url, ...ENV])
  t.equal(stderr, '')
  t.equal(status, 0)
  t.equal(stdout, `${JSON.stringify(await documentIn('3.1'), null, 2)}\n`)
})

t.test('the token may come from standard input', async (t) => {
  const { status, stdout } = await run(['--url', `${url}/`, '--token-stdin'], { input: `${token}\n` })
  t.equal(status, 0)
  t.strictSame(JSON.parse(stdout), await documentIn('3.1'))
})

t.test('--openapi 3.0 fetches OpenAPI 3.0, and --output writes a file', async (t) => {
  const { status, stdout } = await run(['--url', url, ...ENV, '--openapi', '3.0', '--output', 'shop-3.0.json'])
  t.equal(status, 0)
  t.equal(stdout, '')
  t.strictSame(JSON.parse(readFileSync(join(directory, 'shop-3.0.json'), 'utf8')), await documentIn('3.0'))
})

t.test('--check accepts a file with the same content, also with other white space', async (t) => {
  const file = join(directory, 'current.json')
  await run(['--url', url, ...ENV, '--output', file])
  t.match(await run(['--url', url, ...ENV, '--check', file]), { status: 0, stdout: '', stderr: '' })
  writeFileSync(file, JSON.stringify(await documentIn('3.1')))
  t.match(await run(['--url', url, ...ENV, '--check', file]), { status: 0, stdout: '', stderr: '' })
})

t.test('--check fails after a change of the table, and does not change the file', async (t) => {
  const file = join(directory, 'older.json')
  const other = await createTable(admin, { name: 'orders', fields: [{ name: 'note', jsonType: 'string' }] })
  const env = { SHOP_TOKEN: await issueToken(admin, { tables: ['orders'], actions: ['read'] }) }
  await run(['--url', url, ...ENV, '--output', file], { env })
  const written = readFileSync(file, 'utf8')
  await admin.post(`/admin/tables/${other.id}/fields`, { field: { name: 'weight', jsonType: 'number' } })
  const sentence = /older\.json differs from the document of http.* Write it again with --output .*older\.json/
  await expectFailure(t, ['--url', url, ...ENV, '--check', file], sentence, { env })
  t.equal(readFileSync(file, 'utf8'), written)
})

t.test('--check fails for a file that is missing, or that is not JSON', async (t) => {
  await expectFailure(t, ['--url', url, ...ENV, '--check', 'none.json'], /none\.json cannot be compared: .*--output/)
  writeFileSync(join(directory, 'broken.json'), '{')
  await expectFailure(
    t,
    ['--url', url, ...ENV, '--check', 'broken.json'],
    /broken\.json cannot be compared: .*--output/
  )
})

t.test('a file that cannot be written is an error', (t) =>
  expectFailure(t, ['--url', url, ...ENV, '--output', 'none/shop.json'], /none\/shop\.json cannot be written/)
)

t.test('a token as an argument is refused, and not repeated', async (t) => {
  for (const args of [['--token', token], [`--token=${token}`], [token], ['--url', url, '--token-env', token]]) {
    await expectFailure(t, args, /must not be an argument.*--token-env, .*--token-stdin/)
    t.notMatch((await run(args)).stderr, token)
  }
})

t.test('wrong options get a sentence', async (t) => {
  await expectFailure(t, ['--uri', url], /There is no option --uri\..*--help/)
  await expectFailure(t, ['--check', 'shop.json'], /--url is missing/)
  await expectFailure(t, ['--url', url, 'shop.json'], /'shop\.json' is not an option/)
  await expectFailure(t, ['--url'], /--url needs a value/)
  await expectFailure(t, ['--url', url, '--token-stdin=yes'], /--token-stdin takes no value/)
  await expectFailure(t, ['--url', url], /either --token-env NAME or --token-stdin/)
  await expectFailure(t, ['--url', url, ...ENV, '--token-stdin'], /either --token-env NAME or --token-stdin/)
  await expectFailure(t, ['--url', 'localhost:3000', ...ENV], /--url must be an address .*'localhost:3000'/)
  await expectFailure(t, ['--url', url, ...ENV, '--openapi', '2.0'], /--openapi must be 3\.0 or 3\.1, not '2\.0'/)
  await expectFailure(t, ['--url', url, ...ENV, '--output', 'a', '--check', 'b'], /either --output or --check/)
})

t.test('--help lists the options', async (t) => {
  t.match(await run(['--help']), { status: 0, stdout: /--token-env NAME/, stderr: '' })
})

t.test('a token that is missing or malformed gets a sentence', async (t) => {
  const args = ['--url', url, ...ENV]
  await expectFailure(t, args, /SHOP_TOKEN is not set/, { env: { SHOP_TOKEN: undefined } })
  await expectFailure(t, args, /SHOP_TOKEN does not contain a token/, { env: { SHOP_TOKEN: 'secret' } })
  await expectFailure(t, ['--url', url, '--token-stdin'], /Standard input does not contain a token/)
})

t.test('a token that the service refuses gets a sentence', (t) =>
  expectFailure(t, ['--url', url, ...ENV], /returned 401: .* Check that the token is of this service/, {
    env: { SHOP_TOKEN: `rh_${'0'.repeat(64)}` }
  })
)

/** Starts a server that is not Rowhouse. */
const serve = async (t: Test, listener: RequestListener) => {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
}

t.test('a service that cannot be reached gets a sentence', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const free = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  server.close()
  await once(server, 'close')
  await expectFailure(t, ['--url', free, ...ENV], /cannot be reached: ECONNREFUSED\. Check --url/)
})

t.test('a redirect is not followed', async (t) => {
  const tokens: unknown[] = []
  const target = await serve(t, ({ headers }, response) => {
    tokens.push(headers.authorization)
    response.end('{}')
  })
  const from = await serve(t, (_request, response) => response.writeHead(302, { location: target }).end())
  await expectFailure(t, ['--url', from, ...ENV], /redirects to http.*Give the final address/)
  t.strictSame(tokens, [])
})

t.test('a server that is not Rowhouse gets a sentence', async (t) => {
  const page = await serve(t, (_request, response) => response.end('<html>'))
  await expectFailure(t, ['--url', page, ...ENV], /did not return an OpenAPI document/)
  const missing = await serve(t, (_request, response) => response.writeHead(404).end())
  await expectFailure(t, ['--url', missing, ...ENV], /returned 404: .*Check --url/)
  const broken = await serve(t, (_request, response) => response.writeHead(500).end())
  await expectFailure(t, ['--url', broken, ...ENV], /returned 500: Check --url/)
})

const npm = (...options: string[]) => [
  'env',
  'NODE_OPTIONS=',
  'npm',
  '--prefix',
  resolve('.'),
  'run',
  ...options,
  'openapi',
  '--'
]

t.test('npm run openapi writes only the document to a file', async (t) => {
  const file = join(directory, 'shop.json')
  const line = `${npm().join(' ')} --url ${url} ${ENV.join(' ')} > ${file}`
  t.match(await run([], { command: ['sh', '-c', line] }), { status: 0 })
  t.strictSame(JSON.parse(readFileSync(file, 'utf8')), await documentIn('3.1'))
})

t.test('npm run openapi refuses a pipe, which the lines of npm would break', async (t) => {
  const { status, stderr } = await run(['--url', url, ...ENV], { command: npm() })
  t.equal(status, 1)
  t.match(stderr, /npm run --silent openapi, or --output FILE/)
  const silent = await run(['--url', url, ...ENV], { command: npm('--silent') })
  t.strictSame(JSON.parse(silent.stdout), await documentIn('3.1'))
})
