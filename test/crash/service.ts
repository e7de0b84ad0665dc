import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import tap, { type Test } from 'tap'
import { PASSWORD } from '../helpers.ts'
import { plainEnvironment, SERVER } from '../service-process.ts'

/** A test has as long for each service that it starts: how many there are is a matter of the scale. */
const TIME_MS = 120_000

/** In all, since tap fails what took longer than its last limit. */
const giveTime = (t: Test) => {
  for (const test of [tap, t]) test.setTimeout(1000 * process.uptime() + TIME_MS)
}

/** Starts the real service, as `npm start` does. Resolves when it listens, or has ended before it did. */
export const startService = async (t: Test, directory: string, env: Record<string, string> = {}) => {
  giveTime(t)
  const settings = { DATA_DIR: directory, PORT: '0', ADMIN_PASSWORD: PASSWORD }
  const child = spawn(process.execPath, [SERVER], {
    env: { ...plainEnvironment(), ...settings, ...env },
    stdio: 'pipe'
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const output: string[] = []
  child.stderr.on('data', (chunk) => output.push(String(chunk)))
  const address = await new Promise<string | null>((resolve) => {
    child.stdout.on('data', (chunk) => {
      output.push(String(chunk))
      const found = /listens at (\S+)/.exec(output.join(''))
      if (found) resolve(found[1] as string)
    })
    ended.then(() => resolve(null))
  })
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  /** @throws with what it said, where it has ended before it listened */
  const assertListening = () => {
    if (address === null) throw new Error(`The service did not start: ${output.join('')}`)
    return address
  }
  return { address, assertListening, end, ended, pid: child.pid, said: () => output.join('') }
}

export type Service = Awaited<ReturnType<typeof startService>>

export interface Answer {
  /** 0: the connection ended before there was one. */
  readonly status: number
  readonly body: string
  readonly headers: IncomingMessage['headers']
}

const NO_ANSWER: Answer = { status: 0, body: '', headers: {} }

const RETRY_MS = 50

/** The machine may be busy with other tests. What is refused for that before it is looked at has left no trace. */
const isOverloaded = ({ status, body }: Answer) => status === 503 && JSON.parse(body).error.code === 'OVERLOADED'

/** Calls under one credential, over as many connections as are under way at once, each kept alive. */
export const createCaller = (address: string, credential: Record<string, string> = {}) => {
  const agent = new Agent({ keepAlive: true })
  const send = (method: string, path: string, body?: object) =>
    new Promise<Answer>((resolve) => {
      const headers = { ...credential, ...(body && { 'content-type': 'application/json' }) }
      const call = request(`${address}${path}`, { method, headers, agent })
      call.on('error', () => resolve(NO_ANSWER))
      call.on('response', (response) => {
        const { statusCode: status = 0, headers } = response
        text(response).then(
          (body) => resolve({ status, body, headers }),
          () => resolve(NO_ANSWER)
        )
      })
      call.end(body && JSON.stringify(body))
    })

  return async (...call: Parameters<typeof send>) => {
    let answer = await send(...call)
    while (isOverloaded(answer)) {
      await setTimeout(RETRY_MS)
      answer = await send(...call)
    }
    return answer
  }
}

export type Call = ReturnType<typeof createCaller>

/** The `data` of an answer that has to be a success. */
export const dataOf = ({ status, body }: Answer) => {
  if (status !== 200) throw new Error(`${status}: ${body}`)
  return JSON.parse(body).data
}
