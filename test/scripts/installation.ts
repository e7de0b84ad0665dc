import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { plainNode } from '../plain-process.ts'

export const npm = (cwd: string, ...args: readonly string[]) =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

/** Bytes. The link to the console, a workspace, names nothing in an installation. */
export const sizeOf = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => lstatSync(join(directory, path)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)

export const megabytes = (bytes: number) => `${Math.round(bytes / 1e5) / 10} MB`

/** Runs a function. Returns the whole seconds that it took. */
export const secondsOf = (run: () => void) => {
  const start = performance.now()
  run()
  return Math.round((performance.now() - start) / 1000)
}

export interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

/** Makes the package in a folder, as `npm run pack` does after the build. */
export const pack = (folder: string): Packed => {
  const options = ['--json', '--pack-destination', folder]
  const output = execFileSync(process.execPath, ['build/scripts/pack.js', ...options], { encoding: 'utf8' })
  return JSON.parse(output)[0]
}

/** npm asks once for a review of these scripts. README explains it. */
const REVIEW = /^npm warn install-scripts /

/** Installs a package. Returns the whole seconds that it took, and the warnings of npm except those about scripts. */
export const installPackage = (directory: string, file: string) => {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  let output = ''
  const seconds = secondsOf(() => {
    const { status, stderr } = spawnSync('npm', ['install', ...options, file], { cwd: directory, encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    output = stderr
  })
  const warnings = output.split('\n').filter((line) => /^npm warn/i.test(line) && !REVIEW.test(line))
  return { seconds, warnings }
}

/** Returns the size and the number of the packages in a folder. */
export const installationOf = (directory: string) => {
  const installed = join(directory, 'node_modules')
  const { packages } = JSON.parse(readFileSync(join(installed, '.package-lock.json'), 'utf8'))
  return { bytes: sizeOf(installed), packages: Object.keys(packages).length }
}

interface Program {
  readonly cwd: string
  readonly program: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs the service of an installation until `t` ends. Resolves when it listens, or has ended. */
export const serveInstalled = async (t: Test, { cwd, program, env = {} }: Program, ...args: readonly string[]) => {
  const [command = '', ...rest] = [...plainNode(), program, 'serve', ...args]
  const child = spawn(command, rest, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  t.teardown(() => child.kill('SIGKILL'))
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (line.startsWith('Rowhouse listens')) break
  }
  const [address = ''] = /http:\/\/[\d.:]+/.exec(lines.at(-1) ?? '') ?? []
  /** Runs a command of the installation. Returns its output. */
  const run = (...words: readonly string[]) => {
    const options = { cwd, encoding: 'utf8' as const, env: { ...process.env, ...env, NODE_OPTIONS: '' } }
    return execFileSync(process.execPath, [program, ...words], options)
  }
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  return { lines, address, run, stop }
}
