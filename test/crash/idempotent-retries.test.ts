import t, { type Test } from 'tap'
import { temporaryDirectory } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { logIn } from './access.ts'
import { type Call, createHttp, dataOf, type TestResponse } from './http.ts'

const KILLS = scaled(200)
/** Maximum number of kills. After `KILLS`, the test goes on until a kill has hit between a commit and its response. */
const MAX_KILLS = 10 * KILLS
const CLIENTS = 16
/** Maximum number of acknowledged requests in a cycle before the service is killed. */
const MAX_REQUESTS = 200
const SHARED = '1'

interface Counts {
  acknowledged: number
  /** Requests that were sent again after a kill. */
  retried: number
  /** Requests that had been stored when the service was killed. */
  replayed: number
  increments: number
  /** The names of the created records. */
  readonly names: string[]
}

/** A request with its effects: it adds one to the shared counter, creates a record with this name, or does both. */
interface Change {
  readonly path: string
  readonly body: object
  readonly increments: number
  readonly names: readonly string[]
}

const increment = { pk: SHARED, field: 'counter' }

const CHANGES: readonly ((name: string) => Change)[] = [
  () => ({ path: '/data/counters/incr', body: increment, increments: 1, names: [] }),
  (name) => ({ path: '/data/events/records', body: { name }, increments: 0, names: [name] }),
  (name) => {
    const operations = [
      { op: 'incr', table: 'counters', ...increment },
      { op: 'create', table: 'events', values: { name } }
    ]
    return { path: '/data/_batch', body: { operations }, increments: 1, names: [name] }
  }
]

/** Creates the tables and the shared counter, and returns the header of a token. */
const prepare = async (address: string) => {
  const asAdmin = createHttp(address, { cookie: await logIn(address) })
  const createTable = async (name: string, field: object) =>
    dataOf(await asAdmin('POST', '/admin/tables', { name, label: '', fields: [field] }))
  const counters = await createTable('counters', { name: 'counter', jsonType: 'integer' })
  await createTable('events', { name: 'name', jsonType: 'string' })
  dataOf(await asAdmin('POST', `/admin/tables/${counters.id}/data`, { counter: 0 }))
  const permissions = { tables: ['*'], actions: ['read', 'write'] }
  const { token } = dataOf(await asAdmin('POST', '/admin/tokens', { name: 'crash', permissions }))
  return { authorization: `Bearer ${token}` }
}

/** The service, which is killed and started again on one database. */
const createKilledService = async (t: Test) => {
  const directory = temporaryDirectory(t)
  const start = () => startService(t, { DATA_DIR: directory, WAL_SIZE: '1' })
  let service = await start()
  const credential = await prepare(service.address)
  let current = Promise.resolve(createHttp(service.address, credential))
  const restart = async () => {
    await service.end('SIGKILL')
    service = await start()
    return createHttp(service.address, credential)
  }
  return {
    /** Resolves with the function that calls the service, after a restart if one has begun. */
    call: () => current,
    kill: () => {
      current = restart()
      return current
    }
  }
}

type KilledService = Awaited<ReturnType<typeof createKilledService>>

/** Sends a request until it is acknowledged. */
const sendUntilAcknowledged = async (service: KilledService, counts: Counts, { path, body }: Change, key: string) => {
  const sendOnce = async (): Promise<TestResponse> => {
    const call: Call = await service.call()
    return call('POST', path, body, { 'idempotency-key': key })
  }
  let response = await sendOnce()
  while (response.status === 0) {
    counts.retried += 1
    response = await sendOnce()
  }
  dataOf(response)
  if (response.headers['idempotency-replayed'] === 'true') counts.replayed += 1
}

/** Starts clients that change records, each one request at a time, until `stop` is called. */
const startClients = (service: KilledService, counts: Counts) => {
  let isStopped = false
  let wake = () => {}
  const work = async (client: number) => {
    for (let number = 0; !isStopped; number += 1) {
      const name = `${client}-${number}`
      const change = (CHANGES[number % CHANGES.length] as (name: string) => Change)(name)
      await sendUntilAcknowledged(service, counts, change, name)
      counts.acknowledged += 1
      counts.increments += change.increments
      counts.names.push(...change.names)
      wake()
    }
  }
  const finished = Promise.all(Array.from({ length: CLIENTS }, (_, client) => work(client)))
  return {
    /** Resolves after some more acknowledged requests. @throws the failure of a client */
    wait: (requests: number) => {
      const goal = counts.acknowledged + requests
      const reached = new Promise<void>((resolve) => {
        wake = () => {
          if (counts.acknowledged >= goal) resolve()
        }
      })
      return Promise.race([reached, finished])
    },
    stop: () => {
      isStopped = true
      return finished
    }
  }
}

const readNames = async (call: Call) => {
  const names: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { rows: { name: string }[]; next: string | null } = dataOf(
      await call('GET', `/data/events?size=1000&cursor=${cursor}`)
    )
    names.push(...page.rows.map(({ name }) => name))
    cursor = page.next
  }
  return names.sort()
}

t.test('under kill -9, each change that clients retry with its key has one effect', async (t) => {
  const service = await createKilledService(t)
  const counts: Counts = { acknowledged: 0, retried: 0, replayed: 0, increments: 0, names: [] }
  const clients = startClients(service, counts)
  let kills = 0
  while (kills < KILLS || (counts.replayed === 0 && kills < MAX_KILLS)) {
    await clients.wait(1 + Math.floor(Math.random() * MAX_REQUESTS))
    await service.kill()
    kills += 1
  }
  await clients.stop()
  const call = await service.call()
  const { counter } = dataOf(await call('GET', `/data/counters/records/${SHARED}`))
  t.equal(counter, counts.increments)
  t.strictSame(await readNames(call), counts.names.sort())
  const { acknowledged, retried, replayed } = counts
  t.comment(`${kills} kills: ${acknowledged} acknowledged, ${retried} retried, of which ${replayed} had been stored`)
  t.ok(retried > 0, 'requests were in flight when the service was killed')
  t.ok(replayed > 0, 'some of them had been stored')
})
