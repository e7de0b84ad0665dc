import { connect } from 'node:net'
import t from 'tap'
import { PASSWORD } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService, withPreload } from '../service-process.ts'
import { isFailure } from '../validators.ts'
import { createClient } from './http-client.ts'
import { residentMib } from './memory.ts'

const SOCKETS = scaled(2000)
const TRICKLE_MS = 200
/** Number of ordinary clients during the test. Each sends one request at a time. */
const ORDINARY = 4
/** 50 KiB per connection, plus 50 MiB of normal variation. */
const MAX_GROWTH_MIB = 50 + SOCKETS / 20
/** Time before the first measurement of memory: any service grows by 50 MiB and more during its first requests. */
const WARM_UP_MS = Math.max(1000, scaled(10_000))

/** Shorter limits of the HTTP server for a short run. A long run uses the real limits, which are a minute. */
const SHORT_LIMITS = `
  import { Server } from 'node:http'
  import net from 'node:net'
  Server.prototype.listen = function (...rest) {
    Object.assign(this, { headersTimeout: 2000, requestTimeout: 2500, connectionsCheckingInterval: 200 })
    return net.Server.prototype.listen.apply(this, rest)
  }`
const isShort = scaled(10) < 10

const service = await startService(t, isShort ? withPreload(SHORT_LIMITS) : {})
const client = createClient(t, service, ORDINARY)
const headers = await client.logIn('admin', PASSWORD)
const asAdmin = { headers, method: 'POST' }
const fields = [{ name: 'name', jsonType: 'string' }]
const { id } = await client.dataOf({ ...asAdmin, path: '/admin/tables', body: { name: 'cats', label: '', fields } })
const records = `/admin/tables/${id}/data`

/** Number of spaces after the record: more than arrive before the time limit. */
const MISSING = 10_000
const record = JSON.stringify({ name: 'late' })
const headOfBody = [
  `POST ${records} HTTP/1.1`,
  'Host: localhost',
  `Cookie: ${headers.cookie}`,
  'Content-Type: application/json',
  `Content-Length: ${record.length + MISSING}`,
  '',
  ''
].join('\r\n')
/** The part that is sent at the start, the byte that is sent repeatedly, and the rest of the request. */
const HEADERS = { first: 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: ', byte: 'x', rest: '\r\n\r\n' }
const BODY = { first: `${headOfBody}${record}`, byte: ' ', rest: ' '.repeat(MISSING) }

interface End {
  readonly text: string
  readonly milliseconds: number
}

/** Sends a request byte by byte, and its rest when the response arrives. The client does not close the connection. */
const trickle = ({ first, byte, rest }: typeof BODY) => {
  const start = performance.now()
  const socket = connect({ host: service.host, port: service.port, allowHalfOpen: true })
  socket.write(first)
  const timer = setInterval(() => socket.write(byte), TRICKLE_MS)
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    text += chunk
    socket.write(rest)
  })
  socket.on('error', () => socket.destroy())
  return new Promise<End>((resolve) => {
    socket.on('close', () => {
      clearInterval(timer)
      resolve({ text, milliseconds: performance.now() - start })
    })
  })
}

/** Writes and reads until `isOver`. Returns the time of each write and read. @throws when one fails */
const sendOrdinary = async (isOver: () => boolean) => {
  const times: number[] = []
  while (!isOver()) {
    const start = performance.now()
    await client.dataOf({ ...asAdmin, path: records, body: { name: 'ordinary' } })
    await client.dataOf({ path: `${records}/1`, headers })
    times.push(performance.now() - start)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return times
}

const is408 = (text: string) => {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  return head.startsWith('HTTP/1.1 408 ') && /^connection: close$/m.test(head) && isFailure(JSON.parse(body))
}

t.test('requests that arrive byte by byte get a 408 and are closed, and do not affect other clients', async (t) => {
  t.setTimeout(120_000)
  let isOver = false
  const ordinary = Array.from({ length: ORDINARY }, () => sendOrdinary(() => isOver))
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS))
  const before = residentMib(service)
  const trickling = Array.from({ length: SOCKETS }, (_, index) => trickle(index % 2 === 0 ? HEADERS : BODY))
  const ended = await Promise.all(trickling)
  const growth = residentMib(service) - before
  isOver = true
  const times = (await Promise.all(ordinary)).flat().sort((a, b) => a - b)

  const late = Math.max(...ended.map(({ milliseconds }) => milliseconds))
  const early = Math.min(...ended.map(({ milliseconds }) => milliseconds))
  t.comment(`${SOCKETS} sockets ended after ${(early / 1000).toFixed(1)} to ${(late / 1000).toFixed(1)} s`)
  t.comment(
    `${times.length} ordinary writes and reads: median ${times[times.length >> 1]?.toFixed(1)} ms, longest ${times.at(-1)?.toFixed(1)} ms`
  )
  t.comment(`memory grew by ${growth.toFixed(0)} MiB`)
  t.strictSame(
    ended.filter(({ text }) => !is408(text)).map(({ text }) => text),
    [],
    'each request gets a 408'
  )
  t.ok(growth < MAX_GROWTH_MIB, `${growth} MiB`)
  const { rows } = await client.dataOf({ path: `${records}?q=late`, headers })
  t.strictSame(rows, [], 'requests that got a 408 were not carried out')
})
