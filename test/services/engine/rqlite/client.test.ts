import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createRqliteClient } from '../../../../services/engine/rqlite/client.ts'
import { rejection, sql } from '../engine.ts'

type Respond = (request: IncomingMessage, response: ServerResponse) => unknown

/** Starts a node whose responses the test decides. */
const startNode = async (t: Test, respond: Respond) => {
  const server = createServer((request, response) => respond(request, response)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

const open = (t: Test, urls: readonly string[], maxRetryMs = 2000) => {
  const client = createRqliteClient({ urls, maxRetryMs })
  t.teardown(() => client.close())
  return client
}

const ONE = JSON.stringify({ results: [{ columns: ['one'], types: ['integer'], values: [[1]] }] })

const isQuery = ({ url }: IncomingMessage) => url?.startsWith('/db/query')

t.test('a leader that does not respond is left when another node leads', async (t) => {
  let leader = ''
  const hanging = await startNode(t, () => {})
  leader = await startNode(t, (request, response) =>
    response.end(isQuery(request) ? ONE : JSON.stringify({ api_addr: leader }))
  )
  const client = open(t, [hanging, leader])
  t.strictSame(await client.query([sql('SELECT 1')]), [[{ one: 1 }]])
  t.match(client.counts(), { node: leader, retries: 1 })
})

t.test('the leader is found if its address differs only in form', async (t) => {
  const hanging = await startNode(t, () => {})
  let leader = ''
  const node = await startNode(t, (request, response) =>
    response.end(isQuery(request) ? ONE : JSON.stringify({ api_addr: leader }))
  )
  leader = node.replace('127.0.0.1', 'localhost')
  const client = open(t, [hanging, `${leader.replace('localhost', 'LOCALHOST')}/`])
  t.strictSame(await client.query([sql('SELECT 1')]), [[{ one: 1 }]])
  t.match(client.counts(), { node: leader, retries: 1 })
  t.strictSame(open(t, ['http://Node1:80/', 'https://node2:443']).addresses, ['http://node1', 'https://node2'])
})

t.test('all requests leave a leader that does not respond', async (t) => {
  let leader = ''
  const hanging = await startNode(t, () => {})
  leader = await startNode(t, (request, response) =>
    response.end(isQuery(request) ? ONE : JSON.stringify({ api_addr: leader }))
  )
  const client = open(t, [hanging, leader])
  const start = performance.now()
  const requests = [0, 40, 80].map(async (milliseconds) => {
    await delay(milliseconds)
    return client.query([sql('SELECT 1')])
  })
  for (const response of await Promise.all(requests)) t.strictSame(response, [[{ one: 1 }]])
  t.ok(performance.now() - start < 1500, 'each request has noticed it by itself')
})

t.test('a slow leader is waited for', async (t) => {
  let leader = ''
  leader = await startNode(t, async (request, response) => {
    if (isQuery(request)) await delay(700)
    response.end(ONE)
  })
  const other = await startNode(t, (_request, response) => response.end(JSON.stringify({ api_addr: leader })))
  const client = open(t, [leader, other])
  await client.chooseNode()
  t.strictSame(await client.query([sql('SELECT 1')]), [[{ one: 1 }]])
  t.match(client.counts(), { node: leader, retries: 0 })
})

t.test('without a leader, another node is used, which passes requests on', async (t) => {
  const other = await startNode(t, (request, response) => {
    if (isQuery(request)) response.end(ONE)
    else response.writeHead(503).end('leader not found')
  })
  const client = open(t, ['http://127.0.0.1:9', other])
  t.strictSame(await client.query([sql('SELECT 1')]), [[{ one: 1 }]])
  t.match(client.counts(), { node: other, retries: 1 })
})

t.test('a response that is no result of SQLite', async (t) => {
  let responses: readonly [number, string][] = []
  const node = await startNode(t, (request, response) => {
    if (!isQuery(request)) return response.writeHead(503).end()
    const [status, body] = responses[0] as [number, string]
    responses = responses.slice(1)
    return response.writeHead(status).end(body)
  })
  const client = open(t, [node])
  const query = (...next: [number, string][]) => {
    responses = next
    return client.query([sql('SELECT 1')])
  }
  t.strictSame(
    await query([500, 'failed'], [503, 'leader not found'], [200, '{"error":"leadership lost"}'], [200, ONE]),
    [[{ one: 1 }]]
  )
  t.strictSame(await query([200, '{"error":"write tcp a->b: write: broken pipe"}'], [200, ONE]), [[{ one: 1 }]])
  t.match(await rejection(query([500, 'json: unsupported value: +Inf'])), { message: /unsupported value/ })
  t.match(await rejection(query([400, 'invalid request'])), {
    code: 'STORAGE_UNAVAILABLE',
    cause: { message: '400: invalid request' }
  })
  t.match(await rejection(query([401, ''])), { code: 'STORAGE_UNAVAILABLE', message: /refuses RQLITE_USER/ })
  t.match(await rejection(query([200, '{"error":"sql: transaction has already been committed or rolled back"}'])), {
    code: 'SCAN_TIMEOUT',
    message: /longer than 30 s/
  })
  t.match(await rejection(query([200, '{"results":[{"error":"no such table: t"}]}'])), { code: 'STRUCTURE_CHANGED' })
  t.strictSame(await query([200, '{}']), [])
})

t.test('a file of certificates that cannot be read', async (t) => {
  t.throws(() => createRqliteClient({ urls: ['https://127.0.0.1:9'], caFile: '/missing.pem' }), {
    message: /^RQLITE_CA names \/missing\.pem, which cannot be read/
  })
})
