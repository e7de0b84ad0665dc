import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { findRqlited, loadFile, type Node } from '../../bench/nodes.ts'
import { type BackupClient, createBackupClient } from '../backup-client.ts'
import { temporaryDirectory } from '../fixtures.ts'
import { startNodes } from '../rqlite/real-nodes.ts'
import { percentile } from '../soak/waits.ts'
import { serviceStarts } from './cluster.ts'
import { send } from './load.ts'
import { executeOn, waitForLeader } from './nodes.ts'

const VIEWS = 16
const TOKENS = 20_000
const ROUNDS = 3
const ROUND_MS = 6000
const CHANGE_PAUSE_MS = 300
/** Minimum ratio of the reads while another service issues tokens to the reads without changes. */
const MIN_RATIO = 0.9
const MAX_NEXT_MS = 60
const MAX_WRITE_MS = 1000

const rqlited = findRqlited()
const options = { skip: !rqlited }

const PERMISSIONS = { tables: ['*'], actions: ['read', 'write'] }

interface Issued {
  readonly id: number
  readonly token: string
}

let issued = 0
const issue = (admin: BackupClient): Promise<Issued> => {
  issued += 1
  return admin.call('POST', '/tokens', { name: `token ${issued}`, permissions: PERMISSIONS }) as Promise<Issued>
}

