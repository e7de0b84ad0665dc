// Runs each example against a new service: `npm run examples`, or `npm run examples -- go python` for some. Fails if an
// example fails. An example whose tools are missing is skipped, and named. In CI that is a failure.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { isInstalled, pythonTools, recentNode, versions } from '../clients/tools.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const EXAMPLES = join(ROOT, 'examples')
const PASSWORD = 'only for the examples'
const PERMISSIONS = { tables: ['products', 'orders', 'order_lines'], actions: ['read', 'create', 'update', 'delete'] }

const [[OAPI_CODEGEN, OAPI_CODEGEN_VERSION]] = Object.entries(versions.go)

const withPath = (folder) => ({ PATH: `${folder}${delimiter}${process.env.PATH}` })

const toNothing = async () => ({})

/**
 * The commands of each example run in its folder. `integers`: it gets the document of a token with this format, as
 * shop.json. `scopes`: it gets an admin key with them, and the path of the database. `prepare` returns variables of the
 * environment.
 */
const examples = {
  'first-record.sh': { folder: '.', needs: ['curl'], prepare: toNothing, commands: ['./first-record.sh'] },
  migration: {
    folder: 'migration',
    needs: [],
    scopes: ['tables:read', 'tables:write'],
    prepare: toNothing,
    commands: ['node migrate.js', 'node refresh.js products weight']
  },
  typescript: { folder: 'typescript', needs: [], prepare: toNothing, commands: ['npm run --silent start'] },
  'hey-api': {
    folder: 'hey-api',
    needs: [],
    integers: 'string',
    prepare: async () => withPath(dirname(await recentNode())),
    commands: ['npm run --silent start']
  },
  python: {
    folder: 'python',
    needs: ['python3'],
    integers: 'number',
    prepare: async () => withPath(await pythonTools()),
    commands: [
      'openapi-python-client generate --path shop.json --meta none --output-path shop --overwrite',
      'mypy main.py shop',
      'python main.py'
    ]
  },
  go: {
    folder: 'go',
    needs: ['go'],
    integers: 'number',
    prepare: async () => {
      mkdirSync(join(EXAMPLES, 'go', 'shop'), { recursive: true })
      return {}
    },
    commands: [
      `go run ${OAPI_CODEGEN}@${OAPI_CODEGEN_VERSION} -generate types,client -package shop -o shop/client.go shop.json`,
      'go vet ./...',
      'go run .'
    ]
  }
}

const readAddress = async (service) => {
  for await (const line of createInterface(service.stdout)) {
    const [, url] = /listens at (\S+)/.exec(line) ?? []
    if (url) return url
  }
  throw new Error('The service did not start.')
}

/** Starts a service with the example database on a free port. Resolves when it listens. */
const startService = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rowhouse-example-'))
  spawnSync(process.execPath, [join(EXAMPLES, 'make-shop.js')], { cwd: directory, stdio: 'ignore' })
  const database = join(directory, 'shop.sqlite')
  const env = { ...process.env, PORT: '0', DATA_DIR: directory, ADMIN_PASSWORD: PASSWORD, DATABASE: database }
  // In its own directory, so that no `.env` is read.
  const service = spawn(process.execPath, [join(ROOT, 'dist/rowhouse.js'), 'serve'], {
    env,
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const ended = once(service, 'exit')
  const stop = async () => {
    service.kill()
    await ended
    rmSync(directory, { recursive: true, force: true })
  }
  return { url: await readAddress(service), database, stop }
}

const post = async (url, body, cookie = '') => {
  const headers = { 'content-type': 'application/json', cookie }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`POST ${url}: ${await response.text()}`)
  return response
}

/** Imports the tables of the shop. Returns the function that sends requests of the administrator. */
const prepareShop = async (url) => {
  const login = await post(`${url}/auth/login`, { name: 'admin', password: PASSWORD })
  const cookie = String(login.headers.get('set-cookie')).split(';', 1)[0]
  const send = async (path, body) => (await (await post(`${url}${path}`, body, cookie)).json()).data
  await send('/admin/tables/import', { names: PERMISSIONS.tables })
  return send
}

/** Returns the variables with the credential of an example. */
const issueCredential = async ({ integers, scopes }, { url, database }) => {
  if (integers === undefined && scopes === undefined) return {}
  const send = await prepareShop(url)
  if (scopes) {
    const { key } = await send('/admin/keys', { name: 'example', scopes })
    return { ROWHOUSE_ADMIN_KEY: key, DATABASE: database }
  }
  const { token } = await send('/admin/tokens', { name: 'shop', permissions: PERMISSIONS, integers })
  return { ROWHOUSE_URL: url, ROWHOUSE_TOKEN: token }
}

const FETCH = `"${process.execPath}" "${join(ROOT, 'scripts/openapi.js')}" --token-env ROWHOUSE_TOKEN --output shop.json`

const runCommands = (commands, options) =>
  commands.every((command) => spawnSync(command, { ...options, shell: true, stdio: 'inherit' }).status === 0)

const isUninstalled = (folder) => existsSync(join(folder, 'package.json')) && !existsSync(join(folder, 'node_modules'))

const run = async (example) => {
  const { folder, integers, prepare, commands } = example
  const { url, database, stop } = await startService()
  try {
    const cwd = join(EXAMPLES, folder)
    const prepared = await prepare()
    const own = await issueCredential(example, { url, database })
    const first = [
      ...(isUninstalled(cwd) ? ['npm ci --no-audit --no-fund'] : []),
      ...(integers === undefined ? [] : [`${FETCH} --url ${url}`])
    ]
    return runCommands([...first, ...commands], {
      cwd,
      env: { ...process.env, ...prepared, URL: url, PASSWORD, ...own }
    })
  } finally {
    await stop()
  }
}

/** Returns whether the example passed or may be skipped. */
const attempt = async (example) => {
  const missing = example.needs.filter((command) => !isInstalled(command))
  if (missing.length === 0) return run(example)
  console.log(`Skipped: ${missing.join(' and ')} is not installed.`)
  return process.env.CI !== 'true'
}

const names = process.argv.slice(2)
const unknown = names.filter((name) => !(name in examples))
if (unknown.length > 0) {
  console.log(`Unknown: ${unknown.join(', ')}. There are: ${Object.keys(examples).join(', ')}.`)
  process.exit(2)
}

for (const [name, example] of Object.entries(examples)) {
  if (names.length > 0 && !names.includes(name)) continue
  console.log(`== ${name}`)
  if (await attempt(example)) continue
  console.log(`!! failed: ${name}`)
  process.exitCode = 1
}
