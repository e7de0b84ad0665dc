import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { collectGarbage } from '../../garbage.ts'
import { asAdmin, createDatabase, createTable, importTable, isFailure, startApp } from '../../helpers.ts'
import { listenRaw } from '../../raw-http.ts'

const MAX_PENDING = 8

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
/** Responses that are larger than the buffers of the system: they are pending until the client reads. */
const LARGE = STATIC.repeat(4)
const END = get('/health', 'Connection: close')

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))

t.test('eight pipelined requests get their responses in order', async (t) => {
  const { head, body } = await send(`${HEALTH.repeat(MAX_PENDING - 1)}${END}`)
  t.strictSame(statuses(head + body), Array(MAX_PENDING).fill(200))
})

t.test('the ninth pending request is refused after the eight responses, and later ones get no response', async (t) => {
  for (const more of [1, 2, 50]) {
    const { head, body } = await send(`${HEALTH.repeat(MAX_PENDING + more - 1)}${END}`)
    const text = `${head}\r\n\r\n${body}`
    t.strictSame(statuses(text), [...Array(MAX_PENDING).fill(200), 400], `${more} more`)
    const [refusal = '', envelope = ''] = (text.split('HTTP/1.1 400')[1] ?? '').split('\r\n\r\n')
    t.match(refusal, /^connection: close$/im)
    t.match(refusal, /^x-content-type-options: nosniff$/im)
    t.ok(isFailure(JSON.parse(envelope)))
    t.equal(JSON.parse(envelope).error.code, 'TOO_MANY_PIPELINED')
  }
})

/** Resolves with everything that a connection received until it closed. Sends `then` after the first response. */
const exchange = async (requests: string, then = '') => {
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

t.test('a connection with too many pending requests is destroyed', async (t) => {
  for (const request of [HEALTH, 'GET /% HTTP/1.1\r\nHost: x\r\n\r\n', get('/health', 'Expect: more')])
    t.ok(statuses(await exchange(LARGE + request.repeat(1000))).length < MAX_PENDING, request.slice(0, 12))
})

const countLog = async () => (await admin.get(`/admin/tables/${logId}/data`)).json().data.total as number
const CREATE = `POST /admin/tables/${logId}/data HTTP/1.1\r\nHost: x\r\nCookie: ${admin.headers.cookie}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`

t.test('requests after a response that closes the connection do not run', async (t) => {
  const before = await countLog()
  t.strictSame(statuses(await exchange(HEALTH.repeat(MAX_PENDING + 1), CREATE.repeat(3))), [
    ...Array(MAX_PENDING).fill(200),
    400
  ])
  const tooLarge = CREATE.replace('Content-Length: 2', 'Content-Length: 9000000')
  for (const last of [
    get('/health', 'Expect: more'),
    get('/health', 'Content-Length: 9').concat('123456789'),
    tooLarge
  ])
    t.match(statuses(await exchange(last + CREATE)), [/^4\d\d$/], last.slice(0, 60))
  t.equal(await countLog(), before)
  t.strictSame(statuses(await exchange(CREATE + END)), [200, 200])
  t.equal(await countLog(), before + 1)
})

t.test('an upgrade request gets a response and closes the connection; CONNECT only closes it', async (t) => {
  const upgrade = get('/health', 'Connection: Upgrade', 'Upgrade: websocket')
  t.match(await exchange(upgrade + HEALTH), /^HTTP\/1\.1 200 .*connection: close/is)
  t.equal(await exchange('CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n'), '')
})

t.test(
  'invalid bytes after a response that the client does not read add one listener, not one for each packet',
  async (t) => {
    const served = once(app.server, 'connection') as Promise<[Socket]>
    const socket = connect({ host: '127.0.0.1', port }).pause()
    t.teardown(() => socket.destroy())
    const warnings: Error[] = []
    const warn = (warning: Error) => warnings.push(warning)
    process.on('warning', warn)
    socket.write(`${LARGE}GARBAGE\r\n\r\n`)
    const [server] = await served
    for (let byte = 0; byte < 200; byte += 1) {
      socket.write('x')
      await wait(1)
    }
    t.ok(server.bytesRead > 200)
    t.strictSame(warnings, [])
    process.off('warning', warn)
  }
)

t.test('idle connections do not hold the bodies that they sent', async (t) => {
  const [CONNECTIONS, LENGTH] = [40, 500_000]
  const body = JSON.stringify({ unknown: 'x'.repeat(LENGTH) })
  const request = CREATE.replace('Content-Length: 2', `Content-Length: ${body.length}`).replace(/{}$/, body)
  /** The minimum of several measurements: V8 frees array buffers some time after a collection. */
  const measureMemory = async () => {
    let minimum = Number.POSITIVE_INFINITY
    for (let round = 0; round < 10; round += 1) {
      await wait(20)
      collectGarbage()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      minimum = Math.min(minimum, heapUsed + arrayBuffers)
    }
    return minimum
  }
  const before = await measureMemory()
  for (let count = 0; count < CONNECTIONS; count += 1) {
    const socket = connect({ host: '127.0.0.1', port })
    t.teardown(() => socket.destroy())
    socket.write(request)
    await once(socket, 'data')
  }
  const perConnection = ((await measureMemory()) - before) / CONNECTIONS
  t.ok(perConnection < LENGTH / 4, `${Math.round(perConnection / 1024)} KiB per connection`)
})

t.test('a connection may pipeline without end while it reads the responses', async (t) => {
  const COUNT = 200
  const socket = connect({ host: '127.0.0.1', port })
  t.teardown(() => socket.destroy())
  let text = ''
  let sentCount = 0
  const sendOne = () => {
    sentCount += 1
    socket.write(HEALTH)
  }
  for (let ahead = 0; ahead < 3; ahead += 1) sendOne()
  for await (const chunk of socket) {
    const before = statuses(text).length
    text += chunk
    for (let received = before; received < statuses(text).length && sentCount < COUNT; received += 1) sendOne()
    if (statuses(text).length === COUNT) break
  }
  t.strictSame(statuses(text), Array(COUNT).fill(200))
})

/** Sends requests, disconnects after the first bytes of a response, and returns what `observe` returned before that. */
const disconnectEarly = async <T>(requests: string, observe?: () => T) => {
  const socket = connect({ host: '127.0.0.1', port })
  socket.write(requests)
  await new Promise((resolve) => socket.once('readable', resolve))
  await wait(100)
  const observed = observe?.()
  socket.destroy()
  return observed
}

const noDescriptors = process.platform === 'linux' ? false : 'open files are counted in /proc'

const linkOf = (descriptor: string) => {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    return ''
  }
}

