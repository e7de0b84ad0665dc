import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import type { BundledPackage } from '../../scripts/licenses.ts'
import { NATIVE_PACKAGES } from '../../scripts/native-packages.ts'

const script = new URL('../../scripts/bundle.js', import.meta.url).pathname

/** The files with code that is run by Node. */
const codeIn = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.js') && !file.startsWith('swagger-ui/')
  )

/** Matches a file of what the program imports. */
const CHUNK = /^(?:\.\/)?chunk-\w+\.js$/

t.test('each process and each thread but the program is one file, and the files of threads are small', async (t) => {
  const directory = t.testdir({})
  t.match(spawnSync(process.execPath, [script, directory], { encoding: 'utf8' }), { status: 0, stderr: '' })
  const files = codeIn(directory)
  t.strictSame(files.filter((file) => !CHUNK.test(file)).sort(), [
    'backup/backup-process.js',
    'main.js',
    'reader/reader.js',
    'reader/view-process.js',
    'rowhouse.js',
    'staging/staging.js',
    'verifier-process.js',
    'worker.js',
    'writer/writer.js'
  ])
  for (const file of [
    'backup/backup-process.js',
    'reader/reader.js',
    'reader/view-process.js',
    'verifier-process.js',
    'writer/writer.js'
  ])
    t.ok(statSync(join(directory, file)).size < 100_000, file)
})

t.test('the bundle loads only packages with native code', async (t) => {
  const directory = t.testdir({})
  t.equal(spawnSync(process.execPath, [script, directory]).status, 0)
  const loaded = new Set<string>()
  for (const file of codeIn(directory)) {
    const code = readFileSync(join(directory, file), 'utf8')
    for (const [, fixed, dynamic] of code.matchAll(/^import [^"]*"([^"]+)";$|\b(?:import|__require)\("([^"]+)"\)/gm))
      loaded.add(String(fixed ?? dynamic))
  }
  const packages = [...loaded].filter((name) => !isBuiltin(name) && !CHUNK.test(name)).sort()
  // rowhouse.js loads main.js after its check of Node.
  t.strictSame(packages, ['./main.js', ...NATIVE_PACKAGES])
})

t.test('the code is ASCII, and a regular expression keeps its characters', async (t) => {
  const directory = t.testdir({})
  t.equal(spawnSync(process.execPath, [script, directory]).status, 0)
  const code = codeIn(directory).map((file) => readFileSync(join(directory, file), 'utf8'))
  t.notOk(code.some((text) => /\P{ASCII}/u.test(text)))
  t.ok(
    code.some((text) => text.includes('/[.!?\\u2026]$/')),
    'as in services/documents/typed-schemas.ts'
  )
})

t.test('other code that is not ASCII fails the build, and is named', async (t) => {
  const cwd = t.testdir({ build: { cli: { 'main.js': 'console.log(/\u2026/.test(process.title)) // \u2026' } } })
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd, encoding: 'utf8' })
  t.not(status, 0)
  t.match(stderr, /Write the characters that are not ASCII as \\u.: console\.log/)
})

t.test('a build removes the files of an earlier one', async (t) => {
  const directory = t.testdir({ 'chunk-OLD.js': '', old: { 'entry.js': '' }, console: { 'index.html': '' } })
  t.equal(spawnSync(process.execPath, [script, directory]).status, 0)
  t.notOk(existsSync(join(directory, 'chunk-OLD.js')))
  t.notOk(existsSync(join(directory, 'old')))
  t.ok(existsSync(join(directory, 'console/index.html')), 'the console is built apart')
})

t.test('the licenses of the packages in the bundle are listed, and the files of /docs copied', async (t) => {
  const directory = t.testdir({})
  t.equal(spawnSync(process.execPath, [script, directory]).status, 0)
  const packages: BundledPackage[] = JSON.parse(readFileSync(join(directory, 'licenses.json'), 'utf8'))
  const fastify = packages.find(({ name }) => name === 'fastify')
  t.match(fastify, { version: /^5\./, identifier: 'MIT', text: /Copyright \(c\) .*Fastify/ })
  for (const name of NATIVE_PACKAGES)
    t.notOk(
      packages.some((bundled) => bundled.name === name),
      name
    )
  t.ok(existsSync(join(directory, 'swagger-ui/static/swagger-ui.css')))
})

t.test('a missing entry fails, and is named', async (t) => {
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: t.testdir({}), encoding: 'utf8' })
  t.not(status, 0)
  t.match(stderr, /Could not resolve/)
})
