import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { collectGarbage } from '../../garbage.ts'
import { asAdmin, createDatabase, createTable, importTable, isFailure, startApp } from '../../helpers.ts'
import { listenRaw } from '../../raw-http.ts'

const MOST = 8

const file = createDatabase(
  t,
  `CREATE TABLE wide (id INTEGER PRIMARY KEY, n INT, s TEXT);
   WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
   INSERT INTO wide SELECT i, -i, printf('%.*c', 300000, 'x') FROM n;`
)
const app = await startApp(t, { env: { DATABASE: file } })
const admin = await asAdmin(app)
const { id } = await importTable(admin, 'wide')
const { id: logId } = await createTable(admin, { name: 'log', fields: [{ name: 's', jsonType: 'string' }] })
const send = await listenRaw(t, app)
const { port } = app.server.address() as AddressInfo

const get = (path: string, ...headers: string[]) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nCookie: ${admin.headers.cookie}\r\n${headers.map((header) => `${header}\r\n`).join('')}\r\n`
const HEALTH = get('/health')
const STATIC = get('/docs/static/swagger-ui-bundle.js')
/** Larger than what the system takes: they wait for their client. */
const UNREAD = STATIC.repeat(4)
const END = get('/health', 'Connection: close')

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))

t.test('requests that are sent ahead are answered in order, eight at a time', async (t) => {
  const { head, body } = await send(`${HEALTH.repeat(MOST - 1)}${END}`)
  t.strictSame(statuses(head + body), Array(MOST).fill(200))
})

t.test('more of them are refused, once, behind the answers to those before', async (t) => {
  for (const more of [1, 2, 50]) {
    const { head, body } = await send(`${HEALTH.repeat(MOST + more - 1)}${END}`)
    const text = `${head}\r\n\r\n${body}`
    t.strictSame(statuses(text), [...Array(MOST).fill(200), 400], `${more} more`)
    const [refusal = '', envelope = ''] = (text.split('HTTP/1.1 400')[1] ?? '').split('\r\n\r\n')
    t.match(refusal, /^connection: close$/im)
    t.match(refusal, /^x-content-type-options: nosniff$/im)
    t.ok(isFailure(JSON.parse(envelope)))
    t.equal(JSON.parse(envelope).error.code, 'MALFORMED_REQUEST')
  }
})

/** Resolves with what a connection gets until it ends, `then` being sent once the first answer has come. */
const converse = async (requests: string, then = '') => {
  const socket = connect({ host: '127.0.0.1', port })
  t.teardown(() => socket.destroy())
  socket.write(requests)
  socket.once('data', () => socket.write(then))
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  await new Promise((resolve) => socket.on('error', () => {}).once('close', resolve))
  return text
}

t.test('a connection on which they have no end is ended at once', async (t) => {
  for (const request of [HEALTH, 'GET /% HTTP/1.1\r\nHost: x\r\n\r\n', get('/health', 'Expect: more')])
    t.ok(statuses(await converse(UNREAD + request.repeat(1000))).length < MOST, request.slice(0, 12))
})

const log = async () => (await admin.get(`/admin/tables/${logId}/data`)).json().data.total as number
const CREATE = `POST /admin/tables/${logId}/data HTTP/1.1\r\nHost: x\r\nCookie: ${admin.headers.cookie}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`

t.test('what stands behind an answer that ends the connection is not carried out', async (t) => {
  const before = await log()
  t.strictSame(statuses(await converse(HEALTH.repeat(MOST + 1), CREATE.repeat(3))), [...Array(MOST).fill(200), 400])
  const tooLarge = CREATE.replace('Content-Length: 2', 'Content-Length: 9000000')
  for (const last of [
    get('/health', 'Expect: more'),
    get('/health', 'Content-Length: 9').concat('123456789'),
    tooLarge
  ])
    t.match(statuses(await converse(last + CREATE)), [/^4\d\d$/], last.slice(0, 60))
  t.equal(await log(), before)
  t.strictSame(statuses(await converse(CREATE + END)), [200, 200])
  t.equal(await log(), before + 1)
})

t.test('a request to speak another protocol is answered, and ends the connection; CONNECT just ends it', async (t) => {
  const upgrade = get('/health', 'Connection: Upgrade', 'Upgrade: websocket')
  t.match(await converse(upgrade + HEALTH), /^HTTP\/1\.1 200 .*connection: close/is)
  t.equal(await converse('CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n'), '')
})

t.test('broken bytes behind an answer that nobody reads cost no more, however many they are', async (t) => {
  const served = once(app.server, 'connection') as Promise<[Socket]>
  const socket = connect({ host: '127.0.0.1', port }).pause()
  t.teardown(() => socket.destroy())
  const warnings: Error[] = []
  const warn = (warning: Error) => warnings.push(warning)
  process.on('warning', warn)
  socket.write(`${UNREAD}GARBAGE\r\n\r\n`)
  const [server] = await served
  for (let byte = 0; byte < 200; byte += 1) {
    socket.write('x')
    await wait(1)
  }
  t.ok(server.bytesRead > 200)
  t.strictSame(warnings, [])
  process.off('warning', warn)
})

t.test('idle connections keep nothing of the bodies that they have sent', async (t) => {
  const [CONNECTIONS, LENGTH] = [40, 500_000]
  const body = JSON.stringify({ unknown: 'x'.repeat(LENGTH) })
  const request = CREATE.replace('Content-Length: 2', `Content-Length: ${body.length}`).replace(/{}$/, body)
  const held = () => {
    collectGarbage()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const before = held()
  for (let count = 0; count < CONNECTIONS; count += 1) {
    const socket = connect({ host: '127.0.0.1', port })
    t.teardown(() => socket.destroy())
    socket.write(request)
    await once(socket, 'data')
  }
  await wait(100)
  const perConnection = (held() - before) / CONNECTIONS
  t.ok(perConnection < LENGTH / 4, `${Math.round(perConnection / 1024)} KiB a connection`)
})

t.test('a connection that goes on sending ahead is served for as long as it reads', async (t) => {
  const COUNT = 200
  const socket = connect({ host: '127.0.0.1', port })
  t.teardown(() => socket.destroy())
  let text = ''
  let sent = 0
  const sendOne = () => {
    sent += 1
    socket.write(HEALTH)
  }
  for (let ahead = 0; ahead < 3; ahead += 1) sendOne()
  for await (const chunk of socket) {
    const before = statuses(text).length
    text += chunk
    for (let answered = before; answered < statuses(text).length && sent < COUNT; answered += 1) sendOne()
    if (statuses(text).length === COUNT) break
  }
  t.strictSame(statuses(text), Array(COUNT).fill(200))
})

/** Sends requests, waits until something has come back, and goes. */
const leave = async (requests: string) => {
  const socket = connect({ host: '127.0.0.1', port })
  socket.write(requests)
  await new Promise((resolve) => socket.once('readable', resolve))
  await wait(100)
  socket.destroy()
}

const noDescriptors = process.platform === 'linux' ? false : 'open files are counted in /proc'

t.test('what stands behind an answer that nobody reads is let go with its connection', async (t) => {
  await t.test('open files', { skip: noDescriptors }, async (t) => {
    const files = () => readdirSync('/proc/self/fd').length
    await leave(STATIC.repeat(MOST))
    await wait(100)
    const before = files()
    for (let round = 0; round < 5; round += 1) await leave(STATIC.repeat(MOST))
    for (let round = 0; round < 20; round += 1) await converse(get('/health', 'Expect: more') + STATIC)
    for (let tries = 0; files() > before && tries < 50; tries += 1) await wait(20)
    t.ok(files() <= before, `${files()} files, ${before} before`)
  })

  await t.test('files that are opened when the client has gone', { skip: noDescriptors }, async (t) => {
    const files = () => readdirSync('/proc/self/fd').length
    const before = files()
    for (let round = 0; round < 60; round += 1) {
      const socket = connect({ host: '127.0.0.1', port })
      socket.write(STATIC.repeat(MOST), () => setTimeout(() => socket.destroy(), round % 6))
      await new Promise((resolve) => socket.once('close', resolve))
    }
    for (let tries = 0; files() > before && tries < 100; tries += 1) await wait(20)
    t.ok(files() <= before, `${files()} files, ${before} before`)
  })

  await t.test('readers that exports hold', async (t) => {
    const sorted = `/admin/tables/${id}/export?order=n`
    await leave(`${get(`/admin/tables/${id}/export`)}${get(sorted).repeat(2)}`)
    let answer = await admin.get(sorted)
    for (let tries = 0; answer.statusCode === 503 && tries < 50; tries += 1) {
      await wait(20)
      answer = await admin.get(sorted)
    }
    t.equal(answer.statusCode, 200)
  })
})

t.test('a request that was answered before it had come whole gets no second answer', async (t) => {
  const early = `POST /admin/tables HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
  const { head, body } = await send(`${early}3\r\n"x"\r\nno chunk\r\n`)
  t.strictSame(statuses(head + body), [401])
})
