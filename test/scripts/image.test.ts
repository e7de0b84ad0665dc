import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../fixtures.ts'
import { installPackage, megabytes, pack, serveInstalled, sizeOf } from './installation.ts'

/** Returns the arguments of each instruction of this name. */
const instructionsOf = (name: string) =>
  [...readFileSync('Dockerfile', 'utf8').matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].map(([, rest = '']) => rest)

/** Returns the copied files that are not in git. They would be missing in a clone. */
const findUntracked = () => {
  const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n')
  const copies = instructionsOf('COPY').filter((copy) => !/^--from|^\. \.$/.test(copy))
  return copies.flatMap((copy) => copy.split(' ').slice(0, -1)).filter((path) => !tracked.includes(path))
}

/** Makes the folder that the last stage copies from the stage of the build. */
const makeImage = (t: Test) => {
  const directory = temporaryDirectory(t)
  const { filename } = pack(directory)
  const image = temporaryDirectory(t)
  const { seconds } = installPackage(image, join(directory, filename))
  return { image, seconds }
}

/** A copy of the sources without their repository has no list of files. */
const skip = !existsSync('.git') && 'this is no git repository'

t.test('the steps of the Dockerfile make a folder in which the service runs', { skip }, async (t) => {
  t.setTimeout(600_000)
  t.strictSame(findUntracked(), [], 'each copied file is in git')
  const { image, seconds } = makeImage(t)
  t.comment(`The folder has ${megabytes(sizeOf(image))}. npm install took ${seconds} s.`)
  const data = join(temporaryDirectory(t), 'data')
  mkdirSync(data)
  const env = { NODE_ENV: 'production', DATA_DIR: data, PORT: '0' }
  t.strictSame(JSON.parse(instructionsOf('CMD').at(-1) ?? ''), ['rowhouse', 'serve'])
  const program = join(image, 'node_modules/.bin/rowhouse')
  const { lines, address, run, stop } = await serveInstalled(t, { cwd: image, program, env })
  t.match(lines.join('\n'), /The first administrator\..*Rowhouse listens at http/s)
  t.equal((await fetch(`${address}/console/`)).status, 200)
  t.equal(run('health'), 'ok\n')
  t.match(run('backup'), /-manual\.db$/m)
  t.strictSame(await stop(), [0, null])
})
