import t, { type Test } from 'tap'
import { findRqlited } from '../../bench/nodes.ts'
import { startFakeRqlite } from './fake.ts'
import { startNodes } from './real-nodes.ts'
import { CASES, type Case, CREATE, RETURNING_CASES } from './shared-cases.ts'

const rqlited = findRqlited()

const startReal = async (t: Test, path: string) => {
  const [node] = await startNodes(t, path, 1)
  return String(node?.url)
}

/** Sends a request, and returns the status and the body. */
const send = async (url: string, { path, body, method = 'POST' }: Pick<Case, 'path' | 'body' | 'method'>) => {
  const headers = { 'content-type': 'application/json' }
  const init =
    method === 'POST' ? { method, headers, body: typeof body === 'string' ? body : JSON.stringify(body) } : { method }
  const response = await fetch(`${url}${path}`, init)
  return { status: response.status, body: unescapeHtml((await response.text()).trimEnd()) }
}

const execute = (url: string, ...body: readonly unknown[]) => send(url, { path: '/db/execute', body })
const query = (url: string, ...body: readonly unknown[]) => send(url, { path: '/db/query', body })

/** Go escapes these characters in JSON. */
const unescapeHtml = (json: string) =>
  json.replaceAll('\\u003c', '<').replaceAll('\\u003e', '>').replaceAll('\\u0026', '&')

const readJson = async (url: string) => (await (await fetch(url)).json()) as Record<string, unknown>

/** All cases run in one database, in their order. */
const runCases = async (t: Test, url: string) => {
  await execute(url, ...CREATE)
  for (const one of CASES) {
    const { status, body } = await send(url, one)
    t.equal(status, one.status ?? 200, one.name)
    t.equal(body, typeof one.expected === 'string' ? one.expected : JSON.stringify(one.expected), one.name)
  }
  for (const [sql, isFound] of RETURNING_CASES) {
    const { body } = await send(url, { path: '/db/execute', body: [sql] })
    t.equal(body.includes('"columns"'), isFound, sql)
    t.notOk(body.includes('"error"'), `${sql}: ${body}`)
  }
}

t.test('the fake responds as rqlite', async (t) => {
  const { url } = await startFakeRqlite(t, { isCompared: false })
  await runCases(t, url)
})

if (rqlited) {
  t.test('rqlite responds as the cases expect', async (t) => {
    const url = await startReal(t, rqlited)
    await runCases(t, url)
  })
} else {
  t.comment('SKIPPED: the cases did not run on a real rqlite. Set RQLITED to the path of rqlited.')
}

t.test('status, leader, nodes and readiness have the fields that Rowhouse reads', async (t) => {
  const urls = [(await startFakeRqlite(t)).url, ...(rqlited ? [await startReal(t, rqlited)] : [])]
  for (const url of urls) {
    const status = await readJson(`${url}/status`)
    t.match(status, { build: { version: /10/ }, store: { sqlite3: { version: /^3\.53\./ } } })
    t.match(await readJson(`${url}/leader?timeout=150ms`), { api_addr: url })
    const { nodes } = await readJson(`${url}/nodes?ver=2&timeout=1s`)
    t.match((nodes as readonly unknown[])[0], { api_addr: url })
    const ready = '[+]node ok\n[+]leader ok\n[+]store ok\n[+]sync ok\n[+]db ok'
    t.equal(await (await fetch(`${url}/readyz?sync`)).text(), ready)
  }
})

t.test('credentials are checked', async (t) => {
  const { url } = await startFakeRqlite(t, { credentials: { user: 'u', password: 'p' } })
  const authorization = `Basic ${Buffer.from('u:p').toString('base64')}`
  const refused = await fetch(`${url}/readyz`)
  t.equal(refused.status, 401)
  t.equal(refused.headers.get('www-authenticate'), 'Basic realm="rqlite"')
  t.equal(await refused.text(), '')
  t.equal((await fetch(`${url}/readyz`, { headers: { authorization } })).status, 200)
})

