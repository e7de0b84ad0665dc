// `npm run old-databases` makes one database for each version of our own tables before the latest, in test/data/versions. Each is made by
// the last commit of that version, through the HTTP interface that it had. With a number, it makes only this version.
// Plain JavaScript, because it needs no build.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { gzipSync } from 'node:zlib'
import BetterSqlite3 from 'better-sqlite3'
import { transformSync } from 'esbuild'

const OUTPUT = 'test/data/versions'
const LIST = join(OUTPUT, 'versions.json')

/** The password of the administrator in each file. test/fixtures.ts has it, too. */
const PASSWORD = 'correct horse'

/** A table that another program has made, which the service adopts. */
const TOYS = `CREATE TABLE toys (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, price REAL);
  CREATE INDEX toys_price ON toys (price);
  INSERT INTO toys VALUES (1, 'ball', 2.5), (2, 'mouse', 4)`

const CATS = {
  name: 'cats',
  label: 'Cats',
  autoTimestamps: true,
  fields: [
    { name: 'name', jsonType: 'string', isPrimary: true },
    { name: 'lives', jsonType: 'integer', nullable: false, defaultValue: 9 },
    { name: 'tags', jsonType: 'array' },
    { name: 'chip', jsonType: 'string', isHidden: true }
  ]
}

const TOM = { name: 'Tom', lives: 7, tags: ['grey', 'fast'], chip: 'x-42' }
const KITTY = { name: 'Kitty' }

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 })

const pathsOf = (commit) => git('ls-tree', '-r', '--name-only', commit).trim().split('\n')

/** Returns the SQL of each migration in a commit; nothing without any. */
const migrationsOf = async (commit) => {
  const path = pathsOf(commit).find((name) => /^services\/.*\/migrations\.ts$/.test(name))
  if (!path) return []
  const { code } = transformSync(git('show', `${commit}:${path}`), { loader: 'ts' })
  // Only functions use what it imports, and they are not called.
  const own = code.replace(/^import .*$/gm, '')
  const source = /^export const migrations\b/m.test(own) ? own : `${own}\nexport { migrations }`
  const { migrations } = await import(`data:text/javascript,${encodeURIComponent(source)}`)
  return migrations.map((statements) => statements.join(';').replaceAll(/\s+/g, ' '))
}

/** Whether all modules of the app are in the commit: some commits of version 1 lack the folder `routes/data`. */
const isWhole = (commit) => {
  const paths = pathsOf(commit)
  return [...git('show', `${commit}:app.ts`).matchAll(/'\.\/(.+\.ts)'/g)].every(([, path]) => paths.includes(path))
}

const commitsOf = (...options) =>
  git('rev-list', ...options, 'HEAD')
    .trim()
    .split('\n')

/**
 * Returns the last commit of each version before the latest, by version. A branch may have had another migration of the same number, which
 * got a new number when it was merged. Such a commit is left out.
 */
const findCommits = async () => {
  const latest = await migrationsOf('HEAD')
  const found = new Map()
  for (const commit of new Set([...commitsOf('--first-parent'), ...commitsOf()])) {
    const migrations = await migrationsOf(commit)
    const version = migrations.length
    const isPart = migrations.every((sql, index) => sql === latest[index])
    const isOlder = version > 0 && version < latest.length
    if (isOlder && isPart && !found.has(version) && isWhole(commit)) found.set(version, commit)
    if (found.size === latest.length - 1) break
  }
  return found
}

const compile = (directory, path) => {
  const { code } = transformSync(readFileSync(join(directory, path), 'utf8'), { loader: 'ts', format: 'esm' })
  const renamed = code.replaceAll(/(['"]\.{1,2}\/[^'"\n]+)\.ts(['"])/g, '$1.js$2')
  const target = join(directory, 'build', path.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, renamed)
}

/** Checks out a commit in a temporary folder, and compiles its sources. The packages are the present ones. */
const checkOut = (commit) => {
  const directory = mkdtempSync(join(tmpdir(), 'rowhouse-commit-'))
  const archive = execFileSync('git', ['archive', commit], { maxBuffer: 2 ** 28 })
  execFileSync('tar', ['-x', '-C', directory], { input: archive })
  const sources = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !/^(?:test|bench|console|clients|examples)\//.test(path)
  )
  for (const path of sources) compile(directory, path)
  symlinkSync(resolve('node_modules'), join(directory, 'node_modules'))
  // The start needs a console, which nobody opens here.
  mkdirSync(join(directory, 'dist/console/assets'), { recursive: true })
  writeFileSync(join(directory, 'dist/console/index.html'), '')
  return directory
}

