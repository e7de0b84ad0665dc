import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../fixtures.ts'

const script = fileURLToPath(new URL(`../../scripts/release${extname(import.meta.url)}`, import.meta.url))

const ajv = { name: 'ajv', version: '8.0.0' }
/** Packages with native code, which the package lists. */
const argon2 = { name: 'argon2', version: '0.45.0' }
const engine = { name: 'better-sqlite3', version: '13.0.0' }
const package_ = {
  name: 'rowhouse',
  version: '0.2.0',
  files: ['CHANGELOG.md', 'dist'],
  scripts: { test: 'node -e 0', 'test:process': 'node -e 0', coverage: 'node -e 0', clients: 'node -e 0' },
  dependencies: { ajv: '8.0.0', argon2: '0.45.0', 'better-sqlite3': '13.0.0' }
}

const FILES = {
  'package.json': package_,
  'console/package.json': { name: 'rowhouse-console', version: '0.2.0' },
  'package-lock.json': {
    name: 'rowhouse',
    version: '0.2.0',
    lockfileVersion: 3,
    packages: {
      '': { name: 'rowhouse', version: '0.2.0', dependencies: package_.dependencies },
      console: { name: 'rowhouse-console', version: '0.2.0' },
      'node_modules/ajv': { version: '8.0.0' },
      'node_modules/argon2': { version: '0.45.0' },
      'node_modules/better-sqlite3': { version: '13.0.0' }
    }
  },
  'openapi.json': { info: { version: '0.2.0+c0576122' } },
  '.ci/advisories.json': [],
  'node_modules/ajv/package.json': ajv,
  'node_modules/argon2/package.json': argon2,
  'node_modules/better-sqlite3/package.json': engine,
  'dist/licenses.json': [{ ...ajv, identifier: 'MIT', text: 'The text.' }],
  'dist/console/licenses.json': []
}

const TEXTS = {
  'CHANGELOG.md': '## [0.2.0] - 2026-12-01\n',
  'services/model/version.ts': "export const API_VERSION = '0.2.0'\n",
  LICENSE: 'MIT',
  'README.md': '# Rowhouse',
  'dist/rowhouse.js': '',
  'dist/main.js': '',
  'dist/writer/writer.js': '',
  'dist/console/index.html': '',
  '.gitignore': 'dist/\nnode_modules/\n'
}

const git = (cwd: string, ...args: readonly string[]) => execFileSync('git', args, { cwd })

/** Creates a repository that can be released as 0.2.0. */
const createRepository = (t: Test) => {
  const directory = temporaryDirectory(t)
  const texts = {
    ...TEXTS,
    ...Object.fromEntries(Object.entries(FILES).map(([path, value]) => [path, JSON.stringify(value)]))
  }
  for (const [path, content] of Object.entries(texts)) {
    mkdirSync(join(directory, path, '..'), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  git(directory, 'init', '--quiet', '--initial-branch=main')
  git(directory, 'add', '.')
  git(directory, '-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '--quiet', '--message', 'Release')
  return directory
}

/** Nothing listens on this port, so the advisories cannot be read. */
const WITHOUT_REGISTRY = { npm_config_registry: 'http://127.0.0.1:9/', npm_config_fetch_retries: '0' }

const release = (cwd: string, ...args: readonly string[]) => {
  const env = { ...process.env, ...WITHOUT_REGISTRY }
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd, encoding: 'utf8', env })
  return { status, lines: stdout.split('\n'), stderr }
}

t.test('a commit that can be released passes each check, and gets an SBOM', async (t) => {
  const directory = createRepository(t)
  const { status, lines } = release(directory, '0.2.0', '--offline')
  t.strictSame(
    lines.filter((line) => /^(?:(?:not )?ok|skipped) /.test(line)),
    [
      'skipped each advisory is explained',
      'ok      the working tree is clean, on main',
      'ok      CHANGELOG.md has the version',
      'ok      all files have the version',
      'ok      the tests pass',
      'ok      npm run clients passes',
      'ok      npm run pack makes the package',
      'ok      dist/sbom.cdx.json names all packages in the package',
      'ok      the checks have changed no file'
    ]
  )
  t.match(
    lines.at(-2),
    'Unless a check was skipped, this commit can be released: git tag v0.2.0 && git push origin main v0.2.0'
  )
  t.equal(status, 0)
  t.ok(existsSync(join(directory, 'dist/rowhouse-0.2.0.tgz')))
  const { components } = JSON.parse(readFileSync(join(directory, 'dist/sbom.cdx.json'), 'utf8'))
  t.strictSame(
    components.map(({ name }: { readonly name: string }) => name),
    ['ajv', 'argon2', 'better-sqlite3']
  )
  t.equal(String(git(directory, 'status', '--porcelain')), '', 'no file of the repository is changed')
})

t.test('each failed check is named, and the others run', async (t) => {
  const directory = createRepository(t)
  writeFileSync(
    join(directory, 'package.json'),
    JSON.stringify({ ...package_, scripts: { test: 'node -e "throw 1"', clients: 'node -e "throw 1"' } })
  )
  rmSync(join(directory, 'openapi.json'))
  rmSync(join(directory, 'services/model/version.ts'))
  rmSync(join(directory, 'node_modules'), { recursive: true })
  const { status, lines } = release(directory, '0.3.0')
  t.equal(status, 1)
  t.match(
    lines.filter((line) => /^(?:not )?ok /.test(line)),
    [
      /^not ok.*tree/,
      /^not ok.*CHANGELOG/,
      /^not ok.*version/,
      /^not ok.*test/,
      /^not ok.*clients/,
      /^not ok.*pack/,
      /^not ok.*sbom/,
      /^not ok.*advisory/,
      /^not ok.*changed no file/
    ]
  )
  const output = lines.join('\n')
  t.match(output, /This could not be checked: ENOENT.*version\.ts/)
  t.match(output, /npm run test fails/)
  t.match(output, /npm run clients fails/)
  t.match(output, /npm sbom fails\. Run npm ci/)
  t.match(output, /This could not be checked: ENOENT.*sbom/)
})

t.test('a package that cannot be made is named, and --skip-tests leaves out the tests', async (t) => {
  const directory = createRepository(t)
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ ...package_, version: undefined }))
  writeFileSync(join(directory, 'services/model/version.ts'), '')
  const { status, lines } = release(directory, '0.2.0', '--skip-tests', '--offline')
  t.equal(status, 1)
  const output = lines.join('\n')
  t.match(output, /services\/model\/version\.ts has undefined\. Set 0\.2\.0 there/)
  t.match(output, /npm run pack fails\. Run it to see why/)
  t.match(output, /^skipped the tests pass\nskipped npm run clients passes\n/)
})

t.test('without a version, the usage is shown', async (t) => {
  for (const args of [[], ['next']])
    t.match(release(temporaryDirectory(t), ...args), { status: 1, stderr: /^Usage: npm run release -- VERSION/ })
})
