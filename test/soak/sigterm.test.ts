import { existsSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import BetterSqlite3 from 'better-sqlite3'
import t, { type Test } from 'tap'
import { createCaller, dataOf } from '../crash/caller.ts'
import { PASSWORD, temporaryDirectory } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { type Service, startService } from '../service-process.ts'
import { createClient } from './http-client.ts'

const STOPS = scaled(100)
const CLIENTS = 32
/** Requests whose head the service has when it is told to stop, and whose body comes later. */
const SLOW = 4
/** Answers that the clients get before the service is told to stop. */
const FEWEST = 50
const MOST = 250

const directory = temporaryDirectory(t)
const file = join(directory, 'rowhouse.db')

const prepare = async (t: Test) => {
  const service = await startService(t, { DATA_DIR: directory })
  const { address } = service
  const login = await createCaller(address)('POST', '/auth/login', { name: 'admin', password: PASSWORD })
  const asAdmin = createCaller(address, { cookie: String(login.headers['set-cookie']?.[0]?.split(';')[0]) })
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

/** The status of a whole answer; null where the connection ended before there was any of it. */
type Outcome = number | null

interface Sent {
  readonly agent: Agent
  readonly headers: Record<string, string>
  readonly body?: object
}

/** @throws when an answer ends before it is whole */
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

let last = 0
const nextRecord = () => {
  last += 1
  return { number: last, text: 'x'.repeat(1 + ((last * 7919) % 2000)) }
}

/** Clients that read and write over connections which they keep, until the service is gone. */
const startLoad = (address: string, headers: Record<string, string>) => {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const acknowledged: number[] = []
  const counts: Record<string, number> = {}
  let answered = 0
  let goal = { answers: Number.POSITIVE_INFINITY, resolve: () => {} }

  const count = (outcome: Outcome) => {
    counts[String(outcome)] = (counts[String(outcome)] ?? 0) + 1
    answered += outcome === null ? 0 : 1
    if (answered >= goal.answers) goal.resolve()
    return outcome
  }

  const work = async () => {
    for (let isThere = true; isThere; ) {
      const body = nextRecord()
      const written = count(await call(`${address}/data/cats/records`, { agent, headers, body }))
      if (written === 200) acknowledged.push(body.number)
      isThere = count(await call(`${address}/data/cats?size=50`, { agent, headers })) !== null
    }
  }

  return {
    acknowledged,
    counts,
    until: (answers: number) =>
      new Promise<void>((resolve) => {
        goal = { answers, resolve }
      }),
    ended: Promise.all(Array.from({ length: CLIENTS }, work)).finally(() => agent.destroy())
  }
}

/** Writes of which the service has the head and half of the body. */
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

/** Tells a service to stop amid its load. Gives how that ended, and what was acknowledged. */
const stopOnce = async (t: Test, service: Service, headers: Record<string, string>) => {
  const slow = await beginSlow(t, service, headers)
  const load = startLoad(service.address, headers)
  await load.until(FEWEST + Math.floor(Math.random() * (MOST - FEWEST)))
  const start = performance.now()
  const exit = service.end('SIGTERM')
  const replies = await Promise.all(slow.map(({ finish }) => finish()))
  const [[code]] = await Promise.all([exit, load.ended])
  const milliseconds = performance.now() - start
  const acknowledged = [...load.acknowledged, ...slow.map(({ number }) => number)].sort((a, b) => a - b)
  return { code, counts: load.counts, slow: replies.map(({ status }) => status), acknowledged, milliseconds }
}

/** The numbers that are stored above this one, through SQLite alone. */
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
  'a service that is told to stop answers what it has begun, and begins nothing that it does not answer',
  async (t) => {
    const headers = await prepare(t)
    let slowest = 0
    const total: Record<string, number> = {}
    for (let stop = 0; stop < STOPS; stop += 1) {
      const before = last
      const service = await startService(t, { DATA_DIR: directory })
      const { code, counts, slow, acknowledged, milliseconds } = await stopOnce(t, service, headers)
      t.equal(code, 0, service.lines.join('\n'))
      t.notOk(existsSync(`${file}-wal`), 'the WAL was folded into the file')
      t.strictSame(slow, Array(SLOW).fill(200), 'what was on its way is completed')
      t.strictSame(storedAfter(before), acknowledged, 'what was acknowledged is there, and nothing else')
      for (const [outcome, times] of Object.entries(counts)) total[outcome] = (total[outcome] ?? 0) + times
      slowest = Math.max(slowest, milliseconds)
    }
    t.comment(`${STOPS} stops, the longest ${slowest.toFixed(0)} ms; answers (null: none) ${JSON.stringify(total)}`)
    t.strictSame(Object.keys(total).sort(), ['200', 'null'], 'nothing is refused')
  }
)
