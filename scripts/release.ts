// `npm run release -- 0.2.0` checks whether this commit can be released as this version, and writes the package and its SBOM into
// dist. With --skip-tests it leaves out the tests and npm run clients, with --offline the advisories.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { BUNDLED, type BundledPackage } from './licenses.ts'
import { NATIVE_PACKAGES } from './native-packages.ts'
import {
  auditProblem,
  changelogProblem,
  packProblem,
  sbomOfPackage,
  sbomProblem,
  treeProblem,
  versionProblem
} from './release-checks.ts'

const USAGE = 'Usage: npm run release -- VERSION [--skip-tests] [--offline], such as npm run release -- 0.2.0'
const VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/
/** Not in the repository, nor in the package. */
const SBOM = 'dist/sbom.cdx.json'
const PACK = fileURLToPath(import.meta.resolve('./pack.js'))

const read = (file: string) => readFileSync(file, 'utf8')
const readJson = (file: string) => JSON.parse(read(file))

const run = (command: string, ...args: readonly string[]) => {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 28 })
  return { isDone: status === 0, output: stdout.trimEnd() }
}

const versionsInTree = () => {
  const { version, packages } = readJson('package-lock.json')
  const [, inSource] = /API_VERSION = '(.*)'/.exec(read('services/model/version.ts')) ?? []
  return {
    'package.json': readJson('package.json').version,
    'console/package.json': readJson('console/package.json').version,
    'package-lock.json': version,
    'package-lock.json (root)': packages[''].version,
    'package-lock.json (console)': packages.console.version,
    'services/model/version.ts': inSource,
    // The part after the plus is a digest of the document.
    'openapi.json': readJson('openapi.json').info.version.split('+')[0]
  }
}

const checkTree = () =>
  treeProblem(run('git', 'status', '--porcelain').output, run('git', 'branch', '--show-current').output)

const TEST_COMMANDS = ['test', 'test:process', 'coverage']

const checkTests = () => {
  const failed = TEST_COMMANDS.find((command) => spawnSync('npm', ['run', command], { stdio: 'inherit' }).status !== 0)
  return failed === undefined ? null : `npm run ${failed} fails. Correct what it names.`
}

/** A change that the quick check of clients does not find is found here. */
const checkClients = () => {
  // Otherwise a generator whose language is not installed would be left out.
  const env = { ...process.env, CI: 'true' }
  const { status } = spawnSync('npm', ['run', '--silent', 'clients'], { stdio: 'inherit', env })
  return status === 0 ? null : 'npm run clients fails. Correct the failures that it prints.'
}

const checkPack = () => {
  const { isDone, output } = run(process.execPath, PACK, '--json', '--pack-destination', 'dist')
  if (!isDone) return 'npm run pack fails. Run it to see why.'
  const [packed] = JSON.parse(output)
  return packProblem(packed.files.map(({ path }: { readonly path: string }) => path))
}

const checkSbom = () => {
  const { isDone, output } = run('npm', 'sbom', '--sbom-format', 'cyclonedx')
  if (!isDone) return 'npm sbom fails. Run npm ci, then npm sbom --sbom-format cyclonedx to see why.'
  const bundled: BundledPackage[] = BUNDLED.flatMap(readJson)
  const sbom = sbomOfPackage(JSON.parse(output), bundled, NATIVE_PACKAGES)
  writeFileSync(SBOM, `${JSON.stringify(sbom, null, 2)}\n`)
  const native = NATIVE_PACKAGES.map((name) => readJson(`node_modules/${name}/package.json`))
  return sbomProblem(
    sbom,
    [...bundled, ...native].map(({ name, version }) => `${name}@${version}`)
  )
}

const checkAdvisories = () => {
  const packages = readJson(SBOM).components.map(({ name }: { readonly name: string }) => name)
  const explained = readJson('.ci/advisories.json').map(({ id }: { readonly id: string }) => id)
  // It ends with 1 if there are advisories.
  return auditProblem(JSON.parse(run('npm', 'audit', '--json').output), explained, packages)
}

interface Check {
  readonly title: string
  readonly find: () => string | null
  readonly isSkipped?: boolean
}

const checksOf = (version: string, options: { readonly skipsTests: boolean; readonly isOffline: boolean }): Check[] => [
  { title: 'the working tree is clean, on main', find: checkTree },
  { title: 'CHANGELOG.md has the version', find: () => changelogProblem(read('CHANGELOG.md'), version) },
  { title: 'all files have the version', find: () => versionProblem(versionsInTree(), version) },
  { title: 'the tests pass', find: checkTests, isSkipped: options.skipsTests },
  { title: 'npm run clients passes', find: checkClients, isSkipped: options.skipsTests },
  { title: 'npm run pack makes the package', find: checkPack },
  { title: `${SBOM} names all packages in the package`, find: checkSbom },
  { title: 'each advisory is explained', find: checkAdvisories, isSkipped: options.isOffline },
  { title: 'the checks have changed no file', find: checkTree }
]

const findProblem = ({ find }: Check) => {
  try {
    return find()
  } catch (error) {
    return `This could not be checked: ${(error as Error).message}`
  }
}

/** Prints the result of each check. Returns whether none has failed. */
const checkAll = (checks: readonly Check[]) => {
  for (const { title } of checks.filter(({ isSkipped }) => isSkipped)) process.stdout.write(`skipped ${title}\n`)
  const problems = checks
    .filter(({ isSkipped }) => !isSkipped)
    .map((check) => {
      const problem = findProblem(check)
      process.stdout.write(
        problem === null ? `ok      ${check.title}\n` : `not ok  ${check.title}\n        ${problem}\n`
      )
      return problem
    })
  return problems.every((problem) => problem === null)
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'skip-tests': { type: 'boolean', default: false }, offline: { type: 'boolean', default: false } }
})
const [version = ''] = positionals
if (!VERSION.test(version)) {
  process.stderr.write(`${USAGE}\n`)
  process.exitCode = 1
} else if (checkAll(checksOf(version, { skipsTests: values['skip-tests'], isOffline: values.offline }))) {
  process.stdout.write(
    `Unless a check was skipped, this commit can be released: git tag v${version} && git push origin main v${version}\n`
  )
} else process.exitCode = 1
