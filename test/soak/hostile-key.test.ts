import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { PASSWORD, temporaryDirectory } from '../fixtures.ts'
import { createRandom, SEED } from '../fuzz/random.ts'
import { scaled } from '../scale.ts'
import { type Service, startService } from '../service-process.ts'
import { type Catalogue, type HostileRequest, READS, WRITES } from './hostile/requests.ts'
import { createHostileFile } from './hostile/tables.ts'
import { createClient, type HttpClient } from './http-client.ts'
import { residentMib } from './memory.ts'
import { pace } from './pace.ts'

/** Milliseconds of the attack of each key. */
const DURATION = Math.max(2000, scaled(60_000) / 2)
const ITEMS = Math.max(20_000, scaled(300_000))
const PARTS = Math.max(20_000, scaled(200_000))
/** Requests of the hostile key at the same time, beside the connections that never read a response. */
const HOSTILE_CONNECTIONS = 24
const MAX_UNREAD = 40
/** Updates of the other key per second. */
const UPDATES_PER_SECOND = 20
const IDLE_MS = 2000
const SAMPLE_MS = 50

/** The attack uses all of the machine, so it would fail other tests of `npm test`. */
const skip = process.env.SCALE === undefined && 'the attack runs in npm run test:soak'
/** Milliseconds, and MiB. */
const MAX_P99 = 100
const MAX_DELAY = 500
const MAX_MEMORY = 512
const MAX_STOP = 5000

const PASSED = new Set([200, 400, 403, 404, 409, 412, 413, 503])

interface Outcome {
  readonly status: number
  /** The beginning of the body. */
  readonly body: string
}

const encode = ({ text, body }: HostileRequest) => text ?? (body && JSON.stringify(body)) ?? ''

const headersOf = ({ headers, body }: HostileRequest, authorization: string, content: string) => ({
  authorization,
  ...(body && { 'content-type': 'application/json' }),
  ...(content && { 'content-length': String(Buffer.byteLength(content)) }),
  ...headers
})

