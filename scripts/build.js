// Builds the service: `npm run build`. With --if-needed, as before `npm start`, it builds only if the build is missing or
// older than its sources. Plain JavaScript without dependencies, because it also runs where only the build is installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

const OUTPUT = 'dist'
/** Written last: without it, the build is incomplete. */
const RECORD = join(OUTPUT, 'build.json')

/** What the bundle is made of. Tests and benchmarks are not in it. */
const SOURCE_FOLDERS = ['plugins', 'routes', 'schemas', 'services']
const SOURCE_FILES = ['package-lock.json', 'scripts/bundle.ts', 'tsconfig.build.json', 'tsconfig.json']

const DEV_DEPENDENCIES = ['esbuild', 'typescript']
const COMPILER = 'typescript/bin/tsc'

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

/** Returns a hash of the sources: their times change when a directory is copied. */
const hashSources = () => {
  const hash = createHash('sha256')
  for (const path of sources().sort()) {
    const content = readFileSync(path)
    hash.update(`${path}\n${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

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
  const hash = hashSources()
  // `--build` is ten times as fast without changes, but only looks at times: an archive has old ones.
  const mode = parseRecord()?.sources === hash ? '--build' : '--project'
  mkdirSync(OUTPUT, { recursive: true })
  rmSync(RECORD, { force: true })
  run(resolvePackage(COMPILER), mode, 'tsconfig.build.json')
  run('build/scripts/bundle.js')
  const files = filesIn(OUTPUT, '.js').map((path) => path.slice(OUTPUT.length + 1))
  writeFileSync(RECORD, `${JSON.stringify({ sources: hash, files: files.sort() }, null, 2)}\n`)
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
  if (missing.length > 0) return `${missing.join(' and ')} are not installed. Run \`npm ci && npm run build\``
  const locked = ['.', 'build', OUTPUT].filter((path) => existsSync(path) && !isWritable(path))
  return locked.length > 0
    ? `this user cannot write to ${resolve(locked[0])}. Run \`npm run build\` as its owner`
    : null
}

/** Returns whether the sources are here. An installation may consist of the build alone. */
const hasSources = () => existsSync('server.ts')

const buildIfNeeded = () => {
  const record = readRecord()
  if (record && (!hasSources() || record.sources === hashSources())) return
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

if (process.argv.includes('--if-needed')) buildIfNeeded()
else build()
