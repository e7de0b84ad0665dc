import t from 'tap'
import { median } from '../../bench/statistics.ts'
import { PASSWORD } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { startService } from '../service-process.ts'
import { createClient, type Reply } from './http-client.ts'
import { residentMib } from './memory.ts'
import { pace } from './pace.ts'

const FLOOD_PER_SECOND = 500
const READS_PER_SECOND = 200
/** Each a window of cheap requests and a window of logins, so that the same generator is beside both. */
const ROUNDS = 2
const FLOOD_MS = scaled(60_000) / ROUNDS
const CALM_MS = FLOOD_MS / 2
/** Logins of a known and of an unknown name, one after the other. */
const TIMED_LOGINS = scaled(300)
/** The times of a short run on a machine that others use say little: they are printed, no more. */
const isTimed = scaled(10) >= 10
const MOST_SLOWER = 2
const MOST_DIFFERENCE = 0.05
const MOST_GROWTH_MIB = 100

const service = await startService(t, { TRUST_PROXY: '127.0.0.1' })
const client = createClient(t, service, 16)
const others = createClient(t, service, 512)

/** So few that they fill the queue with several logins each, so many that each may fail often enough. */
const ATTACKERS = 32
const CLEAN_ADDRESS = '192.0.2.1'

/** The service takes us for its proxy, and believes us whose request it is. */
const from = (address: string) => ({ 'x-forwarded-for': address })

const logIn = (name: string, password: string, address: string) =>
  others.send({ method: 'POST', path: '/auth/login', headers: from(address), body: { name, password } })

const badLogin = (index: number) =>
  logIn(index % 5 ? `nobody ${index}` : 'admin', `wrong ${index}`, `10.0.0.${index % ATTACKERS}`)
const cheap = () => others.send({ path: '/health' })

const prepareReading = async () => {
  const headers = await client.logIn('admin', PASSWORD)
  const post = (path: string, body: object) => client.dataOf({ method: 'POST', path: `/admin${path}`, headers, body })
  const { id } = await post('/tables', { name: 'cats', label: '', fields: [{ name: 'name', jsonType: 'string' }] })
  await post(`/tables/${id}/data`, { name: 'Tom' })
  const { token } = await post('/tokens', { name: 'a', permissions: { tables: ['*'], actions: ['read'] } })
  return { path: '/data/cats/records/1', headers: { authorization: `Bearer ${token}` } }
}
const reading = await prepareReading()

const timed = async (act: () => Promise<Reply>) => {
  const start = performance.now()
  const { status } = await act()
  return { status, milliseconds: performance.now() - start }
}

type Timed = Awaited<ReturnType<typeof timed>>

const quantile = (some: readonly Timed[], share: number) => {
  const times = some.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b)
  return times[Math.floor(times.length * share)] ?? 0
}

/** Reads, beside so many other requests. */
const readBeside = async (milliseconds: number, other: (index: number) => Promise<Reply>) => {
  const [reads, beside] = await Promise.all([
    pace(READS_PER_SECOND, milliseconds, () => timed(() => client.send(reading))),
    pace(FLOOD_PER_SECOND, milliseconds, (index) => timed(() => other(index)))
  ])
  return { reads, beside }
}

/** Somebody with the right password, who tries again for as long as the service says that it is overloaded. */
const logInPatiently = async () => {
  for (let tries = 1; ; tries += 1) {
    const { status } = await logIn('admin', PASSWORD, CLEAN_ADDRESS)
    if (status !== 503) return { status, tries }
  }
}

/** A flood, and in the midst of it, once there is no more room, somebody with the right password. */
const floodAndLogIn = async () => {
  let patient: ReturnType<typeof logInPatiently> | undefined
  const { reads, beside } = await readBeside(FLOOD_MS, async (index) => {
    const reply = await badLogin(index)
    if (reply.status === 503) patient ??= logInPatiently()
    return reply
  })
  return { reads, beside, patient: await (patient ?? logInPatiently()) }
}

const counted = (some: readonly Timed[]) => {
  const counts = new Map<number, number>()
  for (const { status } of some) counts.set(status, (counts.get(status) ?? 0) + 1)
  return JSON.stringify(Object.fromEntries(counts))
}

const rounds = async () => {
  const calm: Timed[] = []
  const flooded: Timed[] = []
  const beside: Timed[] = []
  const patients: Awaited<ReturnType<typeof logInPatiently>>[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    calm.push(...(await readBeside(CALM_MS, cheap)).reads)
    const flood = await floodAndLogIn()
    flooded.push(...flood.reads)
    beside.push(...flood.beside)
    patients.push(flood.patient)
  }
  return { calm, flooded, beside, patients }
}

// At full count some 130 s, which is more than tap gives a file.
t.setTimeout(600_000)

t.test('a flood of bad logins is refused, and leaves reads, memory and a right password alone', async (t) => {
  await readBeside(CALM_MS, cheap)
  const before = residentMib(service)
  const { calm, flooded, beside, patients } = await rounds()
  const growth = residentMib(service) - before
  const slower = quantile(flooded, 0.99) / quantile(calm, 0.99)

  t.comment(`answers to ${beside.length} bad logins: ${counted(beside)}`)
  for (const share of [0.5, 0.9, 0.99]) {
    const [alone, during] = [quantile(calm, share), quantile(flooded, share)]
    t.comment(`reads, quantile ${share}: ${alone.toFixed(1)} ms, in the flood ${during.toFixed(1)} ms`)
  }
  t.comment(
    `memory grew by ${growth.toFixed(0)} MiB; tries of the right password: ${patients.map(({ tries }) => tries)}`
  )

  t.ok(
    [...calm, ...flooded].every(({ status }) => status === 200),
    'every read succeeds'
  )
  t.ok(
    beside.every(({ status }) => [401, 429, 503].includes(status)),
    'no login fails in another way'
  )
  t.ok(
    beside.some(({ status }) => status === 503),
    'there were more than can be taken'
  )
  t.strictSame(
    patients.filter(({ status, tries }) => status !== 200 || tries > 1),
    [],
    'the right password from a clean address works at once'
  )
  t.ok(growth < MOST_GROWTH_MIB, `${growth} MiB`)
  if (isTimed) t.ok(slower < MOST_SLOWER, `p99 is ${slower} times that without a flood`)
})

t.test('an unknown name is refused as late as a known one', async (t) => {
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
  if (isTimed) t.ok(difference < MOST_DIFFERENCE, `they differ by ${(100 * difference).toFixed(1)} %`)
})
