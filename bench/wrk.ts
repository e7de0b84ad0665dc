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
    // wrk ends with 1 after printing its version; only without it is there no status at all.
    return error instanceof Error && Reflect.get(error, 'status') === 1
  }
}

const asText = (host: string, token: string, request: HttpRequest) => {
  const { method, path, body = '' } = request
  const headers = { host, ...headersOf(token, request), 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}

/** The boundary where the line that wrk.lua prints gets its type. */
const readResult = (output: string): LoadResult => {
  const result = /^RESULT (.*)$/m.exec(output)?.[1]
  if (result === undefined) throw new Error(`wrk gave no result: ${output}`)
  return JSON.parse(result) as LoadResult
}

/** wrk itself counts in whole seconds. Told to stop, it looks up every tenth of one, and prints what it has. */
const runFor = async (seconds: number, args: readonly string[]) => {
  const running = run('wrk', [`-d${Math.ceil(seconds) + 1}s`, ...args])
  const end = setTimeout(() => running.child.kill('SIGINT'), seconds * 1000)
  const { stdout } = await running
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
