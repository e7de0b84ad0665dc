import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { RECORD_DIRECTORY } from './error-record.ts'
import { isInShard, isProcessTest, planShards, type Times, timesIn } from './shards.ts'

// `npm test` runs the shards, `npm test -- test/routes` only the tests in that folder, and `npm run test:process` the tests that
// start processes. `npm test` and `npm run test:process` keep their coverage, and `npm run coverage` merges it.

const COMPILED = join('build', 'test')
const SHARDS = join(COMPILED, 'shards')
const COVERAGE = join('.tap', 'coverage')
const KEPT_COVERAGE = join('.tap', 'kept-coverage')
const RESULTS = join('.tap', 'test-results', SHARDS)
const TIMES = join('test', 'times.json')

const IMPORT = /(?:^|\s)(?:import|export)\s(?:[^'"`;]*?\sfrom\s*)?['"](\.[^'"]+)['"]/g

/** The sources, because build/ may have tests that are deleted. */
const listTests = () =>
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .sort()

/** Returns the modules in test/ that a compiled module in test/ loads. The compiler has removed the imports of types. */
const importsOf = (path: string) => {
  const code = readFileSync(join(COMPILED, path.replace(/\.ts$/, '.js')), 'utf8')
  return [...code.matchAll(IMPORT)]
    .map(([, specifier]) => normalize(join(dirname(path), String(specifier))).replace(/\.js$/, '.ts'))
    .filter((imported) => !imported.startsWith('..'))
}

const readTimes = (): Times => (existsSync(TIMES) ? JSON.parse(readFileSync(TIMES, 'utf8')) : {})

const compiledOf = (path: string) => join(COMPILED, path.replace(/\.ts$/, '.js'))

/** Writes a module for each shard of these tests and returns their paths. */
const writeShards = (paths = listTests()) => {
  rmSync(SHARDS, { recursive: true, force: true })
  mkdirSync(SHARDS, { recursive: true })
  return planShards({ paths, times: readTimes(), importsOf }).map(({ name, files }) => {
    const path = join(SHARDS, `${name}.test.js`)
    const entries = Object.entries(files).map(([file, seconds]) => [file.replace(/\.ts$/, '.js'), seconds])
    const list = JSON.stringify(Object.fromEntries(entries), null, 2)
    writeFileSync(path, `import { runFiles } from '../shard.js'\n\nawait runFiles(${list})\n`)
    return path
  })
}

/** Prints a problem. Returns the exit code. */
const fail = (message: string) => {
  process.stderr.write(`${message}\n`)
  return 1
}

const run = (command: string, ...args: readonly string[]) => spawnSync(command, args, { stdio: 'inherit' }).status ?? 1

const tap = (...args: readonly string[]) => run('npx', 'tap', ...args)

/** Runs tests with coverage, which is kept under this name. Another check requires that it is complete. */
const runMeasured = (name: string, files: readonly string[]) => {
  const status = tap('run', '--allow-incomplete-coverage', '--coverage-report=lcovonly', ...files)
  const kept = join(KEPT_COVERAGE, name)
  rmSync(kept, { recursive: true, force: true })
  mkdirSync(KEPT_COVERAGE, { recursive: true })
  if (existsSync(COVERAGE)) renameSync(COVERAGE, kept)
  return status
}

const checkCoverage = (...args: readonly string[]) =>
  run(process.execPath, join('build', 'scripts', 'check-coverage.js'), ...args)

const runShards = () => {
  rmSync(RECORD_DIRECTORY, { recursive: true, force: true })
  rmSync(KEPT_COVERAGE, { recursive: true, force: true })
  rmSync(RESULTS, { recursive: true, force: true })
  return runMeasured('shards', writeShards()) || checkCoverage('--of-shards')
}

const runProcessTests = () => runMeasured('process', listTests().filter(isProcessTest).map(compiledOf))

/** Requires that both together cover everything, and lists the declared errors that neither has observed. */
const mergeCoverage = () => {
  const missing = ['shards', 'process'].filter((name) => !existsSync(join(KEPT_COVERAGE, name)))
  if (missing.length > 0) return fail('Run `npm test`, then `npm run test:process`, then this.')
  rmSync(COVERAGE, { recursive: true, force: true })
  for (const name of readdirSync(KEPT_COVERAGE)) cpSync(join(KEPT_COVERAGE, name), COVERAGE, { recursive: true })
  const status = tap('report', '--allow-incomplete-coverage', 'lcovonly') || checkCoverage()
  return run(process.execPath, join(COMPILED, 'observed-errors.js')) || status
}

/** Records how long each file of the last `npm test` took. */
const recordTimes = () => {
  const names = existsSync(RESULTS) ? readdirSync(RESULTS) : []
  const times = timesIn(names.flatMap((name) => readFileSync(join(RESULTS, name), 'utf8').split('\n')))
  const missing = listTests().filter((path) => isInShard(path) && !(path in times))
  if (missing.length > 0) return fail(`Run \`npm test\` first. It has no passed run of ${missing.join(', ')}.`)
  writeFileSync(TIMES, `${JSON.stringify(times, null, 2)}\n`)
  return 0
}

/** Runs the tests that these paths name, files or folders, without coverage. A single file gets no shard. */
const runPaths = (paths: readonly string[]) => {
  const tests = listTests()
  const isAt = (path: string) => (file: string) => `${join('test', file)}/`.startsWith(join(path, '/'))
  const wrong = paths.filter((path) => !tests.some(isAt(path)))
  if (wrong.length > 0)
    return fail(`There is no test at ${wrong.join(' ')}. Name files or folders, such as test/routes.`)
  const files = tests.filter((file) => paths.some((path) => isAt(path)(file)))
  const shared = files.length > 1 ? files.filter(isInShard) : []
  const single = files.filter((file) => !shared.includes(file))
  return tap('run', '--disable-coverage', ...writeShards(shared), ...single.map(compiledOf))
}

const MODES: Readonly<Record<string, () => number>> = {
  '--process': runProcessTests,
  '--coverage': mergeCoverage,
  '--times': recordTimes
}

const [first, ...rest] = process.argv.slice(2)
const mode = MODES[String(first)]
if (first === undefined) process.exitCode = runShards()
else if (mode && rest.length > 0) process.exitCode = fail(`Name tests with \`npm test -- ${rest.join(' ')}\`.`)
else process.exitCode = mode ? mode() : runPaths([first, ...rest])
