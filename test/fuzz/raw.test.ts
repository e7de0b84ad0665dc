import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { isFailure } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { createCaller } from './caller.ts'
import { createRandom, type Random, SEED } from './random.ts'
import { corpus, TOKENS } from './raw-corpus.ts'
import { type RawAnswer, readAnswers } from './raw-responses.ts'
import { survives } from './survival.ts'

const COUNT = scaled(30_000)
/** Connections at once. */
const BATCH = 32
const LONGEST = 200_000

const service = await startService(t)
const { port } = service
const call = createCaller(t, port)

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
  // A server that refuses may close while bytes are still on their way: what it said counts.
  socket.on('error', () => socket.destroy())
  socket.on('end', () => socket.destroy())
  const closed = new Promise((resolve) => socket.on('close', resolve))
  socket.write(bytes, 'latin1')
  return { socket, received, closed }
}

/** Answered requests of our own tell that the service has read and answered what came before them. */
const settle = async () => {
  for (let i = 0; i < 2; i += 1) await call({ method: 'GET', target: '/health/ready', headers: {} })
}

const exchange = async (messages: readonly string[]) => {
  const connections = messages.map(open)
  await Promise.all(connections.map(({ socket }) => socket.connecting && once(socket, 'connect')))
  await settle()
  for (const { socket } of connections) socket.end()
  await Promise.all(connections.map(({ closed }) => closed))
  return connections.map(({ received }) => received.join(''))
}

const answerFault = ({ status, headers, body }: RawAnswer) => {
  if (status >= 500) return `${status}`
  if (status <= 200) return undefined
  // Answers to HEAD only say how long the envelope would be.
  if (body === '' && Number(headers['content-length']) > 0) return undefined
  const isEnvelope =
    headers['content-type'] === 'application/json; charset=utf-8' && body !== '' && isFailure(JSON.parse(body))
  return isEnvelope ? undefined : `${status} without the failure envelope`
}

const faultIn = (bytes: string): string | undefined => {
  try {
    return readAnswers(bytes).map(answerFault).find(Boolean)
  } catch (error) {
    return (error as Error).message
  }
}

const seen = new Map<number, number>()

const play = async (t: Test, messages: readonly string[]) => {
  for (const [index, bytes] of (await exchange(messages)).entries()) {
    const fault = faultIn(bytes)
    const sent = String(messages[index])
    if (fault !== undefined) t.fail(fault, { sent: JSON.stringify(sent.slice(0, 1000)), answer: bytes.slice(0, 2000) })
    else for (const { status } of readAnswers(bytes)) seen.set(status, (seen.get(status) ?? 0) + 1)
  }
}

const changes: readonly ((bytes: string, random: Random) => string)[] = [
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

const mutated = (random: Random) => {
  let bytes = random.pick(corpus)
  for (let times = 1 + random.below(3); times > 0; times -= 1) {
    if (bytes !== '') bytes = random.pick(changes)(bytes, random).slice(0, LONGEST)
  }
  return bytes
}

t.test('what is no HTTP is answered in the envelope, or not at all', async (t) => play(t, corpus))

t.test('nor do flipped, cut and spliced bytes bring anything else', async (t) => {
  const start = Date.now()
  const random = createRandom(SEED)
  for (let done = 0; done < COUNT; done += BATCH)
    await play(
      t,
      Array.from({ length: BATCH }, () => mutated(random))
    )
  t.comment(`${COUNT} connections in ${((Date.now() - start) / 1000).toFixed(1)} s, SEED=${SEED}`)
  t.comment(
    [...seen]
      .sort()
      .map(([status, times]) => `${status}: ${times}`)
      .join(', ')
  )
  for (const status of [200, 400, 401, 404, 405, 431]) t.ok(seen.has(status), `some were answered with ${status}`)
})

/** Node reads PRI, the preface of HTTP/2, as a method that it does not list; Fastify says so, with its routes. */
const UNLISTED_METHOD = /the default handler for 404 did not catch this|"msg":"└── /

t.test('the service lives on', (t) => survives(t, service, UNLISTED_METHOD))
