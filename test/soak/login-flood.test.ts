import t from 'tap'
import { median } from '../../bench/statistics.ts'
import { PASSWORD } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { createClient, type HttpResponse } from './http-client.ts'
import { residentMib } from './memory.ts'
import { pace } from './pace.ts'

const FLOOD_PER_SECOND = 500
const READS_PER_SECOND = 200
/** A round is a window of cheap requests and a window of bad logins, so that both have the same client load. */
const ROUNDS = 2
/** A shorter flood does not fill the queue. */
const FLOOD_MS = Math.max(3000, scaled(60_000)) / ROUNDS
const CALM_MS = FLOOD_MS / 2
/** Number of timed logins with a known name, and with an unknown name. */
const TIMED_LOGINS = scaled(300)
/** The times of a short run on a shared machine vary too much: they are printed, but not checked. */
const isTimed = scaled(10) >= 10
const MAX_P99_RATIO = 2
const MAX_DIFFERENCE = 0.05
const MAX_GROWTH_MIB = 100

const service = await startService(t, { TRUST_PROXY: '127.0.0.1' })
const client = createClient(t, service, 16)
const loadClient = createClient(t, service, 512)

/** Addresses of bad logins: so few that each has several logins in the queue, so many that none reaches its limit early. */
const ATTACKERS = 32
const CLEAN_ADDRESS = '192.0.2.1'

/** The service trusts this test as a proxy, so the test chooses the address of each request. */
const from = (address: string) => ({ 'x-forwarded-for': address })

const logIn = (name: string, password: string, address: string) =>
  loadClient.send({ method: 'POST', path: '/auth/login', headers: from(address), body: { name, password } })

const badLogin = (index: number) =>
  logIn(index % 5 ? `nobody ${index}` : 'admin', `wrong ${index}`, `10.0.0.${index % ATTACKERS}`)
const cheap = () => loadClient.send({ path: '/health' })

const prepareRead = async () => {
  const headers = await client.logIn('admin', PASSWORD)
  const post = (path: string, body: object) => client.dataOf({ method: 'POST', path: `/admin${path}`, headers, body })
  const { id } = await post('/tables', { name: 'cats', label: '', fields: [{ name: 'name', jsonType: 'string' }] })
  await post(`/tables/${id}/data`, { name: 'Tom' })
  const { token } = await post('/tokens', { name: 'a', permissions: { tables: ['*'], actions: ['read'] } })
  return { path: '/data/cats/records/1', headers: { authorization: `Bearer ${token}` } }
}
const read = await prepareRead()

const timed = async (send: () => Promise<HttpResponse>) => {
  const start = performance.now()
  const { status } = await send()
  return { status, milliseconds: performance.now() - start }
}

type Timed = Awaited<ReturnType<typeof timed>>

const quantile = (requests: readonly Timed[], share: number) => {
  const times = requests.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b)
  return times[Math.floor(times.length * share)] ?? 0
}

/** Sends reads and, concurrently, other requests. */
const readDuring = async (milliseconds: number, other: (index: number) => Promise<HttpResponse>) => {
  const [reads, others] = await Promise.all([
    pace(READS_PER_SECOND, milliseconds, () => timed(() => client.send(read))),
    pace(FLOOD_PER_SECOND, milliseconds, (index) => timed(() => other(index)))
  ])
  return { reads, others }
}

/** Logs in with the right password, and retries while the service is overloaded. */
const logInWithRetries = async () => {
  for (let tries = 1; ; tries += 1) {
    const { status } = await logIn('admin', PASSWORD, CLEAN_ADDRESS)
    if (status !== 503) return { status, tries }
  }
}

/** Sends a flood of bad logins. When the queue is full, one login with the right password starts. */
const floodAndLogIn = async () => {
  let rightLogin: ReturnType<typeof logInWithRetries> | undefined
  const { reads, others } = await readDuring(FLOOD_MS, async (index) => {
    const response = await badLogin(index)
    if (response.status === 503) rightLogin ??= logInWithRetries()
    return response
  })
  return { reads, badLogins: others, rightLogin: await (rightLogin ?? logInWithRetries()) }
}

const countStatuses = (requests: readonly Timed[]) => {
  const counts = new Map<number, number>()
  for (const { status } of requests) counts.set(status, (counts.get(status) ?? 0) + 1)
  return JSON.stringify(Object.fromEntries(counts))
}

const runRounds = async () => {
  const calm: Timed[] = []
  const flooded: Timed[] = []
  const badLogins: Timed[] = []
  const rightLogins: Awaited<ReturnType<typeof logInWithRetries>>[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    calm.push(...(await readDuring(CALM_MS, cheap)).reads)
    const flood = await floodAndLogIn()
    flooded.push(...flood.reads)
    badLogins.push(...flood.badLogins)
    rightLogins.push(flood.rightLogin)
  }
  return { calm, flooded, badLogins, rightLogins }
}

// A full run takes about 130 s, which is longer than tap's default limit.
t.setTimeout(600_000)

t.test(
  'a flood of bad logins is rejected, and has no effect on reads, memory or a login with the right password',
  async (t) => {
    await readDuring(CALM_MS, cheap)
    const before = residentMib(service)
    const { calm, flooded, badLogins, rightLogins } = await runRounds()
    const growth = residentMib(service) - before
    const slower = quantile(flooded, 0.99) / quantile(calm, 0.99)

    t.comment(`responses to ${badLogins.length} bad logins: ${countStatuses(badLogins)}`)
    for (const share of [0.5, 0.9, 0.99]) {
      const [alone, during] = [quantile(calm, share), quantile(flooded, share)]
      t.comment(`reads, quantile ${share}: ${alone.toFixed(1)} ms, during the flood ${during.toFixed(1)} ms`)
    }
    t.comment(
      `memory grew by ${growth.toFixed(0)} MiB; tries with the right password: ${rightLogins.map(({ tries }) => tries)}`
    )

    t.ok(
      [...calm, ...flooded].every(({ status }) => status === 200),
      'every read succeeds'
    )
    t.ok(
      badLogins.every(({ status }) => [401, 429, 503].includes(status)),
      'each bad login fails with one of the expected statuses'
    )
    t.ok(
      badLogins.some(({ status }) => status === 503),
      'the queue was full'
    )
    t.strictSame(
      rightLogins.filter(({ status, tries }) => status !== 200 || tries > 1),
      [],
      'the right password from a clean address succeeds at the first try'
    )
    t.ok(growth < MAX_GROWTH_MIB, `${growth} MiB`)
    if (isTimed) t.ok(slower < MAX_P99_RATIO, `p99 is ${slower} times that without a flood`)
  }
)

t.test('a login with an unknown name fails as late as one with a known name', async (t) => {
  const known: number[] = []
  const unknown: number[] = []
  for (let index = 0; index < TIMED_LOGINS; index += 1) {
    known.push((await timed(() => logIn('admin', 'wrong', `10.1.${index >> 8}.${index & 255}`))).milliseconds)
    unknown.push(
      (await timed(() => logIn(`nobody ${index}`, 'wrong', `10.2.${index >> 8}.${index & 255}`))).milliseconds
    )
  }
  const difference = Math.abs(median(unknown) / median(known) - 1)
  t.comment(`median: known ${median(known).toFixed(2)} ms, unknown ${median(unknown).toFixed(2)} ms`)
  if (isTimed) t.ok(difference < MAX_DIFFERENCE, `they differ by ${(100 * difference).toFixed(1)} %`)
})
