import { existsSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { createHttp, dataOf } from '../crash/http.ts'
import { PASSWORD, temporaryDirectory } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { type Service, startService } from '../service-process.ts'
import { createClient } from './http-client.ts'

const STOPS = scaled(100)
const CLIENTS = 32
/** Requests whose headers arrive before SIGTERM and whose body arrives after it. */
const SLOW = 4
/** Limits on the number of responses before SIGTERM. */
const MIN_RESPONSES = 50
const MAX_RESPONSES = 250

const directory = temporaryDirectory(t)
const file = join(directory, 'rowhouse.db')

const prepare = async (t: Test) => {
  const service = await startService(t, { DATA_DIR: directory })
  const { address } = service
  const login = await createHttp(address)('POST', '/auth/login', { name: 'admin', password: PASSWORD })
  const asAdmin = createHttp(address, { cookie: String(login.headers['set-cookie']?.[0]?.split(';')[0]) })
  const fields = [
    { name: 'number', jsonType: 'integer' },
    { name: 'text', jsonType: 'string' }
  ]
  dataOf(await asAdmin('POST', '/admin/tables', { name: 'cats', label: '', fields }))
  const permissions = { tables: ['*'], actions: ['read', 'write'] }
  const { token } = dataOf(await asAdmin('POST', '/admin/tokens', { name: 'a', permissions }))
  await service.end('SIGTERM')
  return { authorization: `Bearer ${token}` }
}

/** The status of a complete response; null if the connection ended before the response began. */
type Outcome = number | null

interface Sent {
  readonly agent: Agent
  readonly headers: Record<string, string>
  readonly body?: object
}

/** Sends a request. @throws when a response begins but is not complete */
const call = (url: string, { agent, headers, body }: Sent) =>
  new Promise<Outcome>((resolve, reject) => {
    const type = body && { 'content-type': 'application/json' }
    const sent = request(url, { agent, headers: { ...headers, ...type }, method: body ? 'POST' : 'GET' })
    sent.on('error', () => resolve(null))
    sent.on('response', (response: IncomingMessage) => {
      text(response).then((body) => {
        JSON.parse(body)
        resolve(response.statusCode ?? 0)
      }, reject)
    })
    sent.end(body && JSON.stringify(body))
  })

let lastNumber = 0
const nextRecord = () => {
  lastNumber += 1
  return { number: lastNumber, text: 'x'.repeat(1 + ((lastNumber * 7919) % 2000)) }
}

/** Starts clients that read and write over kept-alive connections until the service has ended. */
const startLoad = (address: string, headers: Record<string, string>) => {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const acknowledged: number[] = []
  const counts: Record<string, number> = {}
  let received = 0
  let goal = { responses: Number.POSITIVE_INFINITY, resolve: () => {} }

  const count = (outcome: Outcome) => {
    counts[String(outcome)] = (counts[String(outcome)] ?? 0) + 1
    received += outcome === null ? 0 : 1
    if (received >= goal.responses) goal.resolve()
    return outcome
  }

  const work = async () => {
    for (let isRunning = true; isRunning; ) {
      const body = nextRecord()
      const written = count(await call(`${address}/data/cats/records`, { agent, headers, body }))
      if (written === 200) acknowledged.push(body.number)
      isRunning = count(await call(`${address}/data/cats?size=50`, { agent, headers })) !== null
    }
  }

  return {
    acknowledged,
    counts,
    until: (responses: number) =>
      new Promise<void>((resolve) => {
        goal = { responses, resolve }
      }),
    ended: Promise.all(Array.from({ length: CLIENTS }, work)).finally(() => agent.destroy())
  }
}

/** Begins writes: the service has received the headers and half of the body. */
const beginSlow = async (t: Test, service: Service, headers: Record<string, string>) => {
  const client = createClient(t, service, SLOW)
  return Promise.all(
    Array.from({ length: SLOW }, async () => {
      const body = nextRecord()
      const finish = await client.begin({ method: 'POST', path: '/data/cats/records', headers, body })
      return { number: body.number, finish }
    })
  )
}

/** Sends SIGTERM to a service under load. Returns its exit code, the outcomes, and the acknowledged numbers. */
const stopOnce = async (t: Test, service: Service, headers: Record<string, string>) => {
  const slow = await beginSlow(t, service, headers)
  const load = startLoad(service.address, headers)
  await load.until(MIN_RESPONSES + Math.floor(Math.random() * (MAX_RESPONSES - MIN_RESPONSES)))
  const start = performance.now()
  const exit = service.end('SIGTERM')
  const responses = await Promise.all(slow.map(({ finish }) => finish()))
  const [[code]] = await Promise.all([exit, load.ended])
  const milliseconds = performance.now() - start
  const acknowledged = [...load.acknowledged, ...slow.map(({ number }) => number)].sort((a, b) => a - b)
  return { code, counts: load.counts, slow: responses.map(({ status }) => status), acknowledged, milliseconds }
}

/** Returns the stored numbers greater than this one, read through SQLite alone. */
const storedAfter = (number: number) => {
  const db = new BetterSqlite3(file, { readonly: true })
  const numbers = db
    .prepare<[number], number>('SELECT number FROM cats WHERE number > ? ORDER BY number')
    .pluck()
    .all(number)
  db.close()
  return numbers
}

t.test(
  'after SIGTERM, the service completes the requests that it has begun, and begins none that it does not complete',
  async (t) => {
    const headers = await prepare(t)
    let slowest = 0
    const total: Record<string, number> = {}
    for (let stop = 0; stop < STOPS; stop += 1) {
      const before = lastNumber
      const service = await startService(t, { DATA_DIR: directory })
      const { code, counts, slow, acknowledged, milliseconds } = await stopOnce(t, service, headers)
      t.equal(code, 0, service.lines.join('\n'))
      t.notOk(existsSync(`${file}-wal`), 'the WAL was checkpointed and removed')
      t.strictSame(slow, Array(SLOW).fill(200), 'the requests in flight are completed')
      t.strictSame(storedAfter(before), acknowledged, 'the acknowledged records are stored, and nothing else')
      for (const [outcome, count] of Object.entries(counts)) total[outcome] = (total[outcome] ?? 0) + count
      slowest = Math.max(slowest, milliseconds)
    }
    t.comment(`${STOPS} stops, the longest ${slowest.toFixed(0)} ms; responses (null: none) ${JSON.stringify(total)}`)
    t.strictSame(Object.keys(total).sort(), ['200', 'null'], 'no request fails')
  }
)