/** Only files of STATIC: a reader thread or another test of this process opens other files at any time. */
const openStaticFiles = () =>
  readdirSync('/proc/self/fd').filter((descriptor) => linkOf(descriptor).includes('swagger-ui-bundle')).length

t.test('queued responses are released when their connection closes', async (t) => {
  await t.test('open files', { skip: noDescriptors }, async (t) => {
    t.ok(Number(await disconnectEarly(STATIC.repeat(MAX_PENDING), openStaticFiles)) > 0, 'pending responses hold files')
    for (let round = 0; round < 5; round += 1) await disconnectEarly(STATIC.repeat(MAX_PENDING))
    for (let round = 0; round < 20; round += 1) await exchange(get('/health', 'Expect: more') + STATIC)
    for (let tries = 0; openStaticFiles() > 0 && tries < 100; tries += 1) await wait(20)
    t.equal(openStaticFiles(), 0)
  })

  await t.test('files that are opened after the client has disconnected', { skip: noDescriptors }, async (t) => {
    for (let round = 0; round < 60; round += 1) {
      const socket = connect({ host: '127.0.0.1', port })
      socket.write(STATIC.repeat(MAX_PENDING), () => setTimeout(() => socket.destroy(), round % 6))
      await new Promise((resolve) => socket.once('close', resolve))
    }
    for (let tries = 0; openStaticFiles() > 0 && tries < 100; tries += 1) await wait(20)
    t.equal(openStaticFiles(), 0)
  })

  await t.test('reader threads of exports', async (t) => {
    const sorted = `/admin/tables/${id}/export?order=n`
    await disconnectEarly(`${get(`/admin/tables/${id}/export`)}${get(sorted).repeat(2)}`)
    let response = await admin.get(sorted)
    for (let tries = 0; response.statusCode === 503 && tries < 50; tries += 1) {
      await wait(20)
      response = await admin.get(sorted)
    }
    t.equal(response.statusCode, 200)
  })
})

t.test('a request that got its response before its body was complete gets no second response', async (t) => {
  const early = `POST /admin/tables HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
  const { head, body } = await send(`${early}3\r\n"x"\r\nno chunk\r\n`)
  t.strictSame(statuses(head + body), [401])
})
