import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { isFailure, PASSWORD } from '../helpers.ts'
import { scaled } from '../scale.ts'
import { startService, withPreload } from '../service-process.ts'
import { createClient, type Reply } from './http-client.ts'

const ROUNDS = scaled(10)
/** More writes than may wait (4,096), on connections that each send as many without an answer as they may. */
const SOCKETS = 640
const WRITES_PER_SOCKET = 8
const TRY_MS = 20

/** From one SIGWINCH to the next, every turn of the event loop is late: something holds its thread, at no cost to others. */
const LATE_TURNS = `
  import { isMainThread } from 'node:worker_threads'
  const nothing = new Int32Array(new SharedArrayBuffer(4))
  let isLate = false
  const turn = () => {
    if (!isLate) return
    Atomics.wait(nothing, 0, 0, 1200)
    setImmediate(turn)
  }
  if (isMainThread) process.on('SIGWINCH', () => { isLate = !isLate; turn() })`

const service = await startService(t, withPreload(LATE_TURNS))
const { host, port } = service
const client = createClient(t, service, 512)
const cookie = await client.logIn('admin', PASSWORD)
const asAdmin = { headers: cookie, method: 'POST' }
const fields = [{ name: 'name', jsonType: 'string' }]
await client.dataOf({ ...asAdmin, path: '/admin/tables', body: { name: 'cats', label: '', fields } })
const permissions = { tables: ['*'], actions: ['read', 'write'] }
const { token } = await client.dataOf({ ...asAdmin, path: '/admin/tokens', body: { name: 'a', permissions } })
const headers = { authorization: `Bearer ${token}` }

const writing = { method: 'POST', path: '/data/cats/records', headers, body: { name: 'Tom' } }
const health = () => client.send({ path: '/health' })

const text = JSON.stringify(writing.body)
const write = [
  'POST /data/cats/records HTTP/1.1',
  'Host: localhost',
  `Authorization: Bearer ${token}`,
  'Content-Type: application/json',
  `Content-Length: ${text.length}`,
  '',
  text
].join('\r\n')

const isOverload = ({ status, headers, body }: Reply) =>
  status === 503 &&
  /^\d+$/.test(headers['retry-after'] ?? '') &&
  isFailure(JSON.parse(body)) &&
  /"OVERLOADED"/.test(body)

/** As many times as it takes: for a moment after too much work, the event loop still counts as late. */
const countRecords = async () => {
  for (;;) {
    const reply = await client.send({ path: '/data/cats?size=1', headers })
    if (reply.status === 200) return JSON.parse(reply.body).data.total
    if (!isOverload(reply)) throw new Error(`${reply.status} ${reply.body}`)
    await wait(TRY_MS)
  }
}

/** Sends writes at once down one connection. Gives the heads of the answers. */
const pipeline = async () => {
  const socket = connect({ host, port })
  socket.setEncoding('latin1')
  const closing = once(socket, 'close')
  let received = ''
  socket.on('data', (chunk: string) => {
    received += chunk
  })
  socket.write(write.repeat(WRITES_PER_SOCKET - 1))
  socket.write(write.replace('\r\n', '\r\nConnection: close\r\n'))
  await closing
  return received.split(/(?=HTTP\/1\.1 \d)/).map((answer) => answer.split('\r\n\r\n')[0] ?? '')
}

/** Tries again and again, whether or not earlier tries were answered, until one is refused for there being too many. */
const untilRefused = async () => {
  const tries: Promise<Reply>[] = []
  const refusal = await new Promise<Reply>((resolve, reject) => {
    const timer = setInterval(() => {
      const reply = client.send(writing)
      tries.push(reply)
      reply.then((answer) => {
        if (!isOverload(answer)) return
        clearInterval(timer)
        resolve(answer)
      }, reject)
    }, TRY_MS)
  })
  return { refusal, tries }
}

const holdLock = () => {
  const other = new BetterSqlite3(join(service.dataDir, 'rowhouse.db'))
  other.exec('BEGIN IMMEDIATE')
  return () => other.close()
}

const count = (heads: readonly string[], pattern: RegExp) => heads.filter((head) => pattern.test(head)).length

/** Fills the queue while another program holds the lock. */
const overfill = async () => {
  const release = holdLock()
  const flood = Array.from({ length: SOCKETS }, pipeline)
  const { refusal, tries } = await untilRefused()
  const alive = await health()
  release()
  const heads = (await Promise.all(flood)).flat()
  const succeeded = (await Promise.all(tries)).filter(({ status }) => status === 200).length
  return { refusal, alive, heads, acknowledged: succeeded + count(heads, /^HTTP\/1\.1 200 /) }
}

t.test('more writes than can wait are refused, those that were taken are carried out, and it is alive', async (t) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await countRecords()
    const { refusal, alive, heads, acknowledged } = await overfill()
    const refused = heads.filter((head) => head.startsWith('HTTP/1.1 503 '))
    t.comment(`of ${heads.length} writes at once ${refused.length} were refused; ${acknowledged} were acknowledged`)
    t.ok(isOverload(refusal), refusal.body)
    t.equal(alive.status, 200)
    t.equal(heads.length, SOCKETS * WRITES_PER_SOCKET, 'each has an answer')
    t.equal(count(heads, /^HTTP\/1\.1 (?:200|503) /), heads.length)
    t.ok(refused.length > 0, 'there were too many')
    t.equal(count(refused, /^retry-after: \d+$/m), refused.length, 'who is refused hears when to try again')
    t.equal(await countRecords(), before + acknowledged, 'there is what was acknowledged, and nothing else')
  }
})

/** Asks for a record and for its health, both at once, until the first answer is such. */
const until = async (isSuch: (reply: Reply) => boolean) => {
  for (let tries = 1; ; tries += 1) {
    const [reply, alive] = await Promise.all([client.send({ path: '/data/cats/records/1', headers }), health()])
    if (isSuch(reply)) return { reply, alive, tries }
  }
}

t.test('while the event loop is late, requests are refused, and health answers', async (t) => {
  service.child.kill('SIGWINCH')
  const { reply, alive, tries } = await until(({ status }) => status !== 200)
  service.child.kill('SIGWINCH')
  t.comment(`refused at try ${tries}`)
  t.ok(isOverload(reply), reply.body)
  t.equal(alive.status, 200)
  t.equal((await until(({ status }) => status !== 503)).reply.status, 200, 'it recovers')
})
