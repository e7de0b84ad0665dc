import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { createDatabase, temporaryDirectory } from '../fixtures.ts'
import { plainNode } from '../plain-process.ts'

const npm = (cwd: string, ...args: readonly string[]) =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

const pack = (directory: string): Packed => {
  const [packed] = JSON.parse(npm('.', 'pack', '--json', '--ignore-scripts', '--pack-destination', directory))
  return packed
}

const sizeOf = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => statSync(join(directory, path)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)

/** The install scripts compile them, or load a binary: minutes, and the same for every test. */
const NATIVE = ['argon2', 'better-sqlite3']

const copyBinaries = (installed: string) => {
  for (const name of NATIVE) {
    const binaries = join('node_modules', name, 'build')
    if (existsSync(binaries)) cpSync(binaries, join(installed, name, 'build'), { recursive: true })
  }
}

const install = (t: Test, { filename }: Packed, from: string) => {
  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, 'package.json'), '{}')
  npm(directory, 'install', '--ignore-scripts', '--no-audit', '--no-fund', join(from, filename))
  copyBinaries(join(directory, 'node_modules'))
  return directory
}

const megabytes = (bytes: number) => `${Math.round(bytes / 1e5) / 10} MB`

t.test('npm pack makes a package with the built service and console, which runs', async (t) => {
  t.setTimeout(300_000)
  const folder = temporaryDirectory(t)
  const packed = pack(folder)
  const unexpected = packed.files.filter(
    ({ path }) => !/^(?:LICENSE|README\.md|package\.json|dist\/(?:[\w-]+\/)*[\w.-]+\.js|dist\/console\/.+)$/.test(path)
  )
  t.strictSame(unexpected, [])
  t.notOk(packed.files.some(({ path }) => /\.map$|^dist\/server\.js$/.test(path)))

  const start = performance.now()
  const directory = install(t, packed, folder)
  const seconds = Math.round((performance.now() - start) / 1000)
  const installed = megabytes(sizeOf(join(directory, 'node_modules')))
  t.comment(`The package has ${megabytes(packed.size)}, installed ${installed}, in ${seconds} s without compilation.`)

  const program = resolve(directory, 'node_modules/.bin/rowhouse')
  const file = createDatabase(t, 'CREATE TABLE cats (name TEXT PRIMARY KEY)')
  const [command = '', ...args] = [...plainNode(), program, 'serve', file, '--port', '0', '--adopt']
  const child = spawn(command, args, { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  t.teardown(() => child.kill('SIGKILL'))
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (line.startsWith('Rowhouse listens')) break
  }
  t.match(
    lines.join('\n'),
    /^Adopted cats\.\nThe database is .*, other files are in .*-rowhouse\.\nRowhouse listens at http/m
  )
  const [address = ''] = /http:\/\/[\d.:]+/.exec(lines.at(-1) ?? '') ?? []
  t.equal((await fetch(`${address}/console/`)).status, 200)
  const run = (...words: string[]) =>
    execFileSync(program, words, { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } })
  t.equal(run('health', '--database', file), 'ok\n')
  t.match(run('token', 'create', 'x', '--database', file, '--tables', 'cats', '--actions', 'read'), /^rh_/)
  child.kill('SIGTERM')
  t.strictSame(await ended, [0, null])
})
