import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { PASSWORD } from '../fixtures.ts'
import { scaled } from '../scale.ts'
import { startService, withPreload } from '../service-process.ts'
import { isFailure } from '../validators.ts'
import { createClient, type HttpResponse } from './http-client.ts'

const ROUNDS = scaled(10)
/** Together more writes than the queue takes (4,096). Each connection sends the maximum of pipelined requests. */
const SOCKETS = 640
const WRITES_PER_SOCKET = 8
const RETRY_MS = 20

/** Between two SIGWINCH signals, each tick of the event loop is late: the thread sleeps, which costs no CPU time. */
const LATE_TICKS = `
  import { isMainThread } from 'node:worker_threads'
  const neverChanged = new Int32Array(new SharedArrayBuffer(4))
  let isLate = false
  const tick = () => {
    if (!isLate) return
    Atomics.wait(neverChanged, 0, 0, 1200)
    setImmediate(tick)
  }
  if (isMainThread) process.on('SIGWINCH', () => { isLate = !isLate; tick() })`

const service = await startService(t, withPreload(LATE_TICKS))
const { host, port } = service
const client = createClient(t, service, 512)
const cookie = await client.logIn('admin', PASSWORD)
const asAdmin = { headers: cookie, method: 'POST' }
const fields = [{ name: 'name', jsonType: 'string' }]
await client.dataOf({ ...asAdmin, path: '/admin/tables', body: { name: 'cats', label: '', fields } })
const permissions = { tables: ['*'], actions: ['read', 'write'] }
const { token } = await client.dataOf({ ...asAdmin, path: '/admin/tokens', body: { name: 'a', permissions } })
const headers = { authorization: `Bearer ${token}` }

const createRecord = { method: 'POST', path: '/data/cats/records', headers, body: { name: 'Tom' } }
const health = () => client.send({ path: '/health' })

const text = JSON.stringify(createRecord.body)
const pipelinedRequest = [
  'POST /data/cats/records HTTP/1.1',
  'Host: localhost',
  `Authorization: Bearer ${token}`,
  'Content-Type: application/json',
  `Content-Length: ${text.length}`,
  '',
  text
].join('\r\n')

const isOverload = ({ status, headers, body }: HttpResponse) =>
  status === 503 &&
  /^\d+$/.test(headers['retry-after'] ?? '') &&
  isFailure(JSON.parse(body)) &&
  /"OVERLOADED"/.test(body)

/** Retries: for a moment after an overload, the event loop still counts as late. */
const countRecords = async () => {
  for (;;) {
    const response = await client.send({ path: '/data/cats?size=1', headers })
    if (response.status === 200) return JSON.parse(response.body).data.total
    if (!isOverload(response)) throw new Error(`${response.status} ${response.body}`)
    await wait(RETRY_MS)
  }
}

/** Sends pipelined writes over one connection. Returns the heads of the responses. */
const pipeline = async () => {
  const socket = connect({ host, port })
  socket.setEncoding('latin1')
  const closing = once(socket, 'close')
  let received = ''
  socket.on('data', (chunk: string) => {
    received += chunk
  })
  socket.write(pipelinedRequest.repeat(WRITES_PER_SOCKET - 1))
  socket.write(pipelinedRequest.replace('\r\n', '\r\nConnection: close\r\n'))
  await closing
  return received.split(/(?=HTTP\/1\.1 \d)/).map((response) => response.split('\r\n\r\n')[0] ?? '')
}

/** Sends writes at intervals, without waiting for earlier ones, until one fails with OVERLOADED. */
const sendUntilOverload = async () => {
  const tries: Promise<HttpResponse>[] = []
  const overload = await new Promise<HttpResponse>((resolve, reject) => {
    const timer = setInterval(() => {
      const sent = client.send(createRecord)
      tries.push(sent)
      sent.then((response) => {
        if (!isOverload(response)) return
        clearInterval(timer)
        resolve(response)
      }, reject)
    }, RETRY_MS)
  })
  return { overload, tries }
}

const holdLock = () => {
  const other = new BetterSqlite3(join(service.dataDir, 'rowhouse.db'))
  other.exec('BEGIN IMMEDIATE')
  return () => other.close()
}

const count = (heads: readonly string[], pattern: RegExp) => heads.filter((head) => pattern.test(head)).length

/** Sends more writes than the queue takes, while another program holds the lock. */
const overfillQueue = async () => {
  const release = holdLock()
  const flood = Array.from({ length: SOCKETS }, pipeline)
  const { overload, tries } = await sendUntilOverload()
  const alive = await health()
  release()
  const heads = (await Promise.all(flood)).flat()
  const succeeded = (await Promise.all(tries)).filter(({ status }) => status === 200).length
  return { overload, alive, heads, acknowledged: succeeded + count(heads, /^HTTP\/1\.1 200 /) }
}

t.test(
  'writes that do not fit into the queue fail with 503, queued writes are carried out, and the service is healthy',
  async (t) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = await countRecords()
      const { overload, alive, heads, acknowledged } = await overfillQueue()
      const rejected = heads.filter((head) => head.startsWith('HTTP/1.1 503 '))
      t.comment(
        `of ${heads.length} concurrent writes ${rejected.length} were rejected; ${acknowledged} were acknowledged`
      )
      t.ok(isOverload(overload), overload.body)
      t.equal(alive.status, 200)
      t.equal(heads.length, SOCKETS * WRITES_PER_SOCKET, 'each write has a response')
      t.equal(count(heads, /^HTTP\/1\.1 (?:200|503) /), heads.length)
      t.ok(rejected.length > 0, 'the queue was full')
      t.equal(count(rejected, /^retry-after: \d+$/m), rejected.length, 'each failure has a Retry-After header')
      t.equal(await countRecords(), before + acknowledged, 'the acknowledged records are stored, and nothing else')
    }
  }
)

/** Repeats a read and, concurrently, a health check until the response of the read meets the condition. */
const readUntil = async (isMet: (response: HttpResponse) => boolean) => {
  for (let tries = 1; ; tries += 1) {
    const [response, alive] = await Promise.all([client.send({ path: '/data/cats/records/1', headers }), health()])
    if (isMet(response)) return { response, alive, tries }
  }
}

t.test('while the event loop is late, requests fail with 503 and the health check succeeds', async (t) => {
  service.child.kill('SIGWINCH')
  const { response, alive, tries } = await readUntil(({ status }) => status !== 200)
  service.child.kill('SIGWINCH')
  t.comment(`rejected at try ${tries}`)
  t.ok(isOverload(response), response.body)
  t.equal(alive.status, 200)
  t.equal((await readUntil(({ status }) => status !== 503)).response.status, 200, 'the service recovers')
})