t.test('values that each node computes differ, and others do not', async (t) => {
  const fake = await startFakeRqlite(t, { interval: 1, isCompared: false })
  await execute(
    fake.url,
    'CREATE TABLE x (id INTEGER PRIMARY KEY, a)',
    "INSERT INTO x(a) VALUES (datetime(0, 'unixepoch'))"
  )
  t.strictSame(fake.compare(), [])
  for (const sql of [
    'random()',
    'CURRENT_TIMESTAMP',
    "datetime('now')",
    "strftime('%s')",
    'unixepoch()',
    'CURRENT_TIME'
  ]) {
    await execute(fake.url, 'DELETE FROM x', `INSERT INTO x(id, a) VALUES (1, ${sql})`)
    t.match(fake.compare(), [/^x: \(1, .+\) on node 1, \(1, .+\) on node 2$/], sql)
  }
})

t.test('an order that depends on the plan differs, as does the version of the schema', async (t) => {
  const fake = await startFakeRqlite(t, { interval: 1, isCompared: false })
  const copy = 'INSERT INTO y(a) SELECT a FROM x'
  await execute(
    fake.url,
    'CREATE TABLE x (a)',
    'CREATE TABLE y (id INTEGER PRIMARY KEY, a)',
    'INSERT INTO x VALUES (1), (2)'
  )
  await execute(fake.url, `${copy} ORDER BY a`)
  t.strictSame(fake.compare(), [])
  await execute(fake.url, copy)
  t.match(fake.compare(), [/^y: /])
  await execute(fake.url, 'DELETE FROM y', 'INSERT INTO y(id, a) SELECT 1, schema_version FROM pragma_schema_version')
  t.match(fake.compare(), [/^y: /])
})

t.test('another client writes beside', async (t) => {
  const fake = await startFakeRqlite(t)
  fake.execute('CREATE TABLE x (a); INSERT INTO x VALUES (1)')
  t.equal(
    (await query(fake.url, 'SELECT a FROM x')).body,
    '{"results":[{"columns":["a"],"types":["integer"],"values":[[1]]}]}'
  )
  t.strictSame(
    fake.read('SELECT a FROM x WHERE a = ?', 1).map(({ a }) => a),
    [1]
  )
})

t.test('faults concern the next request of their path', async (t) => {
  const fake = await startFakeRqlite(t)
  const count = () => fake.read('SELECT count(*) AS n FROM x')[0]?.n
  const insert = () => execute(fake.url, 'INSERT INTO x VALUES (1)')
  await execute(fake.url, 'CREATE TABLE x (a)')

  fake.faults.loseRequest()
  await t.rejects(insert())
  t.equal(count(), 0)
  fake.faults.loseResponse()
  t.equal((await query(fake.url, 'SELECT 1')).status, 200)
  await t.rejects(insert())
  t.equal(count(), 1)
  fake.faults.noLeader()
  t.strictSame(await insert(), { status: 503, body: 'leader not found' })
  t.equal(count(), 1)
  fake.faults.delay(1)
  t.equal((await insert()).status, 200)
  t.equal(count(), 2)

  const before = fake.faults.holdRequest()
  const first = insert()
  await before.arrived
  t.equal(count(), 2)
  before.release()
  t.equal((await first).status, 200)
  const after = fake.faults.holdResponse()
  const second = insert()
  await after.arrived
  t.equal(count(), 4)
  after.release()
  t.equal((await second).status, 200)
})

t.test('requests are logged', async (t) => {
  const fake = await startFakeRqlite(t)
  await send(fake.url, { path: '/db/query?transaction', body: [['SELECT ?, ?', 1, 1.5]] })
  await fetch(`${fake.url}/readyz`)
  t.strictSame(fake.requests, [
    { number: 1, path: '/db/query', search: '?transaction', statements: [{ sql: 'SELECT ?, ?', params: [1n, 1.5] }] },
    { number: 2, path: '/readyz', search: '', statements: [] }
  ])
})
