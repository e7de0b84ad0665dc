import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PASSWORD, temporaryDirectory } from '../fixtures.ts'
import { SEED } from '../fuzz/random.ts'
import { scaled } from '../scale.ts'
import { type Service, startService } from '../service-process.ts'
import type { Attack, AttackResult } from './hostile/attacker.ts'
import { requestsOf } from './hostile/requests.ts'
import { createHostileFile } from './hostile/tables.ts'
import { createClient, type HttpClient } from './http-client.ts'
import { residentMib } from './memory.ts'
import { pace } from './pace.ts'

/** Milliseconds of the attack of each key. */
const DURATION = Math.max(2000, scaled(60_000) / 2)
const ITEMS = Math.max(20_000, scaled(300_000))
const PARTS = Math.max(20_000, scaled(200_000))
/** Updates of the other key per second. */
const UPDATES_PER_SECOND = 20
const IDLE_MS = 2000
const SAMPLE_MS = 50

/** The attack uses all of the machine, so it would fail other tests of `npm run test:process`. */
const skip = process.env.SCALE === undefined && 'the attack runs in npm run test:soak'
/** Milliseconds, and MiB. */
const MAX_P99 = 100
const MAX_DELAY = 500
const MAX_MEMORY = 512
const MAX_STOP = 5000

/** Sends only the requests whose name contains this text: ONLY='a long text' npm run test:soak */
const ONLY = process.env.ONLY ?? ''

/** As in the Dockerfile. */
const IMAGE_SETTINGS = { MALLOC_ARENA_MAX: '2' }

const ATTACKER = new URL('./hostile/attacker.js', import.meta.url)

/** Attacks the service from another process, which keeps its connections open until `t` ends. */
const attack = async (t: Test, options: Attack) => {
  const attacker = fork(ATTACKER, { env: { ...process.env, NODE_OPTIONS: '' }, execArgv: [] })
  t.teardown(() => attacker.kill('SIGKILL'))
  attacker.send(options)
  const [result] = (await once(attacker, 'message')) as [AttackResult]
  t.comment(`responses (0: the connection ended) ${JSON.stringify(result.counts)}`)
  return result
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

const READ = ['read']
const ALL = ['read', 'create', 'update', 'delete']
const KEYS = { 'a key that only reads': READ, 'a key with all rights on its tables': ALL }

for (const [name, actions] of Object.entries(KEYS)) {
  const choice = { writes: actions === ALL, only: ONLY }
  if (Object.keys(requestsOf(choice)).length === 0) continue
  t.test(`${name} can neither stop the service nor delay the updates of another key`, { skip }, async (t) => {
    t.setTimeout(10 * DURATION + 120_000)
    t.comment(`SEED=${SEED}`)
    const file = join(temporaryDirectory(t), 'hostile.sqlite')
    createHostileFile(file, { items: ITEMS, parts: PARTS })
    const service = await startService(t, { DATABASE: file, ...IMAGE_SETTINGS })
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
    const { host, port } = service
    const target = { host, port, authorization: hostile.authorization }
    const [{ failures }, updates] = await Promise.all([
      attack(t, { ...target, ...choice, milliseconds: DURATION, seed: SEED }),
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
    t.comment(`the stop took ${stopped.toFixed(0)} ms`)
    t.equal(code, 0)
    t.ok(stopped < MAX_STOP, `${stopped} ms`)
  })
}
