import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { PASSWORD, temporaryDirectory } from './helpers.ts'

const SERVER = new URL('../server.js', import.meta.url).pathname

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
  const child = spawn(process.execPath, [SERVER], { env: { ...process.env, ...settings }, stdio: 'pipe' })
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
