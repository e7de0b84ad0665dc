import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../fixtures.ts'
import { plainNode, WITHOUT_OVERRIDE } from '../plain-process.ts'

const SCRIPT = resolve('scripts/build.js')
const PACKAGES = resolve('node_modules')
const ANNOUNCEMENT = 'Building Rowhouse, about a minute …\n'

/** A service of three lines, which is built as Rowhouse is. */
const FILES = {
  'package.json': '{ "type": "module" }',
  'package-lock.json': '{}',
  'tsconfig.json':
    '{ "compilerOptions": { "module": "nodenext", "lib": ["es2022"], "types": [], "skipLibCheck": true } }',
  'tsconfig.build.json':
    '{ "extends": "./tsconfig.json", "compilerOptions": { "rootDir": ".", "outDir": "build", "incremental": true, "tsBuildInfoFile": "build/.tsbuildinfo", "rewriteRelativeImportExtensions": true }, "include": ["*.ts", "services", "scripts"] }',
  'console-log.d.ts': 'declare const console: { log(text: string): void }',
  'server.ts': "import { word } from './services/word.ts'\nconsole.log(word)\n",
  'services/word.ts': "export const word: string = 'first'\n",
  'console/index.html': '<!doctype html><script type="module" src="./src/main.ts"></script>',
  'console/src/main.ts': "document.title = 'first'\n",
  'console/vite.config.ts': "export default { build: { outDir: '../dist/console', emptyOutDir: true } }\n",
  'scripts/bundle.ts':
    "import { build } from 'esbuild'\nawait build({ entryPoints: { rowhouse: 'build/server.js' }, outdir: 'dist', bundle: true, format: 'esm' })\n"
}

const run = (cwd: string, command: readonly string[]) => {
  const [name = '', ...args] = command
  const { status, stdout, stderr } = spawnSync(name, args, { cwd, encoding: 'utf8' })
  return { status, stdout, stderr }
}

const prestart = (cwd: string, wrapper: readonly string[] = []) =>
  run(cwd, [...wrapper, ...plainNode(), SCRIPT, '--if-needed'])

const outputOf = (cwd: string) => run(cwd, [...plainNode(), 'dist/rowhouse.js']).stdout

const createProject = (t: Test) => {
  const directory = temporaryDirectory(t)
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  symlinkSync(PACKAGES, join(directory, 'node_modules'))
  return directory
}

const project = createProject(t)

