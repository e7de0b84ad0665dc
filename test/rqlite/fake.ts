import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Lifetime } from '../fixtures.ts'
import { ENDPOINTS, type FakeReply, NO_LEADER, REFUSAL, VERSION } from './fake-endpoints.ts'
import { createFaults, type Fault } from './fake-faults.ts'
import { openNodes } from './fake-nodes.ts'
import { type BoundValue, type FakeStatement, readStatements } from './fake-request.ts'

/** A request as the fake received it, with its number from 1. */
export interface LoggedRequest {
  readonly number: number
  readonly path: string
  readonly search: string
  readonly statements: readonly FakeStatement[]
}

export interface FakeOptions {
  /** Basic authentication. Without it, every request is accepted. */
  readonly credentials?: { readonly user: string; readonly password: string }
  /** The second node is vacuumed and analysed after each `interval` writes. */
  readonly interval?: number
  /** A SQLite file whose content the nodes have at first. */
  readonly file?: string
  /** Whether the end of `t` compares the nodes. False for a test that shows a difference. */
  readonly isCompared?: boolean
}

const MAX_LOGGED = 1000

const statementsOf = (path: string, body: string) => {
  try {
    return path.startsWith('/db/') ? readStatements(body) : []
  } catch {
    return []
  }
}

const createLog = () => {
  const requests: LoggedRequest[] = []
  let number = 0
  const log = ({ pathname, search }: URL, body: string) => {
    number += 1
    requests.push({ number, path: pathname, search, statements: statementsOf(pathname, body) })
    if (requests.length > MAX_LOGGED) requests.shift()
  }
  return { requests, log }
}

const isAuthorized = (request: IncomingMessage, { credentials }: FakeOptions) => {
  if (!credentials) return true
  const expected = Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')
  return request.headers.authorization === `Basic ${expected}`
}

const listen = async (
  t: Lifetime,
  onRequest: (request: IncomingMessage, response: ServerResponse) => Promise<void>
) => {
  const server = createServer((request, response) => {
    onRequest(request, response).catch((error) => {
      t.threw(error)
      request.socket.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Runs the request unless its fault prevents that. Null if the connection must end. */
const runWithFault = async (run: () => FakeReply, fault: Fault | undefined) => {
  if (fault?.kind === 'lose-request') return null
  if (fault?.kind === 'no-leader') return NO_LEADER
  if (fault?.kind === 'refuse') return REFUSAL
  const wait = () => {
    if (!fault || !('until' in fault)) return
    fault.arrive()
    return fault.until
  }
  if (fault?.kind === 'hold-request') await wait()
  const reply = run()
  if (fault?.kind === 'hold-response') await wait()
  return fault?.kind === 'lose-response' ? null : reply
}

/**
 * Starts a server that behaves as one node of rqlite 10, until `t` ends. `t` fails if the files of its two nodes then
 * differ. Other than rqlite: `"x"` is never a text, LIKE does not match BLOBs, an error of a function that rqlite does
 * not have comes when it runs, and SQLite may plan another way.
 */
export const startFakeRqlite = async (t: Lifetime, options: FakeOptions = {}) => {
  const nodes = openNodes(t, options.interval ?? 16, options.file)
  const { faults, take } = createFaults()
  const { requests, log } = createLog()

  const respond = async (request: IncomingMessage, response: ServerResponse, base: string) => {
    const url = new URL(String(request.url), base)
    const body = await text(request)
    const endpoint = ENDPOINTS[url.pathname]
    response.setHeader('X-Rqlite-Version', VERSION)
    if (endpoint) response.setHeader('Content-Type', endpoint.type)
    if (options.credentials) response.setHeader('WWW-Authenticate', 'Basic realm="rqlite"')
    if (!endpoint) return response.writeHead(404).end()
    if (!isAuthorized(request, options)) return response.writeHead(401).end()
    if (!endpoint.methods.includes(String(request.method))) return response.writeHead(405).end()
    log(url, body)
    const reply = await runWithFault(() => endpoint.run(nodes, url, body), take(url.pathname))
    if (!reply) return request.socket.destroy()
    if (reply.status !== 200) response.setHeader('Content-Type', 'text/plain; charset=utf-8')
    return response.writeHead(reply.status).end(reply.body)
  }

  const url: string = await listen(t, async (request, response) => {
    await respond(request, response, url)
  })
  t.teardown(() => {
    const differences = options.isCompared === false ? [] : nodes.compare()
    if (differences.length > 0) throw new Error(`The nodes differ. ${differences.join('; ')}`)
  })

  /** Runs SQL on both nodes, as another client would. */
  const execute = (sql: string) => {
    nodes.first.run(sql)
    nodes.second.run(sql)
    for (const node of [nodes.first, nodes.second, nodes.reader]) node.clear()
  }
  /** Returns rows of the first node. Integers are numbers. */
  const read = (sql: string, ...params: readonly BoundValue[]) =>
    nodes.reader.db
      .prepare(sql)
      .safeIntegers(false)
      .all(...params) as Record<string, unknown>[]

  return { url, faults, requests, execute, read, compare: nodes.compare, nodes }
}

export type FakeRqlite = Awaited<ReturnType<typeof startFakeRqlite>>
