import type { FakeNodes } from './fake-nodes.ts'
import { BadRequest, readStatements } from './fake-request.ts'
import { toBody, UnsupportedValue } from './fake-response.ts'

export interface FakeReply {
  readonly status: number
  readonly body?: string
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000
}

/** Returns the milliseconds of a duration of Go, such as `1m30s`. */
const durationOf = (text: string) => {
  if (!/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(text))
    throw new BadRequest('db_timeout is not a valid duration')
  return [...text.matchAll(/([\d.]+)([a-zµ]+)/g)].reduce(
    (sum, [, n, unit = '']) => sum + Number(n) * (UNITS[unit] ?? 0),
    0
  )
}

const limitOf = (params: URLSearchParams) => {
  const text = params.get('db_timeout')
  return text === null ? {} : { limit: durationOf(text) }
}

const plain = (status: number, text: string): FakeReply => ({ status, body: `${text}\n` })

export const NO_LEADER = plain(503, 'leader not found')
export const REFUSAL = plain(413, 'Request Entity Too Large')

const runStatements = (nodes: FakeNodes, url: URL, body: string): FakeReply => {
  const { pathname, searchParams: params } = url
  const run = pathname === '/db/query' ? nodes.query : nodes.execute
  const options = { isTransaction: params.has('transaction'), ...limitOf(params) }
  const { results, error } = run(readStatements(body), options)
  const format = {
    isAssociative: params.has('associative'),
    hasBlobArrays: params.has('blob_array'),
    isQuery: pathname === '/db/query'
  }
  return { status: 200, body: toBody(results, format, error) }
}

const db = (nodes: FakeNodes, url: URL, body: string) => {
  try {
    return runStatements(nodes, url, body)
  } catch (error) {
    if (error instanceof BadRequest) return plain(400, error.message)
    if (error instanceof UnsupportedValue) return plain(500, error.message)
    throw error
  }
}

const readyz = (_: FakeNodes, { searchParams }: URL) => {
  const checks = ['node', 'leader', 'store', ...(searchParams.has('sync') ? ['sync'] : []), 'db']
  return { status: 200, body: checks.map((name) => `[+]${name} ok`).join('\n') }
}

export const VERSION = 'v10.2.7'
const SQLITE_VERSION = '3.53.3'

/** Only the fields that Rowhouse reads. */
const status = () => ({
  status: 200,
  body: JSON.stringify({ build: { version: VERSION }, store: { sqlite3: { version: SQLITE_VERSION } } })
})

const leader = (_: FakeNodes, { origin }: URL) => ({ status: 200, body: JSON.stringify({ api_addr: origin }) })

/** The second node cannot be reached. */
const nodes = (_: FakeNodes, { origin }: URL) => ({
  status: 200,
  body: JSON.stringify({ nodes: [{ api_addr: origin, reachable: true }, { reachable: false }] })
})

interface Endpoint {
  readonly methods: readonly string[]
  readonly type: string
  readonly run: (nodes: FakeNodes, url: URL, body: string) => FakeReply
}

const JSON_TYPE = 'application/json; charset=utf-8'

export const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  '/db/query': { methods: ['POST'], type: JSON_TYPE, run: db },
  '/db/execute': { methods: ['POST'], type: JSON_TYPE, run: db },
  '/readyz': { methods: ['GET'], type: 'text/plain; charset=utf-8', run: readyz },
  '/status': { methods: ['GET'], type: JSON_TYPE, run: status },
  '/leader': { methods: ['GET'], type: JSON_TYPE, run: leader },
  '/nodes': { methods: ['GET'], type: JSON_TYPE, run: nodes }
}