/** Copies the project. All files of the copy are new. */
const copyProject = (t: Test) => {
  const copy = temporaryDirectory(t)
  cpSync(project, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

/** As `npm ci --omit=dev` leaves it. */
const omitDevDependencies = (directory: string) => rmSync(join(directory, 'node_modules'))

/** Each path with its time. */
const timesOf = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('node_modules'))
    .sort()
    .map((path) => [path, statSync(join(directory, path)).mtimeMs])

const SILENT = { status: 0, stdout: '', stderr: '' }

t.test('without a build, the start builds, and says so first', async (t) => {
  t.strictSame(prestart(project), { ...SILENT, stdout: ANNOUNCEMENT })
  t.equal(outputOf(project), 'first\n')
})

t.test('with a current build, the start is silent and writes nothing', async (t) => {
  const before = timesOf(project)
  t.strictSame(prestart(project), SILENT)
  t.strictSame(timesOf(project), before)
})

t.test('new times of the sources, as in a copy, do not make a build old', async (t) => {
  const copy = copyProject(t)
  const tomorrow = Date.now() / 1000 + 86_400
  for (const path of Object.keys(FILES)) utimesSync(join(copy, path), tomorrow, tomorrow)
  t.strictSame(prestart(copy), SILENT)
})

t.test('a source that was changed, added or removed makes the build old', async (t) => {
  const copy = copyProject(t)
  writeFileSync(join(copy, 'services/word.ts'), "export const word = 'second'\n")
  t.strictSame(prestart(copy), { ...SILENT, stdout: ANNOUNCEMENT })
  t.equal(outputOf(copy), 'second\n')
  writeFileSync(join(copy, 'services/word.ts'), "export const word = 'third'\n")
  utimesSync(join(copy, 'services/word.ts'), 1, 1)
  t.strictSame(prestart(copy), { ...SILENT, stdout: ANNOUNCEMENT }, 'also if its time is old, as in an archive')
  t.equal(outputOf(copy), 'third\n')
  appendFileSync(join(copy, 'package-lock.json'), '\n')
  t.strictSame(prestart(copy), { ...SILENT, stdout: ANNOUNCEMENT }, 'the bundle contains packages')
  renameSync(join(copy, 'services/word.ts'), join(copy, 'services/text.ts'))
  writeFileSync(join(copy, 'server.ts'), "import { word } from './services/text.ts'\nconsole.log(word)\n")
  t.strictSame(prestart(copy), { ...SILENT, stdout: ANNOUNCEMENT })
  t.strictSame(prestart(copy), SILENT)
})

t.test('a changed source of the console makes the build old', async (t) => {
  const copy = copyProject(t)
  const assets = join(copy, 'dist/console/assets')
  const titleOf = () => readFileSync(join(assets, String(readdirSync(assets)[0])), 'utf8')
  t.match(titleOf(), 'first')
  writeFileSync(join(copy, 'console/src/main.ts'), "document.title = 'second'\n")
  t.strictSame(prestart(copy), { ...SILENT, stdout: ANNOUNCEMENT })
  t.match(titleOf(), 'second')
  t.strictSame(prestart(copy), SILENT)
})

t.test(
  'before the tests, only what has changed is compiled, and the bundle only if the service has changed',
  async (t) => {
    const copy = copyProject(t)
    const buildTests = () => run(copy, [...plainNode(), SCRIPT, '--tests'])
    const bundleTime = () => statSync(join(copy, 'dist/rowhouse.js')).mtimeMs
    const before = bundleTime()
    const added = join(copy, 'scripts/new.ts')
    writeFileSync(added, 'export const added = 1\n')
    // The compiler compares times, and the copy has been made in the same millisecond.
    utimesSync(added, Date.now() / 1000, Date.now() / 1000 + 10)
    t.strictSame(buildTests(), SILENT)
    t.match(readFileSync(join(copy, 'build/scripts/new.js'), 'utf8'), 'added')
    t.equal(bundleTime(), before)
    writeFileSync(join(copy, 'services/word.ts'), "export const word = 'second'\n")
    t.match(buildTests(), { status: 0 })
    t.equal(outputOf(copy), 'second\n')
  }
)

t.test('an incomplete build is built again', async (t) => {
  const copy = copyProject(t)
  rmSync(join(copy, 'dist/rowhouse.js'))
  t.strictSame(prestart(copy), { ...SILENT, stdout: ANNOUNCEMENT })
  writeFileSync(join(copy, 'dist/build.json'), '{ "sour')
  t.strictSame(prestart(copy), { ...SILENT, stdout: ANNOUNCEMENT })
  t.equal(outputOf(copy), 'first\n')
})

t.test('a build that fails prevents the start, and the next start builds again', async (t) => {
  const copy = copyProject(t)
  const source = readFileSync(join(copy, 'server.ts'), 'utf8')
  writeFileSync(join(copy, 'server.ts'), 'const wrong: number = "text"\n')
  for (const time of ['first', 'second']) {
    const { status, stdout } = prestart(copy)
    t.not(status, 0, time)
    t.match(stdout, /^Building Rowhouse.*\n.*server\.ts.*error TS2322/, time)
  }
  writeFileSync(join(copy, 'server.ts'), source)
  t.strictSame(prestart(copy), { ...SILENT, stdout: ANNOUNCEMENT })
})

t.test('`npm run build` builds without the announcement', async (t) => {
  const copy = copyProject(t)
  rmSync(join(copy, 'dist'), { recursive: true })
  t.strictSame(run(copy, [...plainNode(), SCRIPT]), SILENT)
  t.strictSame(prestart(copy), SILENT)
})

t.test('after npm ci --omit=dev', async (t) => {
  t.test('a current build starts', async (t) => {
    const copy = copyProject(t)
    omitDevDependencies(copy)
    t.strictSame(prestart(copy), SILENT)
    t.equal(outputOf(copy), 'first\n')
  })

  t.test('an old build starts, with what to do', async (t) => {
    const copy = copyProject(t)
    omitDevDependencies(copy)
    appendFileSync(join(copy, 'server.ts'), '\n')
    const { status, stdout, stderr } = prestart(copy)
    t.strictSame({ status, stdout }, { status: 0, stdout: '' })
    t.equal(
      stderr,
      `The build in ${join(copy, 'dist')} is older than its sources, but esbuild, typescript, and vite are not installed. Run \`npm ci && npm run build\`. It starts as it is.\n`
    )
  })

  t.test('without a build, the start fails with what to do', async (t) => {
    const copy = copyProject(t)
    omitDevDependencies(copy)
    rmSync(join(copy, 'dist'), { recursive: true })
    t.match(prestart(copy), {
      status: 1,
      stdout: '',
      stderr: /^There is no complete build in .*dist, and esbuild, typescript, and vite are not installed\. Run `npm ci/
    })
  })
})

t.test('a build without its sources starts', async (t) => {
  const copy = copyProject(t)
  for (const path of ['node_modules', 'build', 'services', 'server.ts', 'scripts'])
    rmSync(join(copy, path), { recursive: true })
  t.strictSame(prestart(copy), SILENT)
})

const skip = WITHOUT_OVERRIDE === null && 'root ignores permissions, and setpriv is missing'

t.test('in a directory that this user cannot write', { skip }, async (t) => {
  const wrapper = WITHOUT_OVERRIDE ?? []
  const copy = copyProject(t)
  appendFileSync(join(copy, 'server.ts'), '// the same\n')
  const folders = ['.', 'build', 'dist', 'services', 'scripts'].map((path) => join(copy, path))
  const setMode = (mode: number) => {
    for (const folder of folders) chmodSync(folder, mode)
  }
  t.teardown(() => setMode(0o755))

  t.test('an old build starts, with what to do', async (t) => {
    setMode(0o555)
    const { status, stdout, stderr } = prestart(copy, wrapper)
    t.strictSame({ status, stdout }, { status: 0, stdout: '' })
    t.match(stderr, /is older than its sources, but this user cannot write to .*\. Run `npm run build` as its owner\./)
  })

  t.test('a current build starts', async (t) => {
    setMode(0o755)
    writeFileSync(join(copy, 'server.ts'), FILES['server.ts'])
    setMode(0o555)
    t.strictSame(prestart(copy, wrapper), SILENT)
  })
})
