import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Generator, headersOf, type Load, type LoadResult } from './load.ts'
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

export const wrk: Generator = {
  name: 'wrk',
  run: async ({ address, token, requests, connections, seconds }: Load) => {
    const directory = mkdtempSync(join(tmpdir(), 'rowhouse-wrk-'))
    try {
      const file = join(directory, 'requests')
      const { host } = new URL(address)
      writeFileSync(file, requests.map((request) => asText(host, token, request)).join('\0'))
      const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, address, '--', file]
      return readResult((await run('wrk', args)).stdout)
    } finally {
      rmSync(directory, { recursive: true })
    }
  }
}
