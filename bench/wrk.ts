import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Generator, headersOf, type LoadResult } from './load.ts'
import type { HttpRequest } from './workloads.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('../../bench/wrk.lua', import.meta.url))

export const isWrkInstalled = () => {
  try {
    execFileSync('wrk', ['--version'], { stdio: 'ignore' })
    return true
  } catch (error) {
    // wrk exits with 1 after it prints its version. Without wrk the error has no status.
    return error instanceof Error && Reflect.get(error, 'status') === 1
  }
}

const asText = (host: string, token: string, request: HttpRequest) => {
  const { method, path, body = '' } = request
  const headers = { host, ...headersOf(token, request), 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}

/** The boundary where the output of wrk.lua gets its type. */
const readResult = (output: string): LoadResult => {
  const result = /^RESULT (.*)$/m.exec(output)?.[1]
  if (result === undefined) throw new Error(`wrk printed no result: ${output}`)
  return JSON.parse(result) as LoadResult
}

/** wrk only takes whole seconds. After SIGINT it stops within a tenth of a second and prints its counts. */
const runFor = async (seconds: number, args: readonly string[]) => {
  const wrkProcess = run('wrk', [`-d${Math.ceil(seconds) + 1}s`, ...args])
  const end = setTimeout(() => wrkProcess.child.kill('SIGINT'), seconds * 1000)
  const { stdout } = await wrkProcess
  clearTimeout(end)
  return stdout
}

export const wrk: Generator = {
  name: 'wrk',
  prepare: ({ address, token, requests }, directory) => {
    const file = join(mkdtempSync(join(directory, 'wrk-')), 'requests')
    const { host } = new URL(address)
    writeFileSync(file, requests.map((request) => asText(host, token, request)).join('\0'))
    return async ({ connections, seconds }) =>
      readResult(await runFor(seconds, ['-t1', `-c${connections}`, '-s', script, address, '--', file]))
  }
}
