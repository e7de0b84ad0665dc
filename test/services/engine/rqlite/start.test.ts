import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { openCluster } from '../../../../services/engine/rqlite/open.ts'
import { LATEST_VERSION } from '../../../../services/engine/writer/migrations.ts'
import { temporaryDirectory } from '../../../fixtures.ts'
import { startFakeRqlite } from '../../../rqlite/fake.ts'
import { rejection, sql } from '../engine.ts'
import { openOn } from './engine.ts'

const refusal = async (t: Test, urls: readonly string[], options: object = {}) => {
  const { message } = await rejection(
    openCluster({ urls, dataDirectory: temporaryDirectory(t), maxRetryMs: 50, ...options })
  )
  return message
}

/** Starts a server that passes requests on, and replaces texts in the responses. */
const startProxy = async (t: Test, url: string, replace: (path: string, text: string) => string) => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = 'GET', headers } = request
    const passed = await fetch(`${url}${request.url}`, {
      method,
      headers: { 'content-type': headers['content-type'] ?? 'text/plain' },
      ...(method === 'POST' && { body: Buffer.concat(chunks) })
    })
    response.writeHead(passed.status).end(replace(String(request.url), await passed.text()))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

t.test('the start creates the tables, and a second service finds them', async (t) => {
  const fake = await startFakeRqlite(t)
  const [first, second] = await Promise.all([openOn(t, fake), openOn(t, fake)])
  for (const db of [first, second])
    t.strictSame(await db.read(sql("SELECT value FROM _rowhouse_meta WHERE key = 'version'")), [
      { value: LATEST_VERSION }
    ])
  t.equal(fake.read('SELECT count(*) AS count FROM _rowhouse_services')[0]?.count, 2)
})

t.test('another node is used if the first one is gone', async (t) => {
  const fake = await startFakeRqlite(t)
  const db = await openCluster({ urls: ['http://127.0.0.1:9', `${fake.url}/`], dataDirectory: temporaryDirectory(t) })
  t.teardown(() => db.close())
  t.strictSame(await db.read(sql('SELECT 1 AS one')), [{ one: 1 }])
})

t.test('the start names addresses of nodes that RQLITE_URLS does not have', async (t) => {
  const fake = await startFakeRqlite(t)
  const warnings: string[] = []
  const onWarning = (message: string) => warnings.push(message)
  await openOn(t, fake, { onWarning })
  t.strictSame(warnings, [])

  await openOn(t, { url: await startProxy(t, fake.url, (_, text) => text) }, { onWarning })
  t.match(warnings, [`RQLITE_URLS does not have ${fake.url}, as nodes advertise themselves. `])
  t.match(warnings, [/start these nodes with -http-adv-addr and the host and port that RQLITE_URLS has\.$/])

  const failing = await startProxy(t, fake.url, (path, text) => (path.startsWith('/nodes') ? 'leader: failed' : text))
  await openOn(t, { url: failing }, { onWarning })
  t.equal(warnings.length, 1)
})

t.test('a user and a password are sent', async (t) => {
  const credentials = { user: 'rowhouse', password: 'secret' }
  const fake = await startFakeRqlite(t, { credentials })
  const db = await openOn(t, fake, credentials)
  t.strictSame(await db.read(sql('SELECT 1 AS one')), [{ one: 1 }])
  t.match(await refusal(t, [fake.url], { user: 'rowhouse' }), /refuses RQLITE_USER and RQLITE_PASSWORD/)
  t.match(await refusal(t, [fake.url]), /refuses RQLITE_USER and RQLITE_PASSWORD/)
})

