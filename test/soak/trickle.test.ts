import { connect } from 'node:net'
import t from 'tap'
import { isFailure, PASSWORD } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { startService, withPreload } from '../service-process.ts'
import { createClient } from './http-client.ts'
import { residentMib } from './memory.ts'

const SOCKETS = scaled(2000)
const TRICKLE_MS = 200
/** Somebody else's requests meanwhile, one at a time each. */
const ORDINARY = 4
/** 50 KiB a connection, and what the same memory differs by from one second to the next. */
const MOST_GROWTH_MIB = 50 + SOCKETS / 20
/** Before memory is looked at for the first time: a service grows by 50 MiB and more in its first work, trickle or not. */
const WARM_UP_MS = scaled(10_000)

/** A minute is too long for a short run: there, the service gives less time. The long run waits for what is set. */
const SHORTER = `
  import { Server } from 'node:http'
  import net from 'node:net'
  Server.prototype.listen = function (...rest) {
    Object.assign(this, { headersTimeout: 2000, requestTimeout: 2500, connectionsCheckingInterval: 200 })
    return net.Server.prototype.listen.apply(this, rest)
  }`
const isShort = scaled(10) < 10

const service = await startService(t, isShort ? withPreload(SHORTER) : {})
const client = createClient(t, service, ORDINARY)
const headers = await client.logIn('admin', PASSWORD)
const asAdmin = { headers, method: 'POST' }
const fields = [{ name: 'name', jsonType: 'string' }]
const { id } = await client.dataOf({ ...asAdmin, path: '/admin/tables', body: { name: 'cats', label: '', fields } })
const records = `/admin/tables/${id}/data`

/** Spaces behind the record, more than anybody waits for. */
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
/** What is sent at once, what follows byte by byte, and all that is missing then. */
const HEADERS = { first: 'GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: ', byte: 'x', rest: '\r\n\r\n' }
const BODY = { first: `${headOfBody}${record}`, byte: ' ', rest: ' '.repeat(MISSING) }

interface End {
  readonly text: string
  readonly milliseconds: number
}

/** A request that trickles in, and is sent to its end as soon as it is refused, by a client that closes nothing. */
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

/** Reads and writes until told to stop. Gives how long each took; each has to succeed. */
const workBeside = async (isOver: () => boolean) => {
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

t.test('requests that trickle in are answered with 408 and closed, and harm nobody', async (t) => {
  t.setTimeout(120_000)
  let isOver = false
  const beside = Array.from({ length: ORDINARY }, () => workBeside(() => isOver))
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS))
  const before = residentMib(service)
  const trickling = Array.from({ length: SOCKETS }, (_, index) => trickle(index % 2 === 0 ? HEADERS : BODY))
  const ended = await Promise.all(trickling)
  const growth = residentMib(service) - before
  isOver = true
  const times = (await Promise.all(beside)).flat().sort((a, b) => a - b)

  const late = Math.max(...ended.map(({ milliseconds }) => milliseconds))
  const early = Math.min(...ended.map(({ milliseconds }) => milliseconds))
  t.comment(`${SOCKETS} sockets ended after ${(early / 1000).toFixed(1)} to ${(late / 1000).toFixed(1)} s`)
  t.comment(
    `${times.length} writes and reads beside: median ${times[times.length >> 1]?.toFixed(1)} ms, longest ${times.at(-1)?.toFixed(1)} ms`
  )
  t.comment(`memory grew by ${growth.toFixed(0)} MiB`)
  t.strictSame(
    ended.filter(({ text }) => !is408(text)).map(({ text }) => text),
    [],
    'each was answered with 408'
  )
  t.ok(growth < MOST_GROWTH_MIB, `${growth} MiB`)
  const { rows } = await client.dataOf({ path: `${records}?q=late`, headers })
  t.strictSame(rows, [], 'what was refused as late was not carried out')
})
