import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import t from 'tap'

const script = new URL('../../scripts/bundle.js', import.meta.url).pathname

t.test('each process and each thread is one file, and the files of threads are small', async (t) => {
  const directory = t.testdir({})
  t.match(spawnSync(process.execPath, [script, directory], { encoding: 'utf8' }), { status: 0, stderr: '' })
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'))
  t.strictSame(files.sort(), [
    'backup/backup-process.js',
    'main.js',
    'reader/reader.js',
    'reader/view-process.js',
    'rowhouse.js',
    'staging/staging.js',
    'verifier-process.js',
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

const packageOf = (specifier: string) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0]

t.test('the bundle imports production dependencies only', async (t) => {
  const directory = t.testdir({})
  t.equal(spawnSync(process.execPath, [script, directory]).status, 0)
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'))
  const imported = new Set<string>()
  for (const file of files) {
    const code = readFileSync(join(directory, file), 'utf8')
    for (const [, fixed, dynamic] of code.matchAll(/^import [^"]*"([^"]+)";$|\bimport\("([^"]+)"\)/gm))
      imported.add(String(packageOf(fixed ?? dynamic ?? '')))
  }
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  t.ok(imported.has('better-sqlite3'))
  t.strictSame(
    [...imported].filter((name) => !isBuiltin(name) && !(name in dependencies)),
    []
  )
})

t.test('a missing entry fails, and is named', async (t) => {
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: t.testdir({}), encoding: 'utf8' })
  t.not(status, 0)
  t.match(stderr, /Could not resolve/)
})
