import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { asAdmin, asKey, asToken, createDatabase, dataOf, importTable, startApp } from '../helpers.ts'

// Clients that disconnect before they get a response.

/** The scans take seconds. */
const ROWS = 200_000
const DATABASE = createDatabase(
  t,
  `CREATE TABLE large (id INTEGER PRIMARY KEY, text TEXT);
   WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
     INSERT INTO large SELECT i, printf('%0300d', i * 7919 % ${ROWS}) FROM n;
   CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS n FROM n`
)
const METRICS_TOKEN = '0123456789abcdef'.repeat(2)
const app = await startApp(t, { env: { DATABASE, METRICS_TOKEN } })
const admin = await asAdmin(app)
const { id } = await importTable(admin, 'large')
await importTable(admin, 'endless')
const token = await asToken(app, admin)
const key = await asKey(app, admin, ['records:read'])
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo

const running = () => {
  const { scans, viewScans, heldReaders } = app.database.counts()
  return scans.running + viewScans.running + heldReaders
}

const until = async (condition: () => boolean) => {
  while (!condition()) await wait(1)
}

/** Sends a request, and disconnects once it is running. Returns the milliseconds until nothing runs. */
const abandon = async (line: string, headers: Readonly<Record<string, string>>, body = '') => {
  const socket = connect({ host: '127.0.0.1', port })
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const length = body === '' ? [] : ['content-type: application/json', `content-length: ${body.length}`]
  socket.write([`${line} HTTP/1.1`, 'Host: localhost', ...lines, ...length, '', body].join('\r\n'))
  await until(() => running() > 0)
  await wait(20)
  t.ok(running() > 0, `${line} is still running`)
  const start = performance.now()
  socket.destroy()
  await once(socket, 'close')
  await until(() => running() === 0)
  return performance.now() - start
}

const DEEP = `order=text&page=${ROWS / 1000 - 10}&size=1000`
const AGGREGATE = JSON.stringify({ compute: { texts: { countDistinct: 'text' } } })

for (const [name, line, client, body] of [
  ['a page of a token', `GET /data/large?${DEEP}`, token],
  ['a page of an admin key', `GET /admin/tables/${id}/data?${DEEP}`, key],
  ['a page of an administrator', `GET /admin/tables/${id}/data?${DEEP}`, admin],
  ['an aggregate', 'POST /data/large/aggregate', token, AGGREGATE],
  ['a sorted export', 'GET /data/large/export?order=text', token],
  ['a page of a view', 'GET /data/endless', token]
] as const) {
  t.test(`${name} ends when its client disconnects, and counts as aborted`, async (t) => {
    const { aborted, failed } = app.errorCounts
    const time = await abandon(line, client.headers as Record<string, string>, body)
    t.comment(`${time.toFixed(0)} ms`)
    await until(() => app.errorCounts.aborted > aborted)
    t.match(app.errorCounts, { aborted: aborted + 1, failed })
  })
}

t.test('the status and the metrics have the number of aborted requests', async (t) => {
  const { aborted } = dataOf(await admin.get('/admin/status')).requests
  t.equal(aborted, 6)
  const { body } = await app.inject({ url: '/metrics', headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
  t.match(body, `\nrowhouse_http_requests_aborted_total ${aborted}\n`)
})
