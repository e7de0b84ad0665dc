import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { isFailure } from '../validators.ts'
import { createHttpClient } from './http-client.ts'
import { createRandom, type Random, SEED } from './random.ts'
import { corpus, TOKENS } from './raw-corpus.ts'
import { type RawResponse, readResponses } from './raw-responses.ts'
import { expectSurvival } from './survival.ts'

const COUNT = scaled(30_000)
/** Number of concurrent connections. */
const BATCH = 32
const MAX_LENGTH = 200_000

const service = await startService(t)
const { port } = service
const send = createHttpClient(t, port)

interface Connection {
  readonly socket: Socket
  readonly received: string[]
  readonly closed: Promise<unknown>
}

const open = (bytes: string): Connection => {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  const received: string[] = []
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => received.push(chunk))
  // A server may refuse a request and close the connection while bytes are still in flight. The response counts.
  socket.on('error', () => socket.destroy())
  socket.on('end', () => socket.destroy())
  const closed = new Promise((resolve) => socket.on('close', resolve))
  socket.write(bytes, 'latin1')
  return { socket, received, closed }
}

/** Two requests of our own: after their responses, the service has processed everything that was sent before. */
const untilProcessed = async () => {
  for (let i = 0; i < 2; i += 1) await send({ method: 'GET', target: '/health/ready', headers: {} })
}

const exchange = async (messages: readonly string[]) => {
  const connections = messages.map(open)
  await Promise.all(connections.map(({ socket }) => socket.connecting && once(socket, 'connect')))
  await untilProcessed()
  for (const { socket } of connections) socket.end()
  await Promise.all(connections.map(({ closed }) => closed))
  return connections.map(({ received }) => received.join(''))
}

const responseFault = ({ status, headers, body }: RawResponse) => {
  if (status >= 500) return `${status}`
  // `GET /` redirects to the console.
  if (status <= 200 || (status === 302 && headers.location === 'console/')) return undefined
  // A response to HEAD has only the length of the envelope.
  if (body === '' && Number(headers['content-length']) > 0) return undefined
  const isEnvelope =
    headers['content-type'] === 'application/json; charset=utf-8' && body !== '' && isFailure(JSON.parse(body))
  return isEnvelope ? undefined : `${status} without the error envelope`
}

const faultIn = (bytes: string): string | undefined => {
  try {
    return readResponses(bytes).map(responseFault).find(Boolean)
  } catch (error) {
    return (error as Error).message
  }
}

/** The number of responses by status. */
const counts = new Map<number, number>()

const runBatch = async (t: Test, messages: readonly string[]) => {
  for (const [index, bytes] of (await exchange(messages)).entries()) {
    const fault = faultIn(bytes)
    const request = String(messages[index])
    if (fault !== undefined)
      t.fail(fault, { request: JSON.stringify(request.slice(0, 1000)), response: bytes.slice(0, 2000) })
    else for (const { status } of readResponses(bytes)) counts.set(status, (counts.get(status) ?? 0) + 1)
  }
}

const mutations: readonly ((bytes: string, random: Random) => string)[] = [
  (bytes, { below }) => {
    const at = below(bytes.length)
    const flipped = String.fromCharCode(bytes.charCodeAt(at) ^ (1 << below(8)))
    return bytes.slice(0, at) + flipped + bytes.slice(at + 1)
  },
  (bytes, { below }) => bytes.slice(0, below(bytes.length)),
  (bytes, { below }) => bytes.slice(below(bytes.length)),
  (bytes, { below }) => bytes.slice(0, below(bytes.length)) + bytes.slice(below(bytes.length)),
  (bytes, { below, pick }) => {
    const at = below(bytes.length)
    return bytes.slice(0, at) + pick(TOKENS) + bytes.slice(at)
  },
  (bytes, { below, pick }) => bytes.slice(0, below(bytes.length)) + pick(corpus)
]

const mutate = (random: Random) => {
  let bytes = random.pick(corpus)
  for (let times = 1 + random.below(3); times > 0; times -= 1) {
    if (bytes !== '') bytes = random.pick(mutations)(bytes, random).slice(0, MAX_LENGTH)
  }
  return bytes
}

t.test('the response to invalid HTTP is the error envelope or none', async (t) => runBatch(t, corpus))

t.test('the response to flipped, cut and spliced bytes is valid HTTP, and never a 5xx', async (t) => {
  const start = Date.now()
  const random = createRandom(SEED)
  for (let done = 0; done < COUNT; done += BATCH)
    await runBatch(
      t,
      Array.from({ length: BATCH }, () => mutate(random))
    )
  t.comment(`${COUNT} connections in ${((Date.now() - start) / 1000).toFixed(1)} s, SEED=${SEED}`)
  t.comment(
    [...counts]
      .sort()
      .map(([status, times]) => `${status}: ${times}`)
      .join(', ')
  )
  for (const status of [200, 400, 401, 404, 405, 431]) t.ok(counts.has(status), `at least one response is ${status}`)
})

/** Node parses PRI, the preface of HTTP/2, as a method outside METHODS. Fastify then logs this, with its routes. */
const UNLISTED_METHOD = /the default handler for 404 did not catch this|"msg":"└── /

t.test('the service survives', (t) => expectSurvival(t, service, UNLISTED_METHOD))
