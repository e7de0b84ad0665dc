import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { findRqlited, killAll, startAll } from '../../bench/nodes.ts'
import { createBackupClient } from '../backup-client.ts'
import { startNodes } from '../rqlite/real-nodes.ts'
import { scaled } from '../scale.ts'
import { extendTimeout } from '../service-process.ts'
import { assertEqualNodes, killLeaders, startServices } from './cluster.ts'
import { send } from './load.ts'
import { readNode, waitForLeader } from './nodes.ts'

const KILLED_LEADERS = scaled(20)
const RESTARTS = scaled(10)
const RECORDS = 2000
const RETRY_MS = 50

const rqlited = findRqlited()

t.test('imports, rebuilds and revocations are whole when nodes fail', { skip: !rqlited }, async (t) => {
  const nodes = await startNodes(t, String(rqlited), 3)
  const [first, second] = await startServices(t, nodes)
  const admin = await createBackupClient(first)
  const fields = [{ name: 'text', jsonType: 'string' }]
  const notes = (await admin.call('POST', '/tables', { name: 'notes', label: '', fields })) as { id: number }
  const permissions = { tables: ['notes'], actions: ['read', 'write'] }
  const issue = async () =>
    (await admin.call('POST', '/tokens', { name: 'load', permissions })) as { id: number; token: string }
  const { token } = await issue()

  let isStopped = false
  const counts = { imports: 0, rebuilds: 0, revocations: 0 }
  const faults: string[] = []
  /** Repeats an action until the load is stopped. A cluster without a leader refuses it. */
  const repeat = async (action: (number: number) => Promise<void>) => {
    for (let number = 0; !isStopped; number += 1) {
      await action(number).catch(() => {})
      await delay(RETRY_MS)
    }
  }

  const stored: string[] = []
  const importFile = async (number: number) => {
    const text = `import ${number}`
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/x-ndjson',
      'idempotency-key': text
    }
    const body = `${JSON.stringify({ text })}\n`.repeat(RECORDS)
    for (let attempt = 0; ; attempt += 1) {
      const address = attempt % 2 === 0 ? first : second
      const response = await fetch(`${address}/data/notes/import?atomic=true`, { method: 'POST', headers, body }).catch(
        () => null
      )
      if (response?.status === 200) break
      if (response && ![409, 503].includes(response.status)) faults.push(`import: ${await response.text()}`)
      await delay(RETRY_MS)
    }
    stored.push(text)
    counts.imports += 1
  }

  const rebuild = async (number: number) => {
    await admin.call('PUT', `/tables/${notes.id}/fields/text`, { nullable: number % 2 === 0 })
    counts.rebuilds += 1
  }

  const revoke = async () => {
    const issued = await issue()
    const read = (address: string) => send(`${address}/data/notes?size=1`, { token: issued.token })
    await read(second)
    await admin.call('DELETE', `/tokens/${issued.id}`)
    const { status } = await read(second)
    if (status === 200) faults.push(`the token ${issued.id} was accepted after its revocation`)
    counts.revocations += 1
  }

  const running = Promise.all([repeat(importFile), repeat(rebuild), repeat(revoke)])
  await killLeaders(t, nodes, KILLED_LEADERS)
  for (let count = 0; count < RESTARTS; count += 1) {
    extendTimeout(t)
    await delay(700)
    await killAll(nodes)
    await startAll(nodes)
  }
  await delay(2000)
  isStopped = true
  await running

  t.comment(JSON.stringify(counts))
  for (const [name, count] of Object.entries(counts)) t.ok(count > 0, name)
  t.strictSame(faults, [], 'no fault')
  const leader = await waitForLeader(nodes)
  const found = await readNode(leader, 'SELECT text, count(*) FROM notes GROUP BY 1 ORDER BY 1')
  t.strictSame(
    found,
    stored.toSorted().map((text) => [text, RECORDS]),
    'each import is stored once, as a whole'
  )
  await assertEqualNodes(t, nodes)
})
