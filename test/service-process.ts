import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { PASSWORD, temporaryDirectory } from './helpers.ts'

/** What `npm start` runs. */
export const SERVER = new URL('../server.js', import.meta.url).pathname

/**
 * The environment without what tap sets to measure coverage: a service that is killed could not tell it, and every one
 * starts slower for it. `server.test.ts` covers what only a process runs.
 */
export const plainEnvironment = () => {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...environment } = process.env
  return environment
}

export interface ServiceProcess {
  readonly child: ChildProcess
  readonly host: string
  readonly port: number
  readonly dataDir: string
  /** What it has said so far, on standard output and standard error. */
  readonly lines: readonly string[]
}

const collect = (child: ChildProcess) => {
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr])
    if (stream) createInterface(stream).on('line', (line) => lines.push(line))
  return lines
}

/** The service in a process of its own, as its users start it, until `t` ends. The password is PASSWORD. */
export const startProcess = async (t: Test, env: Record<string, string> = {}): Promise<ServiceProcess> => {
  const dataDir = temporaryDirectory(t)
  const settings = { PORT: '0', DATA_DIR: dataDir, ADMIN_PASSWORD: PASSWORD, ...env }
  const child = spawn(process.execPath, [SERVER], { env: { ...plainEnvironment(), ...settings }, stdio: 'pipe' })
  t.teardown(async () => {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
    child.kill('SIGKILL')
    await ended
  })
  const lines = collect(child)
  for await (const line of createInterface(child.stdout)) {
    const [, host, port] = /listens at http:\/\/([^:]+):(\d+)/.exec(line) ?? []
    if (host && port) return { child, host, port: Number(port), dataDir, lines }
  }
  throw new Error(`The service did not start: ${lines.join('\n')}`)
}
