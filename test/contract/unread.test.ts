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

// Clients that ask for much and read nothing.

/** Its defaults make a record of 8 MB out of nothing; ours have a bound together. */
const BROAD = Array.from({ length: 8 }, (_, index) => `f${index} TEXT DEFAULT (printf('%.*c', 1000000, 'd'))`)
const DATABASE = createDatabase(t, `CREATE TABLE broad (id INTEGER PRIMARY KEY, ${BROAD.join(', ')})`)
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

/** Sends requests on a connection of their own and reads no answer; resolves with both ends. */
const ask = async (requests = LIST) => {
  const served = once(app.server, 'connection') as Promise<[Socket]>
  const client = connect({ host: '127.0.0.1', port })
  t.teardown(() => client.destroy())
  client.pause()
  client.write(requests)
  const [server] = await served
  return { client, server }
}

const list = () => token.get('/data/wide')

/** Asks until it is so; the test's own time limit ends it otherwise. */
const until = async (isSo: () => Promise<boolean>) => {
  while (!(await isSo())) await wait(20)
}

t.test('so much may wait to be read; more large answers are refused, small ones are not', async (t) => {
  const few = await Promise.all(Array.from({ length: 20 }, () => ask()))
  t.equal((await list()).statusCode, 200)
  const many = await Promise.all(Array.from({ length: 20 }, () => ask()))
  await until(async () => (await list()).statusCode !== 200)
  const refused = await list()
  expectError(t, refused, 503, 'OVERLOADED')
  t.match(refused.headers['retry-after'], /^\d+$/)
  t.equal((await admin.get('/admin/tables')).statusCode, 200)

  for (const { client } of [...few, ...many]) client.destroy()
  await until(async () => (await list()).statusCode === 200)
})

t.test(
  'what is created is answered, also where large reads are refused; a refused one has left no trace',
  async (t) => {
    const { id } = await importTable(admin, 'broad')
    const count = async () => dataOf(await admin.get(`/admin/tables/${id}/data?page=100000`)).total as number
    const create = () => token.post('/data/broad/records', {})

    const readers = await Promise.all(Array.from({ length: 40 }, () => ask()))
    await until(async () => (await list()).statusCode !== 200)
    t.equal(dataOf(await create()).f0.length, 1_000_000)
    t.equal(await count(), 1, 'stored once')

    // The system takes the first of these answers; those behind them have to wait.
    const creators = await Promise.all(Array.from({ length: 5 }, () => ask(CREATE.repeat(8))))
    await until(async () => (await count()) === 1 + 5 * 8)
    await until(async () => (await create()).statusCode !== 200)
    const stored = await count()
    const refused = await create()
    expectError(t, refused, 503, 'OVERLOADED')
    t.match(refused.headers['retry-after'], /^\d+$/)
    t.equal(await count(), stored)

    for (const { client } of [...readers, ...creators]) client.destroy()
    await until(async () => (await list()).statusCode === 200)
    t.equal(dataOf(await create()).id, stored + 1)
  }
)

t.test('an answer that is made when its client has gone is not counted', async (t) => {
  const CREATORS = 40
  const { write } = app.database
  let waiting = 0
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const ended: Promise<unknown>[] = []
  app.database.write = async (unit) => {
    waiting += 1
    await opened
    const written = write(unit)
    ended.push(written)
    return written
  }
  const creators = await Promise.all(Array.from({ length: CREATORS }, () => ask(CREATE)))
  await until(async () => (await list()).statusCode === 200 && waiting === CREATORS)
  const gone = Promise.all(creators.map(({ server }) => once(server, 'close')))
  for (const { client } of creators) client.destroy()
  await gone
  open()
  await until(async () => (await list()).statusCode === 200 && ended.length === CREATORS)
  await Promise.all(ended)
  app.database.write = write
  await wait(100)
  t.equal((await list()).statusCode, 200)
})

t.test('a connection on which nothing moves is closed', async (t) => {
  t.equal(app.server.timeout, 120_000)
  app.server.setTimeout(200)
  const { server } = await ask()
  await once(server, 'close')
  t.equal(dataOf(await list()).rows.length, RECORDS, 'whoever reads has the answer whole')
})
