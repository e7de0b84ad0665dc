import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { NATIVE_PACKAGES } from '../../scripts/native-packages.ts'
import { createDatabase, temporaryDirectory } from '../fixtures.ts'
import { installationOf, installPackage, megabytes, type Packed, pack, serveInstalled } from './installation.ts'

const BYTES = 50e6
const PACKAGES = 40

const install = (t: Test, packed: Packed, from: string) => {
  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, 'package.json'), '{}')
  const { seconds, warnings } = installPackage(directory, join(from, packed.filename))
  const installed = installationOf(directory)
  t.comment(
    `The package has ${megabytes(packed.size)}, installed ${megabytes(installed.bytes)} in ${installed.packages} packages, in ${seconds} s.`
  )
  return { directory, warnings, ...installed }
}

t.test('npm run pack makes a package with the built service and console, which runs', async (t) => {
  t.setTimeout(300_000)
  const folder = temporaryDirectory(t)
  const packed = pack(folder)
  const unexpected = packed.files.filter(
    ({ path }) =>
      !/^(?:(?:CHANGELOG|README|THIRD-PARTY-LICENSES)\.md|LICENSE|package\.json|dist\/(?:[\w-]+\/)*[\w.-]+\.js|dist\/(?:console|swagger-ui\/static)\/.+)$/.test(
        path
      )
  )
  t.strictSame(unexpected, [])
  t.notOk(packed.files.some(({ path }) => /\.map$|^dist\/.*\.json$/.test(path)))

  const { directory, warnings, bytes, packages } = install(t, packed, folder)
  t.strictSame(warnings, [])
  t.ok(packages <= PACKAGES, `${packages} packages`)
  t.ok(bytes <= BYTES, megabytes(bytes))

  const program = resolve(directory, 'node_modules/.bin/rowhouse')
  const file = createDatabase(t, 'CREATE TABLE cats (name TEXT PRIMARY KEY)')
  const options = ['--port', '0', '--adopt']
  const { lines, address, run, stop } = await serveInstalled(t, { cwd: directory, program }, file, ...options)
  t.match(
    lines.join('\n'),
    /^Adopted cats\.\nThe database is .*, other files are in .*-rowhouse\.\nRowhouse listens at http/m
  )
  t.equal((await fetch(`${address}/console/`)).status, 200)
  t.equal((await fetch(`${address}/docs/`)).status, 200)
  t.equal((await fetch(`${address}/docs/static/swagger-ui.css`)).status, 200)
  t.equal(run('health', '--database', file), 'ok\n')
  const token = run('token', 'create', 'x', '--database', file, '--tables', 'cats', '--actions', 'read')
  t.match(token, /^rh_/)
  // A search runs in a thread of Piscina.
  const search = await fetch(`${address}/data/cats?q=tom`, { headers: { authorization: `Bearer ${token.trim()}` } })
  t.match(await search.json(), { success: true, data: { rows: [] } })
  t.match(run('backup', '--database', file), /-manual\.db$/m)
  t.strictSame(await stop(), [0, null])
})

t.test('the package has native dependencies in their tested versions, and the licenses of all others', async (t) => {
  const folder = temporaryDirectory(t)
  const { filename } = pack(folder)
  const read = (path: string) =>
    spawnSync('tar', ['-xzOf', join(folder, filename), `package/${path}`], { encoding: 'utf8' }).stdout
  const source = JSON.parse(readFileSync('package.json', 'utf8'))
  const { dependencies, ...packed } = JSON.parse(read('package.json'))
  t.strictSame(Object.keys(dependencies), NATIVE_PACKAGES)
  for (const [name, version] of Object.entries(dependencies))
    t.equal(version, JSON.parse(readFileSync(join('node_modules', name, 'package.json'), 'utf8')).version, name)
  for (const key of ['name', 'version', 'description', 'license', 'type', 'bin', 'engines'])
    t.strictSame(packed[key], source[key], key)
  t.equal(packed.scripts, undefined)
  const licenses = read('THIRD-PARTY-LICENSES.md')
  for (const heading of [/^## fastify 5\S+ \(MIT\)$/m, /^## undici \S+ \(MIT\)$/m, /^## react \S+ \(MIT\)$/m])
    t.match(licenses, heading)
})

t.test('npm pack is refused, with the command to run instead', async (t) => {
  const { status, stderr } = spawnSync('npm', ['pack', '--dry-run'], { encoding: 'utf8' })
  t.equal(status, 1)
  t.match(stderr, /^Run `npm run pack`: it makes the package/m)
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  t.notOk(existsSync(`rowhouse-${version}.tgz`))
})

t.test('a package that cannot be written fails', async (t) => {
  const missing = join(temporaryDirectory(t), 'missing')
  const { status } = spawnSync(process.execPath, ['build/scripts/pack.js', '--pack-destination', missing])
  t.equal(status, 1)
})
