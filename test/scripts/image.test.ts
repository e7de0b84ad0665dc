import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../fixtures.ts'
import { copyBinaries, megabytes, npm, secondsOf, serveInstalled, sizeOf } from './installation.ts'

/** Returns the arguments of each instruction of this name. */
const instructionsOf = (name: string) =>
  [...readFileSync('Dockerfile', 'utf8').matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].map(([, rest = '']) => rest)

/** The files that are copied before the packages are installed. A file that is not in git would be missing in a clone. */
const copyManifests = (directory: string) => {
  const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n')
  const copies = instructionsOf('COPY').filter((copy) => !/^--from|^\. \.$/.test(copy))
  const sources = copies.flatMap((copy) => copy.split(' ').slice(0, -1))
  for (const path of sources) cpSync(path, join(directory, path), { recursive: true })
  return sources.filter((path) => !tracked.includes(path))
}

const install = (t: Test) => {
  const directory = temporaryDirectory(t)
  t.strictSame(copyManifests(directory), [], 'each copied file is in git')
  const options = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  const seconds = secondsOf(() => npm(directory, 'ci', ...options))
  copyBinaries(join(directory, 'node_modules'))
  return { directory, seconds }
}

/** Copies what the last stage copies from the stage of the build. */
const makeImage = (t: Test) => {
  const { directory, seconds } = install(t)
  cpSync('dist', join(directory, 'dist'), { recursive: true })
  const image = temporaryDirectory(t)
  const copied = instructionsOf('COPY --from=build').flatMap((copy) => copy.split(' ').slice(0, 1))
  for (const path of copied.map((path) => path.slice('/app/'.length)))
    cpSync(join(directory, path), join(image, path), { recursive: true, verbatimSymlinks: true })
  rmSync(directory, { recursive: true })
  return { image, seconds }
}

/** A copy of the sources without their repository has no list of files. */
const skip = !existsSync('.git') && 'this is no git repository'

t.test('the steps of the Dockerfile make a folder in which the service runs', { skip }, async (t) => {
  t.setTimeout(600_000)
  const { image, seconds } = makeImage(t)
  t.comment(`The folder has ${megabytes(sizeOf(image))}. npm ci took ${seconds} s.`)
  const data = join(temporaryDirectory(t), 'data')
  mkdirSync(data)
  const env = { NODE_ENV: 'production', DATA_DIR: data, PORT: '0' }
  const [, program = '', ...args] = JSON.parse(instructionsOf('CMD').at(-1) ?? '')
  t.strictSame(args, ['serve'])
  const { lines, address, run, stop } = await serveInstalled(t, { cwd: image, program, env })
  t.match(lines.join('\n'), /The first administrator\..*Rowhouse listens at http/s)
  t.equal((await fetch(`${address}/console/`)).status, 200)
  t.equal(run('health'), 'ok\n')
  t.match(run('backup'), /-manual\.db$/m)
  t.strictSame(await stop(), [0, null])
})