const INSERT_TOKENS = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${TOKENS})
  INSERT INTO _rowhouse_tokens (name, digest, token_prefix, permissions, is_active, created_at, updated_at)
  SELECT 'many ' || n, 'digest ' || n, 'rh_', '{"tables":["notes"],"actions":["read"]}', 1, 0, 0 FROM numbers`

/** Starts two services of a cluster with a table, views and tokens. Returns the addresses, and an administrator of the first one. */
const startTwo = async (t: Test, views: number, tokens: string | null) => {
  const nodes = await startNodes(t, String(rqlited), 3)
  const [startFirst, startSecond] = serviceStarts(t, nodes)
  const preparing = await startFirst()
  const preparer = await createBackupClient(preparing.address)
  await preparer.call('POST', '/tables', { name: 'notes', label: '', fields: [{ name: 'text', jsonType: 'string' }] })
  const leader = await waitForLeader(nodes)
  for (let view = 0; view < views; view += 1)
    await executeOn(leader, `CREATE VIEW view${view} AS SELECT id, text || ${view} AS text FROM notes`)
  await preparer.call('POST', '/tables/import', { names: ['*'] })
  if (tokens) await executeOn(leader, tokens)
  await preparing.end('SIGTERM')
  const [first, second] = [(await startFirst()).address, (await startSecond()).address]
  const admin = await createBackupClient(first)
  const { token } = await issue(admin)
  await send(`${first}/data/notes/records`, { token, method: 'POST', body: { text: 'note' } })
  return { nodes, first, second, admin, token }
}

/** Reads one record after the other, for a time. Returns the milliseconds of each read. */
const readFor = async (t: Test, url: string, token: string, milliseconds: number) => {
  const times: number[] = []
  for (const start = performance.now(); performance.now() - start < milliseconds; ) {
    const sent = performance.now()
    const { status } = await send(url, { token })
    if (status !== 200) t.fail(`The read got ${status}.`)
    times.push(performance.now() - sent)
  }
  return times
}

/** Issues tokens, each after a pause, and reads by the other service after each one, until `stop` is called. */
const startChanges = (admin: BackupClient, url: string, pauseMs: number) => {
  let isStopped = false
  const times: number[] = []
  const run = async () => {
    while (!isStopped) {
      const { token } = await issue(admin)
      const sent = performance.now()
      if ((await send(url, { token })).status === 200) times.push(performance.now() - sent)
      await delay(pauseMs)
    }
    return times
  }
  const running = run()
  return () => {
    isStopped = true
    return running
  }
}

for (const [what, views, tokens] of [
  ['16 views', VIEWS, null],
  ['20,000 tokens', 0, INSERT_TOKENS]
] as const) {
  t.test(`a service with ${what} keeps its reads while another one issues tokens`, options, async (t) => {
    const { second, admin, token } = await startTwo(t, views, tokens)
    const url = `${second}/data/notes/records/1`
    await readFor(t, url, token, ROUND_MS / 2)
    const [quiet, changing, next]: number[][] = [[], [], []]
    for (let round = 0; round < ROUNDS; round += 1) {
      quiet?.push(...(await readFor(t, url, token, ROUND_MS)))
      const stop = startChanges(admin, url, CHANGE_PAUSE_MS)
      changing?.push(...(await readFor(t, url, token, ROUND_MS)))
      next?.push(...(await stop()))
    }
    const ratio = (changing as number[]).length / (quiet as number[]).length
    const [p50, p99] = [percentile(next as number[], 0.5), percentile(next as number[], 0.99)]
    t.comment(
      `${what}: ${changing?.length} reads with ${next?.length} changes, ${quiet?.length} without: ratio ${ratio.toFixed(2)}; ` +
        `the read after a change: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; ` +
        `without changes: p50 ${percentile(quiet as number[], 0.5).toFixed(1)} ms, p99 ${percentile(quiet as number[], 0.99).toFixed(1)} ms`
    )
    t.ok(ratio >= MIN_RATIO, `ratio ${ratio}`)
    t.ok(p99 <= MAX_NEXT_MS, `p99 ${p99}`)
  })
}

for (const [what, pauseMs] of [
  ['50 times a second', 20],
  ['without pause', 0]
] as const) {
  t.test(`a create goes on while another service issues tokens ${what}`, options, async (t) => {
    const { first, second, admin, token } = await startTwo(t, 0, null)
    const create = async () => {
      const sent = performance.now()
      const { status } = await send(`${second}/data/notes/records`, { token, method: 'POST', body: { text: 'a' } })
      t.equal(status, 200)
      return performance.now() - sent
    }
    const createMany = async () => {
      const times: number[] = []
      for (let count = 0; count < 50; count += 1) times.push(await create())
      return times
    }
    await createMany()
    const quiet = await createMany()
    const stops = Array.from({ length: 4 }, () => startChanges(admin, `${first}/data/notes/records/1`, 4 * pauseMs))
    await delay(500)
    const start = performance.now()
    const changing = await createMany()
    const seconds = (performance.now() - start) / 1000
    const changes = (await Promise.all(stops.map((stop) => stop()))).flat().length
    t.comment(
      `tokens issued ${what}: ${changes} in ${seconds.toFixed(1)} s; creates: p50 ${percentile(changing, 0.5).toFixed(1)} ms, ` +
        `max ${percentile(changing, 1).toFixed(1)} ms; without changes: p50 ${percentile(quiet, 0.5).toFixed(1)} ms, max ${percentile(quiet, 1).toFixed(1)} ms; ` +
        `ratio of p50 ${(percentile(changing, 0.5) / percentile(quiet, 0.5)).toFixed(2)}`
    )
    t.ok(percentile(changing, 1) <= MAX_WRITE_MS)
  })
}

const copyTo = async ({ url }: Node, file: string) => {
  const response = await fetch(`${url}/db/backup`)
  writeFileSync(file, Buffer.from(await response.arrayBuffer()))
}

t.test(
  'after a restore under running services, none accepts a token that the backup does not have',
  options,
  async (t) => {
    const { nodes, first, second, admin } = await startTwo(t, 0, null)
    const backup = join(temporaryDirectory(t), 'backup.sqlite')
    const read = async (address: string, token: string) => (await send(`${address}/data/notes`, { token })).status
    for (let round = 0; round < ROUNDS; round += 1) {
      await copyTo(await waitForLeader(nodes), backup)
      const removed = await issue(admin)
      t.equal(await read(second, removed.token), 200)
      await loadFile(await waitForLeader(nodes), backup)
      const { token } = await issue(admin)
      t.equal(await read(second, removed.token), 401, 'the epoch has the same number again')
      t.equal(await read(first, removed.token), 401)
      t.equal(await read(second, token), 200)
    }
  }
)
