import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import tap, { type Test } from 'tap'
import { PASSWORD, temporaryDirectory } from './fixtures.ts'
import { type Environment, spawnPlain } from './plain-process.ts'

/** The bundle that `npm start` runs. */
const SERVER = new URL('../../dist/rowhouse.js', import.meta.url).pathname
/** The unbundled program, for coverage: a bundle has none. */
const SERVER_MODULE = new URL('../cli/main.js', import.meta.url).pathname
const PLAIN_THREADS = new URL('./plain-threads.js', import.meta.url).href

/** Returns an environment that makes the service run these lines of code before its own. */
export const withPreload = (lines: string) => ({
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(lines)}`
})

/** Loads tap into the process, but not into its threads. The process is in the coverage unless it is killed. */
const spawnCovered = (env: Environment, args: readonly string[], cwd: string) => {
  const options = [process.env.NODE_OPTIONS, `--import ${PLAIN_THREADS}`, env.NODE_OPTIONS]
  return spawn(process.execPath, [SERVER_MODULE, 'serve', ...args], {
    env: { ...process.env, ...env, NODE_OPTIONS: options.join(' ') },
    stdio: 'pipe',
    cwd
  })
}

/** A test gets this time for each service that it starts, and for each call of `extendTimeout`. How many depends on SCALE. */
const TIMEOUT_MS = 250_000

/** tap compares its last timeout with the total time of a test. */
export const extendTimeout = (t: Test) => {
  for (const test of [tap, t]) test.setTimeout(1000 * process.uptime() + TIMEOUT_MS)
}

/** An exit code, or the signal that ended the process. */
type Exit = readonly [number | null, NodeJS.Signals | null]

export interface ServiceProcess {
  readonly child: ChildProcess
  readonly dataDir: string
  /** The URL where it listens. Null if it ended before it listened. */
  readonly address: string | null
  readonly ended: Promise<Exit>
  readonly end: (signal: NodeJS.Signals) => Promise<Exit>
  /** Lines of standard output and standard error so far. */
  readonly lines: readonly string[]
  /** Lines of standard error so far. */
  readonly errorLines: readonly string[]
}

/** A service that listens. */
export interface Service extends ServiceProcess {
  readonly address: string
  readonly host: string
  readonly port: number
}

interface RunOptions {
  readonly isCovered?: boolean
  /** Options of `rowhouse serve`. */
  readonly args?: readonly string[]
  /** The working directory. By default a new one, so that no `.env` of a developer is read. */
  readonly cwd?: string
  /** A command that runs the service. Not for one that is covered. */
  readonly wrapper?: readonly string[]
}

const readLines = (stream: Readable, onLine: (line: string) => void) => createInterface(stream).on('line', onLine)

/**
 * Runs the service in its own process until `t` ends. The administrator has PASSWORD unless `env` sets another.
 * Resolves when the service listens, or has ended before.
 */
export const runService = async (t: Test, env: Environment = {}, options: RunOptions = {}) => {
  const { isCovered = false, args = [], cwd = temporaryDirectory(t), wrapper = [] } = options
  extendTimeout(t)
  const dataDir = env.DATA_DIR ?? temporaryDirectory(t)
  const settings = { PORT: '0', ADMIN_PASSWORD: PASSWORD, ...env, DATA_DIR: dataDir }
  const child = isCovered
    ? spawnCovered(settings, args, cwd)
    : spawnPlain(SERVER, { args: ['serve', ...args], env: settings, stdio: 'pipe', cwd, wrapper })
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  t.teardown(() => end('SIGKILL'))
  const lines: string[] = []
  const errorLines: string[] = []
  readLines(child.stderr as Readable, (line) => {
    lines.push(line)
    errorLines.push(line)
  })
  const address = await new Promise<string | null>((resolve) => {
    readLines(child.stdout as Readable, (line) => {
      lines.push(line)
      const [, found] = /listens at (\S+)/.exec(line) ?? []
      if (found) resolve(found)
    })
    ended.then(() => resolve(null))
  })
  const service: ServiceProcess = { child, dataDir, address, ended, end, lines, errorLines }
  return service
}

/** @throws with its output if the service ended before it listened */
export const assertListening = (service: ServiceProcess): Service => {
  const { address, lines } = service
  if (address === null) throw new Error(`The service did not start: ${lines.join('\n')}`)
  const { hostname: host, port } = new URL(address)
  return { ...service, address, host, port: Number(port) }
}

/** Runs the service until `t` ends. @throws with its output if it ended before it listened */
export const startService = async (...args: Parameters<typeof runService>) => assertListening(await runService(...args))
