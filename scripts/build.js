// Builds the service: `npm run build`. With --if-needed, as before `npm start`, it builds only if the build is missing or
// older than its sources. With --tests, as before `npm test`, it also compiles tests that have changed. Plain JavaScript without
// dependencies, because it also runs where only the build is installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve, sep } from 'node:path'

const OUTPUT = 'dist'
/** Written last: without it, the build is incomplete. */
const RECORD = join(OUTPUT, 'build.json')

/** Sources of the bundle. */
const SOURCE_FOLDERS = ['cli', 'plugins', 'routes', 'schemas', 'services']
const SOURCE_FILES = [
  'package-lock.json',
  ...['bundle', 'licenses', 'native-packages'].map((name) => `scripts/${name}.ts`),
  'tsconfig.build.json',
  'tsconfig.json'
]

/** What the console is made of. */
const CONSOLE_FOLDER = 'console'
const CONSOLE_SOURCES = ['index.html', 'package.json', 'src', 'tsconfig.json', 'vite.config.ts']

const DEV_DEPENDENCIES = ['esbuild', 'typescript', 'vite']
const COMPILER = 'typescript/bin/tsc'
const VITE = 'node_modules/vite/bin/vite.js'

const { resolve: resolvePackage } = createRequire(resolve('package.json'))

const filesIn = (folder, ending) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith(ending))
        .map((path) => join(folder, path))
    : []

const sources = () => [
  ...readdirSync('.').filter((path) => path.endsWith('.ts')),
  ...SOURCE_FOLDERS.flatMap((folder) => filesIn(folder, '.ts')),
  ...SOURCE_FILES.filter((path) => existsSync(path))
]

const consoleSources = () =>
  filesIn(CONSOLE_FOLDER, '').filter((path) => {
    const [, first] = path.split(sep)
    return CONSOLE_SOURCES.includes(first) && statSync(path).isFile()
  })

/** Returns a hash of files: their times change when a directory is copied. */
const hashOf = (paths) => {
  const hash = createHash('sha256')
  for (const path of ['package-lock.json', ...paths].sort()) {
    if (!existsSync(path)) continue
    const content = readFileSync(path)
    hash.update(`${path}\n${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

const hashSources = () => ({ service: hashOf(sources()), console: hashOf(consoleSources()) })

const parseRecord = () => {
  try {
    return JSON.parse(readFileSync(RECORD, 'utf8'))
  } catch {
    return null
  }
}

/** Returns the record of a complete build, or null. */
const readRecord = () => {
  const record = parseRecord()
  return record?.files?.every((path) => existsSync(join(OUTPUT, path))) ? record : null
}

const run = (script, ...args) => {
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

const build = () => {
  // Before the compiler reads them: a change during the build makes the build old.
  const hashes = hashSources()
  const last = parseRecord()?.sources
  const hasConsole = last?.console === hashes.console && existsSync(join(OUTPUT, CONSOLE_FOLDER))
  mkdirSync(OUTPUT, { recursive: true })
  rmSync(RECORD, { force: true })
  // `--build` is ten times as fast without changes, but only looks at times: an archive has old ones.
  run(resolvePackage(COMPILER), last?.service === hashes.service ? '--build' : '--project', 'tsconfig.build.json')
  run('build/scripts/bundle.js')
  if (existsSync(CONSOLE_FOLDER) && !hasConsole) run(VITE, 'build', '--logLevel', 'warn', CONSOLE_FOLDER)
  const files = filesIn(OUTPUT, '.js').map((path) => path.slice(OUTPUT.length + 1))
  writeFileSync(RECORD, `${JSON.stringify({ sources: hashes, files: files.sort() }, null, 2)}\n`)
}

const isInstalled = (name) => {
  try {
    resolvePackage(name)
    return true
  } catch {
    return false
  }
}

const isWritable = (path) => {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Returns why this installation cannot be built here, with what to do; null if it can. */
const findObstacle = () => {
  const missing = DEV_DEPENDENCIES.filter((name) => !isInstalled(name))
  if (missing.length > 0)
    return `${new Intl.ListFormat('en').format(missing)} are not installed. Run \`npm ci && npm run build\``
  const locked = ['.', 'build', OUTPUT].filter((path) => existsSync(path) && !isWritable(path))
  return locked.length > 0
    ? `this user cannot write to ${resolve(locked[0])}. Run \`npm run build\` as its owner`
    : null
}

/** Returns whether the sources are here. An installation may consist of the build alone. */
const hasSources = () => existsSync('server.ts')

const isCurrent = ({ sources }) => {
  const hashes = hashSources()
  return sources.service === hashes.service && sources.console === hashes.console
}

const buildIfNeeded = () => {
  const record = readRecord()
  if (record && (!hasSources() || isCurrent(record))) return
  const obstacle = findObstacle()
  if (!obstacle) {
    process.stdout.write('Building Rowhouse, about a minute …\n')
    build()
    return
  }
  if (record) {
    process.stderr.write(
      `The build in ${resolve(OUTPUT)} is older than its sources, but ${obstacle}. It starts as it is.\n`
    )
    return
  }
  process.stderr.write(`There is no complete build in ${resolve(OUTPUT)}, and ${obstacle}.\n`)
  process.exitCode = 1
}

/** Compiles only what has changed, if the bundles are current. They contain no tests. */
const buildTests = () => {
  const record = readRecord()
  if (record && isCurrent(record)) run(resolvePackage(COMPILER), '--build', 'tsconfig.build.json')
  else build()
}

if (process.argv.includes('--if-needed')) buildIfNeeded()
else if (process.argv.includes('--tests')) buildTests()
else build()
