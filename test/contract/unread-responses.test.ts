import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { MAX_UNREAD } from '../../services/engine/shared/unread-text.ts'
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

const request = (line: string, body = '', sender = token) =>
  `${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${sender.headers.authorization}\r\n${body}\r\n`

const LIST = request('GET /data/wide')
const create = (sender = token) =>
  `${request('POST /data/broad/records', 'Content-Type: application/json\r\nContent-Length: 2\r\n', sender)}{}`

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

const list = (reader = token) => reader.get('/data/wide')

/** Waits for a condition. The time limit of the test ends the wait otherwise. */
const until = async (condition: () => Promise<boolean>) => {
  while (!(await condition())) await wait(20)
}

/** Tokens that hold more together than all clients may. */
const holders = await Promise.all(Array.from({ length: 5 }, () => asToken(app, admin)))

t.test('a caller that reads no response gets no more large ones, and others do', async (t) => {
  const { client: first } = await sendUnread()
  t.equal((await list()).statusCode, 200)
  const many = await Promise.all(Array.from({ length: 8 }, () => sendUnread()))
  await until(async () => (await list()).statusCode !== 200)
  const refused = await list()
  expectError(t, refused, 503, 'OVERLOADED')
  t.match(refused.headers['retry-after'], /^\d+$/)
  t.equal((await token.get('/data/wide?size=1&fields=id')).statusCode, 200, 'a small response is sent')
  t.equal((await list(holders[0])).statusCode, 200)

  for (const client of [first, ...many.map(({ client }) => client)]) client.destroy()
  await until(async () => (await list()).statusCode === 200)
})

/** Reads the responses to the end. */
const readAll = async (connections: readonly { readonly client: Socket }[]) => {
  for (const { client } of connections) client.resume()
  await Promise.all(connections.map(({ client }) => once(client, 'end')))
}

for (const [name, path] of Object.entries({
  exports: '/data/wide/export',
  'pages of exports': '/data/wide/export?size=7'
})) {
  t.test(`parts of ${name} that a caller does not read wait, and those of others do not`, async (t) => {
    const [reader, other] = await Promise.all([asToken(app, admin), asToken(app, admin)])
    const line = request(`GET ${path}`, 'Connection: close\r\n', reader)
    const many = await Promise.all(Array.from({ length: 8 }, () => sendUnread(line)))
    await until(async () => app.database.counts().unreadCharacters > MAX_UNREAD / 16)
    await wait(300)
    const unread = app.database.counts().unreadCharacters
    t.ok(unread <= MAX_UNREAD / 4, `${unread}`)
    t.ok((await other.get('/data/wide/export')).body.length > RECORDS * WIDTH)

    const [first, ...others] = many
    await readAll(others)
    first?.client.destroy()
    await until(async () => app.database.counts().unreadCharacters === 0)
  })
}

t.test('parts of a compressed export do not count any more when it ends', async (t) => {
  const line = request('GET /data/wide/export', 'Connection: close\r\nAccept-Encoding: gzip\r\n')
  await readAll(await Promise.all(Array.from({ length: 8 }, () => sendUnread(line))))
  await until(async () => app.database.counts().unreadCharacters === 0)
  t.equal(app.database.counts().unreadCharacters, 0)
})

t.test('large reads are refused before changes are, and a refused change has no effect', async (t) => {
  const { id } = await importTable(admin, 'broad')
  const count = async () => dataOf(await admin.get(`/admin/tables/${id}/data?page=100000`)).total as number
  const createNow = () => token.post('/data/broad/records', {})

  const readers = await Promise.all(
    holders.flatMap((holder) => Array.from({ length: 8 }, () => sendUnread(request('GET /data/wide', '', holder))))
  )
  await until(async () => (await list()).statusCode !== 200)
  t.equal(dataOf(await createNow()).f0.length, 1_000_000)
  t.equal(await count(), 1, 'stored once')
  for (const { client } of readers) client.destroy()
  await until(async () => (await list()).statusCode === 200)

  // Each is sent before the service knows how large the responses to the others are.
  const SENT = 40
  const creators = await Promise.all(holders.map((holder) => sendUnread(create(holder).repeat(SENT / holders.length))))
  await until(async () => (await createNow()).statusCode !== 200)
  const stored = await count()
  t.ok(stored < SENT, `${stored} are stored`)
  t.ok(app.database.unread.characters() <= MAX_UNREAD + 8 * WIDTH, 'no more than the limit is in memory')
  const refused = await createNow()
  expectError(t, refused, 503, 'OVERLOADED')
  t.match(refused.headers['retry-after'], /^\d+$/)
  expectError(t, await token.delete('/data/broad/records/1?return=record'), 503, 'OVERLOADED')
  t.equal(await count(), stored)

  for (const { client } of creators) client.destroy()
  await until(async () => (await list()).statusCode === 200)
  t.equal(dataOf(await createNow()).id, stored + 1)
  await until(async () => app.database.unread.characters() === 0)
})

t.test('only what clients do not read of changes keeps others from creating', async (t) => {
  app.database.unread.addRead(2 * MAX_UNREAD)
  t.equal(dataOf(await token.post('/data/broad/records', {})).f0.length, 1_000_000)
  app.database.unread.addRead(-2 * MAX_UNREAD)
  app.database.unread.add(2 * MAX_UNREAD)
  expectError(t, await token.post('/data/broad/records', {}), 503, 'OVERLOADED')
  app.database.unread.add(-2 * MAX_UNREAD)
  t.equal(app.database.counts().unreadCharacters, 0)
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
  const creators = await Promise.all(Array.from({ length: CREATORS }, () => sendUnread(create())))
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