/** Starts the service of a commit. Resolves when it listens. */
const start = async (directory, database) => {
  const command = existsSync(join(directory, 'build/cli/main.js'))
    ? ['build/cli/main.js', 'serve']
    : ['build/server.js']
  const data = join(directory, 'made')
  const env = { ...process.env, PORT: '0', DATA_DIR: data, DATABASE: database, ADMIN_PASSWORD: PASSWORD }
  const child = spawn(process.execPath, command, { cwd: directory, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) {
    const [, address] = /listens at (\S+)/.exec(line) ?? []
    if (address) return { address, stop: () => child.kill('SIGTERM') && ended }
  }
  throw new Error(`The service of ${directory} did not start.`)
}

const createClient = (address, headers) => async (method, path, body) => {
  const response = await fetch(address + path, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return { data: JSON.parse(text).data, headers: response.headers }
}

const logIn = async (address) => {
  const call = createClient(address, {})
  const { headers } = await call('POST', '/auth/login', { name: 'admin', password: PASSWORD })
  return createClient(address, { cookie: headers.get('set-cookie').split(';')[0] })
}

const issue = async (admin, name) => {
  const permissions = { tables: ['*'], actions: ['read', 'write'] }
  return (await admin('POST', '/admin/tokens', { name, permissions })).data
}

/** Returns the secrets of two tokens. The second one is revoked. */
const issueTokens = async (admin) => {
  const [used, revoked] = [await issue(admin, 'Till'), await issue(admin, 'Old till')]
  await admin('PUT', `/admin/tokens/${revoked.id}`, { isActive: false })
  return { token: used.token, revokedToken: revoked.token }
}

/** Makes tables, records and tokens with what the version has. */
const fill = async (address, document) => {
  const admin = await logIn(address)
  const cats = (await admin('POST', '/admin/tables', CATS)).data
  await admin('POST', '/admin/tables/import', { name: 'toys' })
  const hasIndexes = '/admin/tables/{id}/indexes' in document.paths
  if (hasIndexes) await admin('POST', `/admin/tables/${cats.id}/indexes`, { fields: ['lives'], isUnique: false })
  const tokens = await issueTokens(admin)
  const client = createClient(address, { authorization: `Bearer ${tokens.token}` })
  await admin('POST', `/admin/tables/${cats.id}/data`, TOM)
  await client('POST', '/data/cats/records', KITTY)
  return { ...tokens, hasIndexes }
}

const pack = (file, version) => {
  const db = new BetterSqlite3(file)
  db.exec('VACUUM')
  db.close()
  writeFileSync(join(OUTPUT, `${version}.db.gz`), gzipSync(readFileSync(file), { level: 9 }))
}

/** Makes the database of a version. Returns its entry in the list. */
const make = async (version, commit) => {
  const directory = checkOut(commit)
  try {
    const file = join(directory, 'made.sqlite')
    new BetterSqlite3(file).exec(TOYS).close()
    const { address, stop } = await start(directory, file)
    const made = await fill(address, JSON.parse(readFileSync(join(directory, 'openapi.json'), 'utf8')))
    await stop()
    pack(file, version)
    return { version, commit, ...made }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const readList = () => (existsSync(LIST) ? JSON.parse(readFileSync(LIST, 'utf8')) : [])

mkdirSync(OUTPUT, { recursive: true })
const [only] = process.argv.slice(2)
const commits = [...(await findCommits())].filter(([version]) => only === undefined || version === Number(only))
for (const [version, commit] of commits) {
  const entry = await make(version, commit)
  const others = readList().filter((other) => other.version !== version)
  const list = [...others, entry].sort((a, b) => a.version - b.version)
  writeFileSync(LIST, `${JSON.stringify(list, null, 2)}\n`)
  process.stdout.write(`Version ${version}: ${commit}\n`)
}
