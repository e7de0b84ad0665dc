import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { createDatabase, temporaryDirectory } from '../fixtures.ts'
import { copyBinaries, megabytes, npm, secondsOf, serveInstalled, sizeOf } from './installation.ts'

interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

const pack = (directory: string): Packed => {
  const [packed] = JSON.parse(npm('.', 'pack', '--json', '--ignore-scripts', '--pack-destination', directory))
  return packed
}

const install = (t: Test, { filename }: Packed, from: string) => {
  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, 'package.json'), '{}')
  const seconds = secondsOf(() =>
    npm(directory, 'install', '--ignore-scripts', '--no-audit', '--no-fund', join(from, filename))
  )
  copyBinaries(join(directory, 'node_modules'))
  return { directory, seconds }
}

t.test('npm pack makes a package with the built service and console, which runs', async (t) => {
  t.setTimeout(300_000)
  const folder = temporaryDirectory(t)
  const packed = pack(folder)
  const unexpected = packed.files.filter(
    ({ path }) => !/^(?:LICENSE|README\.md|package\.json|dist\/(?:[\w-]+\/)*[\w.-]+\.js|dist\/console\/.+)$/.test(path)
  )
  t.strictSame(unexpected, [])
  t.notOk(packed.files.some(({ path }) => /\.map$|^dist\/server\.js$/.test(path)))

  const { directory, seconds } = install(t, packed, folder)
  const installed = megabytes(sizeOf(join(directory, 'node_modules')))
  t.comment(`The package has ${megabytes(packed.size)}, installed ${installed}, in ${seconds} s without compilation.`)

  const program = resolve(directory, 'node_modules/.bin/rowhouse')
  const file = createDatabase(t, 'CREATE TABLE cats (name TEXT PRIMARY KEY)')
  const options = ['--port', '0', '--adopt']
  const { lines, address, run, stop } = await serveInstalled(t, { cwd: directory, program }, file, ...options)
  t.match(
    lines.join('\n'),
    /^Adopted cats\.\nThe database is .*, other files are in .*-rowhouse\.\nRowhouse listens at http/m
  )
  t.equal((await fetch(`${address}/console/`)).status, 200)
  t.equal(run('health', '--database', file), 'ok\n')
  t.match(run('token', 'create', 'x', '--database', file, '--tables', 'cats', '--actions', 'read'), /^rh_/)
  t.match(run('backup', '--database', file), /-manual\.db$/m)
  t.strictSame(await stop(), [0, null])
})
