import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { createGunzip, gunzipSync } from 'node:zlib'
import t from 'tap'
import { asAdmin, asToken, createDatabase, dataOf, expectError, importTable, startApp } from '../helpers.ts'

const READ = { tables: ['*'], actions: ['read' as const] }
const ROWS = 20_000

const file = createDatabase(
  t,
  `CREATE TABLE large (id INTEGER PRIMARY KEY, s TEXT, secret TEXT);
   WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
     INSERT INTO large SELECT i, hex(randomblob(500)), 'x' FROM n;
   CREATE TABLE few (id INTEGER PRIMARY KEY, s TEXT);
   INSERT INTO few VALUES (1, 'é'), (2, NULL);`
)
const app = await startApp(t, { env: { DATABASE: file, CORS_ORIGIN: 'https://app.example.org' } })
const admin = await asAdmin(app)
const large = await importTable(admin, 'large')
await importTable(admin, 'few')
const token = await asToken(app, admin, READ)
const address = await app.listen({ host: '127.0.0.1', port: 0 })

const request = (url: string, accepted?: string, method: 'GET' | 'HEAD' = 'GET') =>
  app.inject({ method, url, headers: { ...token.headers, ...(accepted && { 'accept-encoding': accepted }) } })

t.test('an export is compressed for a client that takes gzip', async (t) => {
  for (const query of [
    '',
    '?format=ndjson',
    '?order=-s',
    '?order=s&format=ndjson',
    '?size=5',
    '?q=nothing&format=ndjson'
  ]) {
    for (const table of ['large', 'few']) {
      const url = `/data/${table}/export${query}`
      const [plain, compressed] = [await request(url), await request(url, 'gzip')]
      t.equal(plain.headers['content-encoding'], undefined)
      t.match(compressed.headers, {
        'content-encoding': 'gzip',
        vary: 'Authorization, Cookie, Origin, Accept-Encoding'
      })
      for (const header of ['content-type', 'vary']) t.equal(compressed.headers[header], plain.headers[header])
      t.ok(plain.rawPayload.equals(gunzipSync(compressed.rawPayload)), url)
    }
  }
})

t.test('the client decides', async (t) => {
  const codingOf = async (accepted?: string) => {
    const { headers, statusCode } = await request('/data/few/export', accepted)
    t.equal(statusCode, 200)
    t.match(headers.vary, /Accept-Encoding/)
    return headers['content-encoding']
  }
  for (const accepted of [
    'gzip',
    'GZIP',
    'br, gzip',
    'deflate , gzip;q=0.001',
    'gzip; Q=1',
    'br;q=0, gzip ;q=0.5, *;q=0'
  ])
    t.equal(await codingOf(accepted), 'gzip', accepted)
  for (const accepted of [
    undefined,
    'identity',
    'br',
    '*',
    'gzip;q=0',
    'gzip; q=0.000, *',
    'gzip;Q=0.',
    'xgzip',
    ';gzip',
    ','
  ])
    t.equal(await codingOf(accepted), undefined, accepted ?? 'absent')
})

t.test('HEAD and errors are not compressed', async (t) => {
  const head = await request('/data/large/export?order=s', 'gzip', 'HEAD')
  t.equal(head.statusCode, 200)
  t.equal(head.body, '')
  t.equal(head.headers['content-encoding'], undefined)
  const refused = await request('/data/large/export?order=nothing', 'gzip')
  expectError(t, refused, 400, 'VALIDATION_FAILED')
  t.equal(refused.headers['content-encoding'], undefined)
})

/** Starts an export for a client that reads only the head of the response. */
const start = async (query: string) => {
  const headers = { ...token.headers, 'accept-encoding': 'gzip' }
  const [response] = await once(get(`${address}/data/large/export${query}`, { headers }), 'response')
  t.equal(response.headers['content-encoding'], 'gzip')
  return response as IncomingMessage
}

/** Returns the number of lines, or null if the response is incomplete. */
const countLines = async (response: IncomingMessage) => {
  let count = 0
  const file = createGunzip()
  response.on('error', (error) => file.destroy(error)).pipe(file)
  try {
    for await (const chunk of file) count += String(chunk).split('\n').length - 1
  } catch {
    return null
  }
  return count
}

t.test('a compressed export that fails is incomplete', async (t) => {
  const hide = (isHidden: boolean) => admin.put(`/admin/tables/${large.id}`, { fields: [{ name: 'secret', isHidden }] })
  for (const query of ['?format=ndjson', '?order=-s&format=ndjson']) {
    t.equal(await countLines(await start(query)), ROWS, `complete: ${query}`)
    const changed = await start(query)
    dataOf(await hide(true))
    t.equal(await countLines(changed), null, `incomplete: ${query}`)
    dataOf(await hide(false))
  }
})

t.test('a compressed export waits for its client, and ends with it', async (t) => {
  const sorted = async () => (await token.get('/data/large/export?order=s')).statusCode
  const stalled = await start('?order=-s')
  for (let attempt = 0; attempt < 20; attempt += 1) t.equal(await sorted(), 503, 'its reader is in use')
  stalled.destroy()
  while ((await sorted()) === 503) await setImmediate()
  t.equal(await sorted(), 200)
})
