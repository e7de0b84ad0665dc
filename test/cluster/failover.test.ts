import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { findRqlited } from '../../bench/nodes.ts'
import { createBackupClient } from '../backup-client.ts'
import { startNodes } from '../rqlite/real-nodes.ts'
import { scaled } from '../scale.ts'
import { extendTimeout, type Service } from '../service-process.ts'
import { assertEqualNodes, killLeaders, serviceStarts } from './cluster.ts'
import { createLedger, send, startLoad } from './load.ts'
import { readNode, waitForLeader } from './nodes.ts'

const CLIENTS = 8
const COUNTERS = Array.from({ length: CLIENTS }, (_, index) => index + 1)
const KILLED_LEADERS = scaled(50)
const PAUSED_LEADERS = scaled(20)
const KILLED_SERVICES = scaled(20)
const PAUSE_MS = 5000

const rqlited = findRqlited()
if (!rqlited)
  console.log('# SKIPPED: the cluster was not tested. Set RQLITED to the path of rqlited 10, or add it to PATH.')

t.test('no acknowledged change is lost or doubled when leaders and services fail', { skip: !rqlited }, async (t) => {
  const nodes = await startNodes(t, String(rqlited), 3)
  const starts = serviceStarts(t, nodes)
  const services: (Service | null)[] = []
  for (const start of starts) services.push(await start())
  const listening = () => services.flatMap((service) => service?.address ?? [])
  const admin = await createBackupClient(listening()[0] as string)
  const notes = await admin.call('POST', '/tables', {
    name: 'notes',
    label: '',
    fields: [{ name: 'text', jsonType: 'string' }]
  })
  const counters = await admin.call('POST', '/tables', {
    name: 'counters',
    label: '',
    fields: [{ name: 'count', jsonType: 'integer' }]
  })
  t.ok(notes && counters)
  const { token } = (await admin.call('POST', '/tokens', {
    name: 'load',
    permissions: { tables: ['notes', 'counters'], actions: ['read', 'write'] }
  })) as { token: string }
  for (const id of COUNTERS)
    await send(`${listening()[id % 2]}/data/counters/records`, { token, method: 'POST', body: { id, count: 0 } })

  const ledger = createLedger()
  const stop = startLoad({ services: listening, token, table: 'notes', counters: 'counters', ledger }, CLIENTS)

  await killLeaders(t, nodes, KILLED_LEADERS)
  for (let count = 0; count < PAUSED_LEADERS; count += 1) {
    extendTimeout(t)
    await delay(500)
    await (await waitForLeader(nodes)).pause(PAUSE_MS)
  }
  for (let count = 0; count < KILLED_SERVICES; count += 1) {
    const index = count % 2
    const service = services[index] as Service
    services[index] = null
    await service.end('SIGKILL')
    await delay(300)
    services[index] = await (starts[index] as () => Promise<Service>)()
    await delay(300)
  }
  await delay(500)
  await stop()

  const leader = await waitForLeader(nodes)
  const stored = (await readNode(leader, 'SELECT text, count(*) FROM notes GROUP BY 1')) as [string, number][]
  const counts = new Map(stored)
  const missing = [...ledger.keyed, ...ledger.plain].filter((text) => !counts.has(text))
  const doubled = stored.filter(([, count]) => count > 1)
  t.strictSame(missing, [], 'no acknowledged record is missing')
  t.strictSame(doubled, [], 'no record is stored twice')
  t.strictSame(ledger.faults.slice(0, 5), [], 'no fault')
  const times = ledger.times.toSorted((a, b) => a - b)
  const percentile = (share: number) => Math.round(times[Math.floor((times.length - 1) * share)] as number)
  console.log(
    `# ${ledger.keyed.size} keyed and ${ledger.plain.size} plain creates, ${ledger.unknown.size} without a response; ` +
      `p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms, max ${percentile(1)} ms, ${times.filter((time) => time > 1000).length} over 1 s; ` +
      [...ledger.codes].map(([code, count]) => `${code}: ${count}`).join(', ')
  )

  await assertEqualNodes(t, nodes)
})
