import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { PASSWORD, temporaryDirectory } from '../helpers.ts'
import { plainEnvironment, SERVER } from '../service-process.ts'

/** The service as it is deployed, in a process of its own, so that an exit is one. It ends with `t` at the latest. */
export const startProcess = async (t: Test, env: Record<string, string> = {}) => {
  const settings = { PORT: '0', DATA_DIR: temporaryDirectory(t), ADMIN_PASSWORD: PASSWORD, LOG_LEVEL: 'warn', ...env }
  const child = spawn(process.execPath, [SERVER], { env: { ...plainEnvironment(), ...settings }, stdio: 'pipe' })
  t.teardown(() => child.kill('SIGKILL'))
  const complaints: string[] = []
  createInterface(child.stderr).on('line', (line) => complaints.push(line))
  const ended = once(child, 'exit').then(([code, signal]) => `${code ?? signal}`)

  const listens = async () => {
    for await (const line of createInterface(child.stdout)) {
      const address = /listens at (\S+)/.exec(line)?.[1]
      if (address) return address
    }
    throw new Error(`The service did not start: ${complaints.join('\n')}`)
  }

  /** The service is still there, has complained of nothing but what is expected, and ends in order when it is told to. */
  const survives = async (t: Test, expected?: RegExp) => {
    t.equal(child.exitCode ?? child.signalCode, null, 'the process is alive')
    child.kill('SIGTERM')
    t.equal(await ended, '0', 'the process ends in order')
    const surprising = complaints.filter((line) => !expected?.test(line))
    t.strictSame(surprising, [], 'nothing unexpected on standard error')
  }

  const address = await listens()
  return { address, port: Number(new URL(address).port), survives }
}

export type Service = Awaited<ReturnType<typeof startProcess>>
