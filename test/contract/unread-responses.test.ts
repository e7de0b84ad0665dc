import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import {
  asAdmin,
  asToken,
  createDatabase,
  createTable,
  dataOf,
  expectError,
  importTable,
  startApp
} from '../helpers.ts'

// Clients that request much and do not read the responses.

/** Defaults that make an empty record 8 MB large. Tables of the service itself limit the size of their defaults. */
const LARGE_DEFAULTS = Array.from({ length: 8 }, (_, index) => `f${index} TEXT DEFAULT (printf('%.*c', 1000000, 'd'))`)
const DATABASE = createDatabase(t, `CREATE TABLE broad (id INTEGER PRIMARY KEY, ${LARGE_DEFAULTS.join(', ')})`)
const app = await startApp(t, { env: { DATABASE } })
const admin = await asAdmin(app)
const token = await asToken(app, admin)
const { id } = await createTable(admin, { name: 'wide', fields: [{ name: 's', jsonType: 'string' }] })
const [RECORDS, WIDTH] = [7, 1_000_000]
for (let record = 0; record < RECORDS; record++)
  dataOf(await admin.post(`/admin/tables/${id}/data`, { s: 'x'.repeat(WIDTH) }))

await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo

const request = (line: string, body = '') =>
  `${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${token.headers.authorization}\r\n${body}\r\n`

const LIST = request('GET /data/wide')
const CREATE = `${request('POST /data/broad/records', 'Content-Type: application/json\r\nContent-Length: 2\r\n')}{}`

/** Sends requests on a new connection without reading the responses. Resolves with both ends of the connection. */
const sendUnread = async (requests = LIST) => {
  const served = once(app.server, 'connection') as Promise<[Socket]>
  const client = connect({ host: '127.0.0.1', port })
  t.teardown(() => client.destroy())
  client.pause()
  client.write(requests)
  const [server] = await served
  return { client, server }
}

const list = () => token.get('/data/wide')

/** Waits for a condition. The time limit of the test ends the wait otherwise. */
const until = async (condition: () => Promise<boolean>) => {
  while (!(await condition())) await wait(20)
}

t.test('beyond a limit of unread responses, large responses are refused and small ones are not', async (t) => {
  const few = await Promise.all(Array.from({ length: 20 }, () => sendUnread()))
  t.equal((await list()).statusCode, 200)
  const many = await Promise.all(Array.from({ length: 20 }, () => sendUnread()))
  await until(async () => (await list()).statusCode !== 200)
  const refused = await list()
  expectError(t, refused, 503, 'OVERLOADED')
  t.match(refused.headers['retry-after'], /^\d+$/)
  t.equal((await admin.get('/admin/tables')).statusCode, 200)

  for (const { client } of [...few, ...many]) client.destroy()
  await until(async () => (await list()).statusCode === 200)
})

t.test('a create succeeds while large reads are refused, and a refused create has no effect', async (t) => {
  const { id } = await importTable(admin, 'broad')
  const count = async () => dataOf(await admin.get(`/admin/tables/${id}/data?page=100000`)).total as number
  const create = () => token.post('/data/broad/records', {})

  const readers = await Promise.all(Array.from({ length: 40 }, () => sendUnread()))
  await until(async () => (await list()).statusCode !== 200)
  t.equal(dataOf(await create()).f0.length, 1_000_000)
  t.equal(await count(), 1, 'stored once')

  // The operating system buffers the first of these responses. The next ones are buffered by the service.
  const creators = await Promise.all(Array.from({ length: 5 }, () => sendUnread(CREATE.repeat(8))))
  await until(async () => (await count()) === 1 + 5 * 8)
  await until(async () => (await create()).statusCode !== 200)
  const stored = await count()
  const refused = await create()
  expectError(t, refused, 503, 'OVERLOADED')
  t.match(refused.headers['retry-after'], /^\d+$/)
  expectError(t, await token.delete('/data/broad/records/1?return=record'), 503, 'OVERLOADED')
  t.equal(await count(), stored)

  for (const { client } of [...readers, ...creators]) client.destroy()
  await until(async () => (await list()).statusCode === 200)
  t.equal(dataOf(await create()).id, stored + 1)
})

t.test('a response to a disconnected client does not count as unread', async (t) => {
  const CREATORS = 40
  const { write } = app.database
  let pending = 0
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const writes: Promise<unknown>[] = []
  app.database.write = async (unit) => {
    pending += 1
    await released
    const written = write(unit)
    writes.push(written)
    return written
  }
  const creators = await Promise.all(Array.from({ length: CREATORS }, () => sendUnread(CREATE)))
  await until(async () => (await list()).statusCode === 200 && pending === CREATORS)
  const closed = Promise.all(creators.map(({ server }) => once(server, 'close')))
  for (const { client } of creators) client.destroy()
  await closed
  release()
  await until(async () => (await list()).statusCode === 200 && writes.length === CREATORS)
  await Promise.all(writes)
  app.database.write = write
  await wait(100)
  t.equal((await list()).statusCode, 200)
})

t.test('an idle connection is closed', async (t) => {
  t.equal(app.server.timeout, 120_000)
  app.server.setTimeout(200)
  const { server } = await sendUnread()
  await once(server, 'close')
  t.equal(dataOf(await list()).rows.length, RECORDS, 'a client that reads gets the complete response')
})
