import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import tap, { type Test } from 'tap'
import { PASSWORD, temporaryDirectory } from './helpers.ts'
import { type Environment, spawnPlain } from './plain-process.ts'

/** What `npm start` runs. */
const SERVER = new URL('../../dist/server.js', import.meta.url).pathname
/** The same, module by module: a bundle has no coverage of its own. */
const SERVER_MODULE = new URL('../server.js', import.meta.url).pathname
const PLAIN_THREADS = new URL('./plain-threads.js', import.meta.url).href

/** The environment of a service that runs these lines before its own, in its process. */
export const withPreload = (lines: string) => ({
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(lines)}`
})

/** With tap in its process, though not in its threads: what it runs is in the coverage, if it ends in order. */
const spawnCovered = (env: Environment) => {
  const options = [process.env.NODE_OPTIONS, `--import ${PLAIN_THREADS}`, env.NODE_OPTIONS]
  return spawn(process.execPath, [SERVER_MODULE], {
    env: { ...process.env, ...env, NODE_OPTIONS: options.join(' ') },
    stdio: 'pipe'
  })
}

/** A test has as long for each service that it starts: how many there are is a matter of the scale. */
const TIME_MS = 120_000

/** In all, since tap fails what took longer than its last limit. */
const giveTime = (t: Test) => {
  for (const test of [tap, t]) test.setTimeout(1000 * process.uptime() + TIME_MS)
}

/** An exit code, or the signal that ended it. */
type Ending = readonly [number | null, NodeJS.Signals | null]

export interface ServiceProcess {
  readonly child: ChildProcess
  readonly dataDir: string
  /** Where it listens; null where it has ended before it did. */
  readonly address: string | null
  readonly ended: Promise<Ending>
  readonly end: (signal: NodeJS.Signals) => Promise<Ending>
  /** What it has said so far, on standard output and standard error. */
  readonly lines: readonly string[]
  /** Of these, what was said on standard error. */
  readonly complaints: readonly string[]
}

/** A service that has told where it listens. */
export interface Service extends ServiceProcess {
  readonly address: string
  readonly host: string
  readonly port: number
}

interface RunOptions {
  readonly isCovered?: boolean
}

const listen = (stream: Readable, onLine: (line: string) => void) => createInterface(stream).on('line', onLine)

/**
 * The service in a process of its own, as its users start it, until `t` ends; the administrator has PASSWORD unless the
 * environment says otherwise. Resolves when it listens, or has ended before it did.
 */
export const runService = async (t: Test, env: Environment = {}, { isCovered = false }: RunOptions = {}) => {
  giveTime(t)
  const dataDir = env.DATA_DIR ?? temporaryDirectory(t)
  const settings = { PORT: '0', ADMIN_PASSWORD: PASSWORD, ...env, DATA_DIR: dataDir }
  const child = isCovered ? spawnCovered(settings) : spawnPlain(SERVER, { env: settings, stdio: 'pipe' })
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  t.teardown(() => end('SIGKILL'))
  const lines: string[] = []
  const complaints: string[] = []
  listen(child.stderr as Readable, (line) => {
    lines.push(line)
    complaints.push(line)
  })
  const address = await new Promise<string | null>((resolve) => {
    listen(child.stdout as Readable, (line) => {
      lines.push(line)
      const [, found] = /listens at (\S+)/.exec(line) ?? []
      if (found) resolve(found)
    })
    ended.then(() => resolve(null))
  })
  const service: ServiceProcess = { child, dataDir, address, ended, end, lines, complaints }
  return service
}

/** @throws with what it said, where it has ended before it listened */
export const assertListening = (service: ServiceProcess): Service => {
  const { address, lines } = service
  if (address === null) throw new Error(`The service did not start: ${lines.join('\n')}`)
  const { hostname: host, port } = new URL(address)
  return { ...service, address, host, port: Number(port) }
}

/** Runs the service, as `runService` does. @throws with what it said, where it has ended before it listened */
export const startService = async (...started: Parameters<typeof runService>) =>
  assertListening(await runService(...started))