t.test('a cluster that cannot be used is refused with the reason', async (t) => {
  const { url } = await startFakeRqlite(t)
  t.match(
    await refusal(t, ['http://127.0.0.1:9']),
    /^RQLITE_URLS: http:\/\/127\.0\.0\.1:9 cannot be reached: .*A majority of the nodes must run\.$/
  )
  const refused = async (path: string, from: string | RegExp, to: string) =>
    refusal(t, [
      await startProxy(t, url, (requested, text) => (requested.startsWith(path) ? text.replace(from, to) : text))
    ])
  t.match(
    await refused(
      '/status',
      /v10\.\d+\.\d+|"version":\s*"10"/,
      '"version":"v9.4.5"'.replace('"version":', '').replaceAll('"', '')
    ),
    /runs rqlite .*Rowhouse needs 10\.2/
  )
  t.match(await refused('/status', '3.53.3', '3.49.1'), /runs SQLite 3\.49\.1. Rowhouse needs 3\.53/)
  t.match(await refused('/status', /"version":"v?10[^"]*"/, '"version":"unknown"'), /runs rqlite unknown/)
  t.match(
    await refused('/db/query', '"values":[[1]]', '"values":[[0]]'),
    /does not check foreign keys. Start each rqlited with -fk/
  )
  t.match(await refused('/db/query', /("is_exact".*?)\[\[1\]\]/, '$1[[0]]'), /does not keep all digits/)
  t.match(await refused('/db/query', /("count".*?)\[\[1\]\]/, '$1[[0]]'), /has no FTS5/)
})

t.test('a cluster without a leader is refused', async (t) => {
  const fake = await startFakeRqlite(t)
  for (let count = 0; count < 30; count += 1) fake.faults.noLeader('/readyz')
  t.match(await refusal(t, [fake.url]), /is not ready: leader not found\. A majority/)
})

t.test('the start waits for an election', async (t) => {
  const fake = await startFakeRqlite(t)
  fake.faults.noLeader('/readyz')
  const db = await openOn(t, fake)
  t.strictSame(await db.read(sql('SELECT 1 AS one')), [{ one: 1 }])
})

t.test('two services cannot use one data directory', async (t) => {
  const fake = await startFakeRqlite(t)
  const dataDirectory = temporaryDirectory(t)
  const first = await openOn(t, fake, { dataDirectory })
  t.match(await refusal(t, [fake.url], { dataDirectory }), /^Another Rowhouse serves .*cluster\. Stop it first/)
  await first.close()
  const second = await openOn(t, fake, { dataDirectory })
  t.strictSame(await second.read(sql('SELECT 1 AS one')), [{ one: 1 }])
})

t.test('a cluster whose reads get no response is refused', async (t) => {
  const fake = await startFakeRqlite(t)
  for (let count = 0; count < 30; count += 1) fake.faults.noLeader('/db/query')
  t.match(await refusal(t, [fake.url]), /^The cluster has no leader, or cannot be reached/)
})

t.test('a cluster that a newer Rowhouse has used is refused', async (t) => {
  const fake = await startFakeRqlite(t)
  const db = await openOn(t, fake)
  await db.write([sql("UPDATE _rowhouse_meta SET value = ? WHERE key = 'version'", BigInt(LATEST_VERSION + 1))])
  t.match(await refusal(t, [fake.url]), /The cluster was last used by a newer Rowhouse/)
})

t.test('a cluster whose tables of Rowhouse cannot be created is refused', async (t) => {
  const fake = await startFakeRqlite(t)
  fake.execute('CREATE VIEW _rowhouse_admins AS SELECT 1')
  t.match(await refusal(t, [fake.url]), /The tables of Rowhouse cannot be created in the cluster: /)
})

t.test('a cluster that refuses or ends the first change is refused', async (t) => {
  const fake = await startFakeRqlite(t)
  const refusing = await startProxy(t, fake.url, (path, text) =>
    path.startsWith('/db/execute') ? '{"error":"FOREIGN KEY constraint failed"}' : text
  )
  t.match(await refusal(t, [refusing]), /The cluster refuses the start: FOREIGN KEY constraint failed\./)
  for (let count = 0; count < 30; count += 1) fake.faults.noLeader()
  t.match(await refusal(t, [fake.url]), /The cluster does not respond\./)
})
