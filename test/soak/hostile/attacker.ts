import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { createRandom } from '../../fuzz/random.ts'
import { type Catalogue, type Choice, type HostileRequest, requestsOf } from './requests.ts'

// A process of its own, so that the work of this client does not delay the updates whose time is measured.

/** Requests at the same time, beside the connections that never read a response. */
const CONNECTIONS = 24
const MAX_UNREAD = 40
const PAUSE_MS = 50
const PASSED = new Set([200, 400, 403, 404, 409, 412, 413, 503])

export interface Attack extends Choice {
  readonly host: string
  readonly port: number
  readonly authorization: string
  readonly milliseconds: number
  readonly seed: number
}

export interface AttackResult {
  /** The number of responses for each status. 0: the connection ended early. */
  readonly counts: Readonly<Record<string, number>>
  /** Responses that are a fault of the service. */
  readonly failures: readonly string[]
}

interface Outcome {
  readonly status: number
  /** The beginning of the body. */
  readonly body: string
}

type Target = Pick<Attack, 'host' | 'port' | 'authorization'>

const encode = ({ text, body }: HostileRequest) => text ?? (body && JSON.stringify(body)) ?? ''

const headersOf = ({ headers, body }: HostileRequest, authorization: string, content: string) => ({
  authorization,
  ...(body && { 'content-type': 'application/json' }),
  ...(content && { 'content-length': String(Buffer.byteLength(content)) }),
  ...headers
})

/** Sends a request and discards all but the beginning of its response. */
const send = ({ host, port, authorization }: Target, agent: Agent, hostile: HostileRequest) =>
  new Promise<Outcome>((resolve) => {
    const { method = 'GET', path } = hostile
    const content = encode(hostile)
    const sent = request({ host, port, agent, method, path, headers: headersOf(hostile, authorization, content) })
    sent.on('error', () => resolve({ status: 0, body: '' }))
    sent.on('response', (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => {
        if (body === '') body = chunk.toString('utf8', 0, 500)
      })
      response.on('error', () => resolve({ status: 0, body }))
      response.on('close', () => resolve({ status: response.statusCode ?? 0, body }))
    })
    sent.end(content)
  })

/** Sends a request over a connection of its own and never reads the response. */
const sendUnread = ({ host, port, authorization }: Target, hostile: HostileRequest): Socket => {
  const content = encode(hostile)
  const headers = Object.entries(headersOf(hostile, authorization, content)).map(([name, value]) => `${name}: ${value}`)
  const socket = connect({ host, port })
  socket.on('error', () => {})
  socket.pause()
  socket.write(`${hostile.method ?? 'GET'} ${hostile.path} HTTP/1.1\r\nHost: a\r\n${headers.join('\r\n')}\r\n\r\n`)
  socket.write(content)
  return socket
}

/** Sends random requests of the catalogue until the time is over. The last connections stay open, with unread responses. */
const attack = async ({ writes, only, milliseconds, seed, ...target }: Attack): Promise<AttackResult> => {
  const random = createRandom(seed)
  const catalogue = requestsOf({ writes, only })
  const names = Object.keys(catalogue)
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const unread: Socket[] = []
  const counts: Record<string, number> = {}
  const failures: string[] = []
  const end = performance.now() + milliseconds

  const work = async () => {
    while (performance.now() < end) {
      const name = random.pick(names)
      const hostile = (catalogue[name] as Catalogue[string])(random)
      if (random.chance(0.1)) unread.push(sendUnread(target, hostile))
      if (unread.length > MAX_UNREAD) unread.shift()?.destroy()
      const { status, body } = await send(target, agent, hostile)
      counts[status] = (counts[status] ?? 0) + 1
      if (status !== 0 && !PASSED.has(status)) failures.push(`${name}: ${status} ${body}`)
      if (status === 503 || status === 0) await wait(PAUSE_MS)
    }
  }

  await Promise.all([
    ...Array.from({ length: CONNECTIONS }, work),
    // Requests that wait behind slow ones end with their connections.
    wait(milliseconds + 2000).then(() => agent.destroy())
  ])
  return { counts, failures }
}

process.once('message', async (message) => {
  process.send?.(await attack(message as Attack))
})