/** Sends a request and discards all but the beginning of its response. Status 0: the connection ended early. */
const send = (service: Service, agent: Agent, authorization: string, hostile: HostileRequest) =>
  new Promise<Outcome>((resolve) => {
    const { method = 'GET', path } = hostile
    const content = encode(hostile)
    const { host, port } = service
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
const sendUnread = ({ host, port }: Service, authorization: string, hostile: HostileRequest): Socket => {
  const content = encode(hostile)
  const headers = Object.entries(headersOf(hostile, authorization, content)).map(([name, value]) => `${name}: ${value}`)
  const socket = connect({ host, port })
  socket.on('error', () => {})
  socket.pause()
  socket.write(`${hostile.method ?? 'GET'} ${hostile.path} HTTP/1.1\r\nHost: a\r\n${headers.join('\r\n')}\r\n\r\n`)
  socket.write(content)
  return socket
}

/** Sends random requests of the catalogue until the time is over. Returns the number of responses for each status. */
const attack = async (t: Test, service: Service, authorization: string, catalogue: Catalogue) => {
  const random = createRandom(SEED)
  const names = Object.keys(catalogue)
  const agent = new Agent({ keepAlive: true, maxSockets: HOSTILE_CONNECTIONS })
  const unread: Socket[] = []
  const counts: Record<string, number> = {}
  const failures: string[] = []
  const end = performance.now() + DURATION

  const leaveUnread = (hostile: HostileRequest) => {
    unread.push(sendUnread(service, authorization, hostile))
    if (unread.length > MAX_UNREAD) unread.shift()?.destroy()
  }

  const work = async () => {
    while (performance.now() < end && service.child.exitCode === null) {
      const name = random.pick(names)
      const hostile = (catalogue[name] as Catalogue[string])(random)
      if (random.chance(0.1)) leaveUnread(hostile)
      const { status, body } = await send(service, agent, authorization, hostile)
      counts[status] = (counts[status] ?? 0) + 1
      if (!PASSED.has(status)) failures.push(`${name}: ${status} ${body}`)
      if (status === 503) await wait(SAMPLE_MS)
    }
  }

  await Promise.all([
    ...Array.from({ length: HOSTILE_CONNECTIONS }, work),
    // Requests that wait behind slow ones end with their connections.
    wait(DURATION + IDLE_MS).then(() => agent.destroy())
  ])
  t.comment(`responses (0: the connection ended) ${JSON.stringify(counts)}`)
  return { unread, failures: failures.filter((failure) => !/: 0 /.test(failure)) }
}

/** Updates a record at a constant rate. Returns the times in milliseconds, sorted, and the responses that failed. */
const measureUpdates = async (client: HttpClient, headers: Record<string, string>, duration: number) => {
  const failures: string[] = []
  const times = await pace(UPDATES_PER_SECOND, duration, async (index) => {
    const start = performance.now()
    const path = `/data/calm/records/${1 + (index % 100)}`
    const { status, body } = await client.send({ method: 'PUT', path, headers, body: { number: index } })
    if (status !== 200) failures.push(`${status} ${body}`)
    return performance.now() - start
  })
  return { times: times.sort((a, b) => a - b), failures }
}

const quantile = (sorted: readonly number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0

/** Samples the memory of the service until the returned function is called, which returns the maximum in MiB. */
const watchMemory = (service: Service) => {
  let maximum = 0
  const timer = setInterval(() => {
    if (service.child.exitCode === null) maximum = Math.max(maximum, residentMib(service))
  }, SAMPLE_MS)
  return () => {
    clearInterval(timer)
    return maximum
  }
}

const KEYS: Record<string, { actions: readonly string[]; catalogue: Catalogue }> = {
  'a key that only reads': { actions: ['read'], catalogue: READS },
  'a key with all rights on its tables': {
    actions: ['read', 'create', 'update', 'delete'],
    catalogue: { ...READS, ...WRITES }
  }
}

for (const [name, { actions, catalogue }] of Object.entries(KEYS)) {
  t.test(`${name} can neither stop the service nor delay the updates of another key`, { skip }, async (t) => {
    t.setTimeout(10 * DURATION + 120_000)
    t.comment(`SEED=${SEED}`)
    const file = join(temporaryDirectory(t), 'hostile.sqlite')
    createHostileFile(file, { items: ITEMS, parts: PARTS })
    const service = await startService(t, { DATABASE: file })
    const client = createClient(t, service, 64)
    const headers = await client.logIn('admin', PASSWORD)
    const asAdmin = (method: string, path: string, body: object) => client.dataOf({ method, path, headers, body })

    const tables = await asAdmin('POST', '/admin/tables/import', { names: ['*'] })
    const { id } = tables.find((table: { name: string }) => table.name === 'searched')
    await asAdmin('PUT', `/admin/tables/${id}`, { searchIndex: true })
    const issue = async (tables: readonly string[], actions: readonly string[]) => {
      const { token } = await asAdmin('POST', '/admin/tokens', { name: 'a', permissions: { tables, actions } })
      return { authorization: `Bearer ${token}` }
    }
    const calm = await issue(['calm'], ['update'])
    const hostile = await issue(
      tables.map((table: { name: string }) => table.name).filter((name: string) => name !== 'calm'),
      actions
    )
    await asAdmin('POST', '/admin/batch', {
      operations: [{ op: 'create', table: 'texts', values: { id: 1, text: 'x'.repeat(15_000_000) } }]
    })

    const idle = await measureUpdates(client, calm, IDLE_MS)
    const maximumMemory = watchMemory(service)
    const [{ unread, failures }, updates] = await Promise.all([
      attack(t, service, hostile.authorization, catalogue),
      measureUpdates(client, calm, DURATION)
    ])
    const memory = maximumMemory()
    const [p99, slowest, idleSlowest] = [
      quantile(updates.times, 0.99),
      updates.times.at(-1) ?? 0,
      idle.times.at(-1) ?? 0
    ]
    t.comment(
      `updates: p50 ${quantile(updates.times, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, maximum ${slowest.toFixed(0)} ms ` +
        `(idle ${idleSlowest.toFixed(0)} ms); memory ${memory.toFixed(0)} MiB`
    )
    t.equal(service.child.exitCode, null, service.errorLines.slice(-5).join('\n'))
    t.strictSame(failures.slice(0, 5), [], 'no response of the hostile key is a fault of the service')
    t.strictSame(updates.failures.slice(0, 5), [], 'each update of the other key succeeds')
    t.ok(p99 < MAX_P99, `p99 ${p99} ms`)
    t.ok(slowest < idleSlowest + MAX_DELAY, `maximum ${slowest} ms`)
    t.ok(memory < MAX_MEMORY, `${memory} MiB`)

    const start = performance.now()
    const [code] = await service.end('SIGTERM')
    const stopped = performance.now() - start
    for (const socket of unread) socket.destroy()
    t.comment(`the stop took ${stopped.toFixed(0)} ms`)
    t.equal(code, 0)
    t.ok(stopped < MAX_STOP, `${stopped} ms`)
  })
}
